use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{Caller, Notice, NoticeKind, NoticeSink, clock::Clock, floor::Floor, negotiate::Memory, scope::CallScope},
    elicitation::{Modes, Resolver, ServerName},
    protocol::{Frame, Id, Revision},
    transport::{Outgoing, TransportError},
};

/// What a driver needs to know beside its transport.
pub(in crate::client) struct DriverSetup {
    /// What the server is called.
    pub(in crate::client) server: ServerName,
    /// Who answers its questions; without one elicitation was not declared.
    pub(in crate::client) resolver: Option<Arc<dyn Resolver>>,
    /// What was declared.
    pub(in crate::client) modes: Modes,
    /// The folders that were declared as roots.
    pub(in crate::client) roots: Vec<PathBuf>,
    /// Where notices go.
    pub(in crate::client) notices: NoticeSink,
    /// Stands still while a question is open.
    pub(in crate::client) clock: Clock,
    /// How long an accepted link is waited for.
    pub(in crate::client) url_wait: Duration,
    /// How long the server may take to end by itself, where that is said.
    pub(in crate::client) grace: Option<Duration>,
    /// What is remembered of how it ends.
    pub(in crate::client) memory: Memory,
    /// Whether a person is signing in.
    pub(in crate::client) asking: Option<watch::Receiver<bool>>,
    /// Keeps the questions of several callers apart.
    pub(in crate::client) floor: Arc<Floor>,
    /// Fires when the connection is over.
    pub(in crate::client) over: CancellationToken,
    /// What was said last of each task.
    pub(in crate::client) tasks: Mutex<HashMap<String, TaskWords>>,
    /// How often the server has said that its tools are others.
    pub(in crate::client) tool_changes: AtomicU64,
}

/// A task's status and its words.
type TaskWords = (String, Option<String>);

impl DriverSetup {
    /// Says how a task stands, if that is new: it may be heard in a notification and in an answer.
    pub(in crate::client) fn task(&self, id: &str, status: String, message: Option<String>) {
        let now = (status.clone(), message.clone());
        let mut said = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if said.insert(id.to_owned(), now.clone()).is_none_or(|before| before != now) {
            self.notice(NoticeKind::Task { id: id.to_owned(), status, message });
        }
    }

    /// Says something.
    pub(in crate::client) fn notice(&self, kind: NoticeKind) {
        (self.notices)(Notice { server: self.server.clone(), kind });
    }

    /// Says something about a call of `caller`'s, where it is somebody's.
    pub(in crate::client) fn notice_of(&self, caller: Option<&Caller>, kind: NoticeKind) {
        let sink = caller.map_or(&self.notices, |caller| &caller.notices);
        sink(Notice { server: self.server.clone(), kind });
    }

    /// Warns, in our words.
    pub(in crate::client) fn warn(&self, text: impl Into<String>) {
        self.notice(NoticeKind::Warning(text.into()));
    }
}

/// What a driver is told to do.
pub(in crate::client) enum DriverCommand {
    /// Send a request.
    Request(Request),
    /// A request is given up. With a reason the server is told.
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
    /// A call is over. `done` is told when no prompt of a question that is gone is left.
    CloseScope {
        /// The call's progress token.
        token: u64,
        /// Who waits.
        done: Option<oneshot::Sender<()>>,
    },
    /// Fire `done` when `notifications/elicitation/complete` comes for this link of an error -32042.
    ExpectLink {
        /// Its `elicitationId`.
        id: String,
        /// What fires.
        done: CancellationToken,
    },
    /// End the connection. `done` is told when it is over.
    Close(oneshot::Sender<()>),
}

/// A request to send.
pub(in crate::client) struct Request {
    /// Its id.
    pub(in crate::client) id: Id,
    /// The frame, with that id.
    pub(in crate::client) out: Outgoing,
    /// The progress token of the call that it belongs to.
    pub(in crate::client) token: Option<u64>,
    /// Who waits for the response: a result or an error frame.
    pub(in crate::client) reply: oneshot::Sender<Result<Frame, TransportError>>,
}
