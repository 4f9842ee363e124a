use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    protocol::RpcError,
    text::cut,
    transport::{Closed, TransportError},
};

/// Why a client could not do what it was asked to do.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server could not be started or reached, or the connection was lost before it was ready.
    #[error(transparent)]
    Connect(TransportError),
    /// The server and we have no revision in common.
    #[error("there is no common protocol version: the server offers {offered}, and toolnexus speaks {spoken}")]
    Version {
        /// What the server offers.
        offered: String,
        /// What this program speaks.
        spoken: String,
    },
    /// The server requires an authorization that it did not get.
    #[error("{}: {}", .0.fate.words(), .0.reason)]
    Unauthorized(Unauthorized),
    /// The connection was lost, or failed, after the server was ready.
    #[error("{}", lost(method, source))]
    Lost {
        /// The request in progress.
        method: String,
        /// What happened.
        source: TransportError,
    },
    /// The server answered with a protocol error.
    #[error("the server answered {method} with an error: {error}")]
    Rpc {
        /// The request.
        method: String,
        /// The server's error.
        error: Box<RpcError>,
    },
    /// The server's answer breaks the protocol.
    #[error("the answer to {method} is not valid: {reason}")]
    Invalid {
        /// The request.
        method: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// It took too long.
    #[error("the server did not answer{} within {} s", asked(method), seconds(*after))]
    TimedOut {
        /// The request.
        method: String,
        /// How long we waited, without open questions.
        after: Duration,
    },
    /// A task did not end in the time for which its server keeps it.
    #[error("the task of {method} did not end within {} s, its time to live", seconds(*after))]
    TaskExpired {
        /// The request that became the task.
        method: String,
        /// How long the server keeps the task.
        after: Duration,
    },
    /// The arguments of a tool were not an object: what they were.
    #[error("the arguments of a tool must be an object, not {}", cut(&.0.to_string(), 40))]
    Arguments(Value),
    /// The step behind an accepted link was not finished in time.
    #[error("the step behind the link was not finished within {} s", seconds(*after))]
    LinkTimedOut {
        /// How long we waited.
        after: Duration,
    },
    /// It was cancelled by us.
    #[error("{method} was interrupted")]
    Interrupted {
        /// The request.
        method: String,
    },
}

/// What a server refused because of a missing authorization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct Unauthorized {
    /// Why, as a clause; the server's words in it are not yet safe for a terminal.
    pub reason: String,
    /// The scopes that the server named.
    pub scopes: Vec<String>,
    /// Whether the request was refused although it had a token: the token's scopes are not sufficient.
    pub is_step_up: bool,
    /// The argument for `toolnexus login`, if signing in may help.
    pub login: Option<String>,
    /// What became of the credentials.
    #[serde(default)]
    pub fate: CredentialsFate,
}

/// What became of the credentials of a request that was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CredentialsFate {
    /// There were none, or those of a sign-in.
    #[default]
    Wanted,
    /// Those of the configuration were sent, and refused.
    Refused,
    /// The program that gives them gave none.
    Missing,
}

impl CredentialsFate {
    fn words(self) -> &'static str {
        match self {
            Self::Wanted => "the server requires authorization",
            Self::Refused => "the token was refused",
            Self::Missing => "there are no credentials",
        }
    }
}

/// How a request was lost: an answer that is of no use is no lost connection.
fn lost(method: &str, source: &TransportError) -> String {
    match source {
        TransportError::Http { .. } | TransportError::NoAnswer(_) | TransportError::SessionLost { .. } => {
            format!("{method} got no result")
        }
        _ => format!("the connection was lost during {method}"),
    }
}

/// The request that was not answered, for the message. Requests that open a connection are left out, because nobody
/// asked for them.
fn asked(method: &str) -> String {
    if matches!(method, "initialize" | "server/discover") { String::new() } else { format!(" {method}") }
}

/// Seconds, to a tenth; shorter times as they are.
fn seconds(time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds < 0.1 { seconds } else { (seconds * 10.0).round() / 10.0 }
}

impl ClientError {
    /// A call of `method` that waited in a kept server is gone.
    ///
    /// `how` says how the server ended, if known.
    pub fn call_gone(method: &str, how: Option<TransportError>) -> Self {
        let how = how.map(|how| match how {
            TransportError::Closed(closed) => closed,
            other => Closed { reason: other.to_string(), stderr: Vec::new() },
        });
        let words = how.as_ref().map(|how| format!(" ({})", how.reason)).unwrap_or_default();
        let reason =
            format!("the call was waiting in a kept server that has ended since then{words}; it was not made again");
        let source = TransportError::Closed(Closed { reason, stderr: how.map(|how| how.stderr).unwrap_or_default() });
        Self::Lost { method: method.to_owned(), source }
    }

    /// Whether it is certain that the request did not reach the server.
    pub fn is_before_sending(&self) -> bool {
        matches!(self, Self::Connect(source) | Self::Lost { source, .. } if source.is_before_sending())
    }
}
