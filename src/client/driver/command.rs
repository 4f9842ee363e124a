use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{Caller, Notice, NoticeKind, NoticeSink, clock::Clock, floor::Floor, negotiate::Memory, scope::CallScope},
    elicitation::{Modes, Resolver, ServerName},
    protocol::{Frame, Id, Revision},
    transport::{Closed, Outgoing, TransportError},
};

/// What a driver needs to know in addition to its transport.
pub(in crate::client) struct DriverSetup {
    /// The server's name.
    pub(in crate::client) server: ServerName,
    /// Who answers its questions; without one, elicitation was not declared.
    pub(in crate::client) resolver: Option<Arc<dyn Resolver>>,
    /// The declared modes.
    pub(in crate::client) modes: Modes,
    /// The folders that were declared as roots.
    pub(in crate::client) roots: Vec<PathBuf>,
    /// Where notices go.
    pub(in crate::client) notices: NoticeSink,
    /// Paused while a question is open.
    pub(in crate::client) clock: Clock,
    /// How long to wait for an accepted link.
    pub(in crate::client) url_wait: Duration,
    /// How long the server may take to end by itself, if configured.
    pub(in crate::client) grace: Option<Duration>,
    /// What is remembered about how it ends.
    pub(in crate::client) memory: Memory,
    /// Whether a person is signing in.
    pub(in crate::client) asking: Option<watch::Receiver<bool>>,
    /// Keeps the questions of several callers apart.
    pub(in crate::client) floor: Arc<Floor>,
    /// Fires when the connection is over.
    pub(in crate::client) over: CancellationToken,
    /// How the server ended it.
    pub(in crate::client) ended: OnceLock<Closed>,
    /// The last reported status of each task.
    pub(in crate::client) tasks: Mutex<HashMap<String, TaskWords>>,
    /// How often the server has said that its tools have changed.
    pub(in crate::client) tool_changes: AtomicU64,
}

/// A task's status and its message.
type TaskWords = (String, Option<String>);

impl DriverSetup {
    /// Reports a task's status, if it has changed: it may arrive in a notification and in an answer.
    pub(in crate::client) fn task(&self, id: &str, status: String, message: Option<String>) {
        let now = (status.clone(), message.clone());
        let mut said = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if said.insert(id.to_owned(), now.clone()).is_none_or(|before| before != now) {
            self.notice(NoticeKind::Task { id: id.to_owned(), status, message });
        }
    }

    /// Sends a notice.
    pub(in crate::client) fn notice(&self, kind: NoticeKind) {
        (self.notices)(Notice { server: self.server.clone(), kind });
    }

    /// Sends a notice about a call of `caller`, if it is known.
    pub(in crate::client) fn notice_of(&self, caller: Option<&Caller>, kind: NoticeKind) {
        let sink = caller.map_or(&self.notices, |caller| &caller.notices);
        sink(Notice { server: self.server.clone(), kind });
    }

    /// Warns, in our words.
    pub(in crate::client) fn warn(&self, text: impl Into<String>) {
        self.notice(NoticeKind::Warning(text.into()));
    }
}

/// A command for the driver.
pub(in crate::client) enum DriverCommand {
    /// Send a request.
    Request(DriverRequest),
    /// A request is given up. If there is a reason, the server is told.
    Abandon {
        /// The request.
        id: Id,
        /// Why, in a few words.
        reason: Option<&'static str>,
    },
    /// Send a notification.
    Notify(Frame),
    /// This revision was agreed on.
    Agree(Revision),
    /// A call begins.
    OpenScope(Arc<CallScope>),
    /// A call is over. `done` fires when no prompt of a withdrawn question is left.
    CloseScope {
        /// The call's progress token.
        token: u64,
        /// Who waits.
        done: Option<oneshot::Sender<()>>,
    },
    /// Fire `done` when `notifications/elicitation/complete` arrives for this link of an error -32042.
    ExpectLink {
        /// Its `elicitationId`.
        id: String,
        /// What fires.
        done: CancellationToken,
    },
    /// End the connection. `done` fires when it is over.
    Close(oneshot::Sender<()>),
}

/// A request to send.
pub(in crate::client) struct DriverRequest {
    /// Its id.
    pub(in crate::client) id: Id,
    /// The frame, with that id.
    pub(in crate::client) out: Outgoing,
    /// The progress token of the call that it belongs to.
    pub(in crate::client) token: Option<u64>,
    /// Who waits for the response: a result or an error frame.
    pub(in crate::client) reply: oneshot::Sender<Result<Frame, TransportError>>,
}
