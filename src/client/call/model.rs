use std::{fmt, sync::Arc};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, value::RawValue};

use crate::elicitation::{Request, Why};

/// How a call ended.
#[derive(Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CallEnd {
    /// The server gave its final result.
    Done(CallReport),
    /// A resolver put a question aside: a later run continues the call.
    Deferred(Box<PendingCall>),
}

/// The final result of a call.
#[derive(Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallReport {
    /// The result's own bytes.
    pub result: Box<RawValue>,
    /// Why questions during the call could not be answered; the server was told cancel.
    pub unanswered: Vec<Why>,
}

/// An `input_required` result, with everything that a later process needs to continue (2026-07-28, *mrtr*).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingCall {
    /// `tools/call`, `prompts/get` or `resources/read`.
    pub method: String,
    /// The params as first sent, without `_meta`, `inputResponses` and `requestState`.
    pub params: Value,
    /// `requestState` as the server sent it; `None` if it sent none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub request_state: Option<Value>,
    /// The server's questions, in its order.
    pub inputs: Vec<PendingInput>,
    /// The task that asks, if there is one; its answers go to `tasks/update`.
    pub task: Option<String>,
    /// The call's name in the process that keeps its server, if it waits there (legacy).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

/// Gets a deferred call with all its answers before they are sent. If it refuses, nothing is sent.
pub type BeforeSending<'a> = &'a (dyn Fn(PendingCall) -> BoxFuture<'static, bool> + Send + Sync);

/// Gets the task as soon as a call has become one: what a later run needs to continue it.
#[derive(Clone)]
pub struct TaskSink(Arc<dyn Fn(&PendingCall) + Send + Sync>);

impl TaskSink {
    /// Calls `sink`, which must not block for long.
    pub fn new(sink: impl Fn(&PendingCall) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Passes on `call`.
    pub fn tell(&self, call: &PendingCall) {
        (self.0)(call);
    }
}

impl fmt::Debug for TaskSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskSink")
    }
}

/// One entry of `inputRequests`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingInput {
    /// The server's key for it.
    pub key: String,
    /// The request object `{method, params}`.
    pub input: Map<String, Value>,
    /// The question that the resolver got; `None` for `roots/list`.
    pub request: Option<Request>,
    /// The answer, if there is one: the result object for `inputResponses`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub response: Option<Value>,
}

/// A value that is present, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
