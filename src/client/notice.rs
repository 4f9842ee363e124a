use std::{borrow::Cow, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    elicitation::{CallName, Question, ServerName, Why},
    protocol::Revision,
};

/// A message of the host while it works. The host never prints: `output` renders these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Notice {
    /// The server it is about.
    pub server: ServerName,
    /// What it is.
    pub kind: NoticeKind,
}

/// The content of a [`Notice`]. Text in it is the server's, not yet safe for a terminal, unless the name says
/// otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum NoticeKind {
    /// A warning in our words.
    Warning(String),
    /// A line of the server's standard error.
    Stderr(String),
    /// `notifications/progress` for our call.
    Progress {
        /// The tool, prompt or resource.
        call: Option<CallName>,
        /// How far.
        progress: f64,
        /// The total.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// `notifications/message`: the server's log.
    Log {
        /// `debug` to `emergency`.
        level: String,
        /// The name of the logger.
        logger: Option<String>,
        /// Any JSON.
        data: Value,
    },
    /// A `list_changed` or `resources/updated` notification: its method and params.
    Changed {
        /// The notification's method.
        method: String,
        /// Its params.
        params: Value,
    },
    /// A resolver got a question.
    Asked(Arc<Question>),
    /// A question was answered: the action that the server got.
    Answered {
        /// The question.
        question: Arc<Question>,
        /// `accept`, `decline` or `cancel`.
        action: Cow<'static, str>,
    },
    /// A question could not be answered; the server was told cancel.
    Unanswered {
        /// The question.
        question: Arc<Question>,
        /// Why.
        why: Why,
    },
    /// The server withdrew a question.
    Withdrawn(Arc<Question>),
    /// The server asked although elicitation was not declared.
    NotDeclared {
        /// The method it used.
        method: String,
    },
    /// The server can ask only in this older revision: the call is made again in it.
    CalledAgain {
        /// The revision from now on.
        revision: Revision,
    },
    /// `notifications/elicitation/complete` for our link: its `elicitationId`.
    LinkComplete(String),
    /// A call became a task, or a task changed: its id, its status, and its message.
    Task {
        /// The task's id.
        id: String,
        /// `working`, `input_required`, `completed`, `failed` or `cancelled`.
        status: String,
        /// Its status message.
        message: Option<String>,
    },
}

/// Where notices go. Called from the host's tasks, in order; must not block.
pub type NoticeSink = Arc<dyn Fn(Notice) + Send + Sync>;

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::{json, value::RawValue};

    use super::*;
    use crate::text::with_causes;
    use crate::{
        client::{CallEnd, CallReport, ClientError, PendingCall, PendingInput},
        elicitation::{Answer, Cause, Origin, Outcome, elicitation_to_request},
        protocol::{Era, Id, RpcError},
        transport::{Closed, TransportError},
    };

    /// `value` after being serialized for another process.
    fn crossed<T: Serialize + DeserializeOwned>(value: &T) -> T {
        serde_json::from_str(&serde_json::to_string(value).expect("written")).expect("read")
    }

    fn question(cause: Cause) -> Arc<Question> {
        let schema = r#"{"type": "object", "properties": {"n": {"type": "number", "maximum": 1e400}}}"#;
        let schema: Value = serde_json::from_str(schema).expect("JSON");
        let request = elicitation_to_request(&json!({"message": "m", "requestedSchema": schema}));
        let call = Some("t".into());
        let origin = Origin { server: "s".into(), call, is_tool: true, era: Era::Legacy, cause };
        Arc::new(Question::new(request, origin))
    }

    #[test]
    fn questions_and_outcomes_cross_a_process_boundary() {
        let long: Value = serde_json::from_str("123456789012345678901234567890").expect("a number");
        let causes = [
            Cause::Asked(Id::from_value(&long).expect("an id")),
            Cause::Asked("7".into()),
            Cause::Input("k".into()),
            Cause::UrlRequired("u".into()),
            Cause::Task("t".into()),
            Cause::SignIn,
        ];
        for cause in causes {
            let question = question(cause);
            assert_eq!(crossed(&question), question);
        }
        let outcomes = [
            Outcome::Answered(Answer::accept("i", Some(json!({"n": long})))),
            Outcome::Answered(Answer::decline("i")),
            Outcome::Pass,
            Outcome::Deferred,
            Outcome::Withdrawn,
            Outcome::Unanswerable(Why::new("r").with_hint("h")),
        ];
        for outcome in outcomes {
            assert_eq!(crossed(&outcome), outcome);
        }
    }

    #[test]
    fn notices_cross_a_process_boundary() {
        let asked = question(Cause::SignIn);
        let kinds = [
            NoticeKind::Warning("w".into()),
            NoticeKind::Progress { call: Some("t".into()), progress: 0.1, total: None, message: Some("m".into()) },
            NoticeKind::Log { level: "info".into(), logger: None, data: json!({"a": [1.50, null]}) },
            NoticeKind::Asked(Arc::clone(&asked)),
            NoticeKind::Answered { question: Arc::clone(&asked), action: "decline".into() },
            NoticeKind::Unanswered { question: asked, why: Why::new("r") },
            NoticeKind::CalledAgain { revision: Revision::V2025_11_25 },
        ];
        for kind in kinds {
            let notice = Notice { server: "s".into(), kind };
            assert_eq!(crossed(&notice), notice);
        }
    }

    #[test]
    fn the_ends_of_calls_cross_a_process_boundary() {
        let text = r#"{"b":1.0e2,  "a":"\u0041"}"#;
        let result = RawValue::from_string(text.to_owned()).expect("JSON");
        let end = CallEnd::Done(CallReport { result, unanswered: vec![Why::new("r")] });
        let CallEnd::Done(report) = crossed(&end) else { panic!("done") };
        assert_eq!((report.result.get(), report.unanswered), (text, vec![Why::new("r")]));
        let input = PendingInput { key: "k".into(), input: serde_json::Map::new(), request: None, response: None };
        let pending = PendingCall {
            method: "tools/call".into(),
            params: json!({"name": "t"}),
            request_state: Some(Value::Null),
            inputs: vec![PendingInput { response: Some(Value::Null), ..input.clone() }, input],
            task: None,
            kept: Some("k".into()),
        };
        assert_eq!(crossed(&pending), pending);
    }

    #[test]
    fn errors_cross_a_process_boundary_word_for_word() {
        let closed = TransportError::Closed(Closed { reason: "the server exited".into(), stderr: vec!["e".into()] });
        let spawn = TransportError::Spawn { command: "c".into(), source: std::io::Error::other("no such program") };
        let rpc = RpcError::new(-32602, "m").with_data(json!({"x": 1}));
        let errors = [
            ClientError::Lost { method: "tools/call".into(), source: closed },
            ClientError::Connect(spawn),
            ClientError::Rpc { method: "tools/call".into(), error: Box::new(rpc) },
            ClientError::TimedOut { method: "tools/call".into(), after: std::time::Duration::from_millis(1500) },
        ];
        for error in errors {
            assert_eq!(with_causes(&crossed(&error)), with_causes(&error));
            assert_eq!(crossed(&error).is_before_sending(), error.is_before_sending());
        }
    }
}
