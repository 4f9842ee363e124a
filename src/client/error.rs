use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    protocol::RpcError,
    transport::{Closed, TransportError},
};

/// Why a client could not do what it was asked.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum ClientError {
    /// The server could not be started or reached, or the connection was lost before it was ready.
    #[error("connect: {0}")]
    Connect(#[source] TransportError),
    /// The server and we have no revision in common.
    #[error("agree on a protocol version: the server offers {offered}, and {spoken} are spoken here")]
    Version {
        /// What the server offers.
        offered: String,
        /// What this program speaks.
        spoken: String,
    },
    /// The server wants an authorization that was not given.
    #[error("be authorized: {0}")]
    Unauthorized(Unauthorized),
    /// The connection was lost, or broke, after the server was ready.
    #[error("{method}: {source}")]
    Lost {
        /// The request under way.
        method: String,
        /// What happened.
        source: TransportError,
    },
    /// The server answered with a protocol error.
    #[error("{method}: {error}")]
    Rpc {
        /// The request.
        method: String,
        /// The server's error.
        error: Box<RpcError>,
    },
    /// The server's answer is against the protocol.
    #[error("{method}: {reason}")]
    Invalid {
        /// The request.
        method: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// It took too long.
    #[error("{method}: no answer after {} s", after.as_secs_f32())]
    TimedOut {
        /// The request.
        method: String,
        /// How long it was waited for, without open questions.
        after: Duration,
    },
    /// What an accepted link leads to was not done in time.
    #[error("wait for what is behind the link: it was not done within {} s", after.as_secs())]
    LinkTimedOut {
        /// How long it was waited for.
        after: Duration,
    },
    /// It was cancelled from here.
    #[error("{method}: interrupted")]
    Interrupted {
        /// The request.
        method: String,
    },
}

/// What a server refused for lack of an authorization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Unauthorized {
    /// Why, as a clause; the server's words in it are not made safe for a terminal.
    pub reason: String,
    /// The scopes that the server named.
    pub scopes: Vec<String>,
    /// Whether the request was refused with the token of a sign-in that is not enough.
    pub is_step_up: bool,
    /// What `toolnexus login` would be given, where a sign-in is a way.
    pub login: Option<String>,
}

impl ClientError {
    /// A call of `method` that waited in the process that kept its server is not there any more.
    pub fn call_gone(method: &str) -> Self {
        let reason = "the call waited in a kept server that has ended since; it was not made again".to_owned();
        let source = TransportError::Closed(Closed { reason, stderr: Vec::new() });
        Self::Lost { method: method.to_owned(), source }
    }

    /// Whether it is certain that the server got nothing of the request.
    pub fn is_before_sending(&self) -> bool {
        matches!(self, Self::Connect(source) | Self::Lost { source, .. } if source.is_before_sending())
    }
}
