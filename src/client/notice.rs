use std::sync::Arc;

use serde_json::Value;

use crate::{
    elicitation::{CallName, Question, ServerName, Why},
    protocol::Revision,
};

/// Something that a host has to say while it works. The host never prints: `output` renders these.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The server it is about.
    pub server: ServerName,
    /// What it is.
    pub kind: NoticeKind,
}

/// What a [`Notice`] says. Text in it is the server's, not made safe for a terminal, unless the name says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum NoticeKind {
    /// A warning in our words.
    Warning(String),
    /// A line of the server's standard error.
    Stderr(String),
    /// `notifications/progress` for a call of ours.
    Progress {
        /// The tool, prompt or resource.
        call: Option<CallName>,
        /// How far.
        progress: f64,
        /// Of how much.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// `notifications/message`: the server's log.
    Log {
        /// `debug` to `emergency`.
        level: String,
        /// Who logs.
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
    /// A question was put to the resolver.
    Asked(Arc<Question>),
    /// A question was answered: the action that the server was told.
    Answered {
        /// The question.
        question: Arc<Question>,
        /// `accept`, `decline` or `cancel`.
        action: &'static str,
    },
    /// A question could not be answered; the server was told cancel.
    Unanswered {
        /// The question.
        question: Arc<Question>,
        /// Why.
        why: Why,
    },
    /// The server took a question back.
    Withdrawn(Arc<Question>),
    /// The server asked although elicitation was not declared.
    NotDeclared {
        /// The method it used.
        method: String,
    },
    /// The server can ask in this older revision alone: the call is made once more in it.
    CalledAgain {
        /// What is spoken from now on.
        revision: Revision,
    },
    /// `notifications/elicitation/complete` for a link of ours: its `elicitationId`.
    LinkComplete(String),
    /// A call became a task, or a task changed: its id, its status, and its words.
    Task {
        /// The task's id.
        id: String,
        /// `working`, `input_required`, `completed`, `failed` or `cancelled`.
        status: String,
        /// What it says of itself.
        message: Option<String>,
    },
}

/// Where notices go. Called from the host's tasks, in order; must not block.
pub type NoticeSink = Arc<dyn Fn(Notice) + Send + Sync>;
