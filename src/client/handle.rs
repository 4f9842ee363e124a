use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::{CallEnd, ClientError, ClientOptions, PendingCall, ServerInfo};
use crate::{config::ServerConfig, elicitation::CallName, protocol::Tool, transport::TransportError};

/// A `tools/call` to make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// The arguments object.
    pub arguments: Map<String, Value>,
    /// Its entry of `tools/list`, where it is known: says whether a lost call may be repeated, whether it wants to be a
    /// task, and which arguments are mirrored in HTTP headers.
    pub tool: Option<Tool>,
    /// How long the call may be silent; else what the configuration says.
    pub timeout: Option<Duration>,
}

/// The client of one server.
pub struct Client {
    info: Arc<ServerInfo>,
}

impl Client {
    /// Starts or reaches the server, finds out how it speaks, and opens the conversation.
    ///
    /// # Errors
    /// When the server cannot be started or reached, speaks no revision in common, takes longer than `times.start`, or
    /// `stop` fires.
    pub async fn connect(
        _config: ServerConfig,
        _options: ClientOptions,
        _stop: &CancellationToken,
    ) -> Result<Self, ClientError> {
        std::future::ready(Err(ClientError::Connect(TransportError::NoAnswer("no transport is there".into())))).await
    }

    /// What the server says of itself.
    pub fn info(&self) -> Arc<ServerInfo> {
        Arc::clone(&self.info)
    }

    /// All of `tools/list`, page by page. An entry without a name is left out with a notice.
    ///
    /// # Errors
    /// When a page cannot be had.
    pub async fn list_tools(&self, stop: &CancellationToken) -> Result<Vec<Tool>, ClientError> {
        Ok(self.list("tools/list", "tools", stop).await?.into_iter().filter_map(Tool::from_value).collect())
    }

    /// All entries of a listing: `prompts/list` with the key `prompts`, and so on, page by page.
    ///
    /// # Errors
    /// When a page cannot be had.
    pub async fn list(&self, method: &str, _key: &str, _stop: &CancellationToken) -> Result<Vec<Value>, ClientError> {
        std::future::ready(Err(ClientError::Interrupted { method: method.to_owned() })).await
    }

    /// Calls a tool, with everything that may happen on the way: questions, rounds, links, tasks.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn call_tool(&self, _call: ToolCall, _stop: &CancellationToken) -> Result<CallEnd, ClientError> {
        std::future::ready(Err(ClientError::Interrupted { method: "tools/call".to_owned() })).await
    }

    /// `prompts/get` or `resources/read`, with everything that may happen on the way. `name` is the prompt or resource.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn call(
        &self,
        method: &str,
        _params: Map<String, Value>,
        _name: CallName,
        _stop: &CancellationToken,
    ) -> Result<CallEnd, ClientError> {
        std::future::ready(Err(ClientError::Interrupted { method: method.to_owned() })).await
    }

    /// Goes on with a call that was put aside in an earlier run. Entries of `inputs` that have a response are not asked
    /// again.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn resume(&self, pending: PendingCall, _stop: &CancellationToken) -> Result<CallEnd, ClientError> {
        std::future::ready(Err(ClientError::Interrupted { method: pending.method })).await
    }

    /// Any other request, within the time of a listing: its result's own bytes.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn request(
        &self,
        method: &str,
        _params: Option<Map<String, Value>>,
        _stop: &CancellationToken,
    ) -> Result<Box<RawValue>, ClientError> {
        std::future::ready(Err(ClientError::Interrupted { method: method.to_owned() })).await
    }

    /// Listens for changes until `stop` fires or the server ends it: `subscriptions/listen` with this filter (2026-07-28,
    /// *Subscriptions*), or `resources/subscribe` for each of its `resourceSubscriptions` on a legacy server. What
    /// changes comes as notices.
    ///
    /// # Errors
    /// When the server refuses or the connection is lost.
    pub async fn listen(&self, _filter: Map<String, Value>, _stop: &CancellationToken) -> Result<(), ClientError> {
        std::future::ready(Err(ClientError::Interrupted { method: "subscriptions/listen".to_owned() })).await
    }

    /// Ends the connection: open questions are answered cancel, and the server is given its grace.
    pub async fn close(&self) {
        std::future::ready(()).await;
    }
}
