use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    client::{ClientError, Notice, PendingCall, ServerInfo, ToolProgress},
    elicitation::{Outcome, Question, Waited, Why},
};

/// The first thing a program sends, so that keepers and commands of different versions never misunderstand each other.
pub(super) const PROGRAM: &str = concat!("toolnexus ", env!("CARGO_PKG_VERSION"), " keeper 3");

/// A message from a command to a keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToKeeper {
    /// The first message: who sends it, whether it wants to trace all messages, and whether there is a person who could
    /// sign in. Other versions may send less or more: only `program` is always there.
    Hello {
        program: String,
        #[serde(default)]
        trace: bool,
        #[serde(default)]
        person: bool,
    },
    /// The server will be used: it is started or reached, if it has not been yet.
    Attach,
    /// An operation. Later messages refer to its `id`.
    Do { id: u64, operation: Operation, times: OperationTimes },
    /// It is no longer needed.
    Stop { id: u64 },
    /// How a question ended.
    Outcome { question: u64, outcome: Outcome },
    /// How the wait for a link ended.
    Waited { question: u64, waited: Waited },
    /// Whether the answers of a call that was put aside may be sent.
    MaySend { id: u64, yes: bool },
    /// Are you there?
    Ping,
    /// What is your status?
    Standing,
    /// End as soon as nobody is attached any more.
    Drain,
    /// End now.
    Down,
}

/// The time limits of one operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OperationTimes {
    /// How long to wait for an accepted link.
    pub(super) url_wait: Duration,
    /// How long a call may be silent.
    pub(super) silence: Duration,
    /// How long a call may take in total.
    pub(super) total: Duration,
}

/// An operation of a keeper: what a client can do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Operation {
    /// The tools; with `fresh`, the server is asked in any case.
    Tools {
        fresh: bool,
    },
    List {
        method: String,
        key: String,
    },
    /// `is_known` says that the tool is in the keeper's list, `reports` that the command wants the call's progress.
    CallTool {
        name: String,
        arguments: Map<String, Value>,
        is_known: bool,
        reports: bool,
        timeout: Option<Duration>,
    },
    Call {
        method: String,
        params: Map<String, Value>,
    },
    Resume {
        pending: PendingCall,
    },
    Request {
        method: String,
        params: Option<Map<String, Value>>,
    },
    Listen {
        filter: Map<String, Value>,
    },
}

/// A message from a keeper to a command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToCommand {
    /// The answer to `Hello`: who sends it.
    Hello {
        program: String,
    },
    /// The server is ready.
    Ready(Box<ServerInfo>),
    /// The server cannot be started or reached.
    Failed(ClientError),
    /// An operation ended; a result or a list is the body.
    Ended {
        id: u64,
        end: End,
    },
    /// A notice of the host.
    Notice(Notice),
    /// A line of the trace is the body.
    Traced,
    /// A question to answer.
    Ask {
        question: u64,
        asked: Arc<Question>,
    },
    /// A question, or the wait for a link, is over.
    Over {
        question: u64,
    },
    /// Wait for a link that was accepted.
    Wait {
        question: u64,
        link: Arc<Question>,
        limit: Duration,
    },
    /// A call that was put aside has its answers: may they be sent?
    MaySend {
        id: u64,
        pending: PendingCall,
    },
    /// A call's progress.
    Progress {
        id: u64,
        at: ToolProgress,
    },
    /// A call has become a task that outlives this process.
    Became {
        id: u64,
        pending: PendingCall,
    },
    Pong,
    Standing(Standing),
}

/// How an operation ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum End {
    /// With a list, or the result of a plain request, in the body; or with nothing.
    Plain,
    /// With the result of a call in the body.
    Done {
        unanswered: Vec<Why>,
    },
    /// The call was put aside.
    Deferred(Box<PendingCall>),
    Failed(ClientError),
}

/// The status of a keeper and its server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The server's name.
    pub server: String,
    /// Its command or address, without secrets.
    pub place: String,
    /// The name of its socket: the configuration's keyed fingerprint.
    pub key: String,
    /// The keeper's process id.
    pub pid: u32,
    /// When it was started, in seconds since the Unix epoch.
    pub since: u64,
    /// How many seconds it has been idle.
    pub idle: u64,
    /// After how many idle seconds it ends.
    pub keep: u64,
    /// How many calls it has served.
    pub calls: u64,
    /// How many commands are attached.
    pub attached: usize,
    /// How many calls wait for answers.
    pub waiting: usize,
    /// The memory of the keeper and its server, in bytes, if the system reports it.
    pub memory: Option<u64>,
    /// The protocol revision that the server speaks, once it is ready.
    pub revision: Option<String>,
    /// Whether it ends as soon as nobody uses it any more.
    pub draining: bool,
}
