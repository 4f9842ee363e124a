use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    client::{ClientError, Notice, PendingCall, ServerInfo, ToolProgress},
    elicitation::{Outcome, Question, Waited, Why},
};

/// What a program says of itself first, so that keepers and commands of two versions never talk past each other.
pub(super) const PROGRAM: &str = concat!("toolnexus ", env!("CARGO_PKG_VERSION"), " keeper 3");

/// What a command says to a keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToKeeper {
    /// The first message: who speaks, whether it wants to hear everything that passes, and whether a person is there who
    /// could sign in. Other versions may say less or more: `program` alone is always there.
    Hello {
        program: String,
        #[serde(default)]
        trace: bool,
        #[serde(default)]
        person: bool,
    },
    /// The server will be used: it is started or reached, where it was not yet.
    Attach,
    /// Something to do. `id` names it in what follows.
    Do { id: u64, operation: Operation, times: OperationTimes },
    /// It is not wanted any more.
    Stop { id: u64 },
    /// How a question ended.
    Outcome { question: u64, outcome: Outcome },
    /// How waiting behind a link ended.
    Waited { question: u64, waited: Waited },
    /// Whether the answers of a call that was put aside may be sent.
    MaySend { id: u64, yes: bool },
    /// Are you there?
    Ping,
    /// How do you stand?
    Standing,
    /// End, as soon as nobody is attached any more.
    Drain,
    /// End now.
    Down,
}

/// The times that shape one operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OperationTimes {
    /// How long an accepted link is waited for.
    pub(super) url_wait: Duration,
    /// How long a call may be silent.
    pub(super) silence: Duration,
    /// How long a call may take in all.
    pub(super) total: Duration,
}

/// What a keeper can be asked to do: what a client can do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Operation {
    /// The tools; `fresh` asks the server in any case.
    Tools {
        fresh: bool,
    },
    List {
        method: String,
        key: String,
    },
    /// `is_known` says that the tool stands in the list that the keeper gave, `reports` that the command wants to hear how
    /// far the call is.
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

/// What a keeper says to a command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToCommand {
    /// The answer to `Hello`: who speaks.
    Hello {
        program: String,
    },
    /// The server is there.
    Ready(Box<ServerInfo>),
    /// The server cannot be started or reached.
    Failed(ClientError),
    /// An operation ended; a result or a list is the body.
    Ended {
        id: u64,
        end: End,
    },
    /// Something that the host has to say.
    Notice(Notice),
    /// A line of the trace is the body.
    Traced,
    /// A question to answer.
    Ask {
        question: u64,
        asked: Arc<Question>,
    },
    /// A question, or waiting behind a link, is over.
    Over {
        question: u64,
    },
    /// Somebody is to wait behind a link that was accepted.
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
    /// How far a call is.
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

/// How a keeper and its server stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// What the server is called.
    pub server: String,
    /// Where it is, without what is secret.
    pub place: String,
    /// The name of its socket: the configuration's keyed fingerprint.
    pub key: String,
    /// The keeper's process id.
    pub pid: u32,
    /// Since when it is kept, in seconds since the Unix epoch.
    pub since: u64,
    /// For how many seconds nobody has used it.
    pub idle: u64,
    /// After how many idle seconds it ends.
    pub keep: u64,
    /// How many calls it has served.
    pub calls: u64,
    /// How many commands are attached.
    pub attached: usize,
    /// How many calls wait for answers.
    pub waiting: usize,
    /// Bytes that the keeper and its server hold in memory, where the system tells.
    pub memory: Option<u64>,
    /// The protocol revision that the server speaks, once it is there.
    pub revision: Option<String>,
    /// Whether it will end as soon as nobody uses it any more.
    pub draining: bool,
}
