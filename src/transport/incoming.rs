use serde::{Deserialize, Serialize};

use crate::protocol::{Frame, Id};

use super::TransportError;

/// A frame to send, with what a transport may need in addition to its bytes.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The message.
    pub frame: Frame,
    /// HTTP headers that mirror parts of it: `(name, value)`, encoded (2026-07-28, *Streamable HTTP*, `x-mcp-header`).
    pub headers: Vec<(String, String)>,
}

impl From<Frame> for Outgoing {
    fn from(frame: Frame) -> Self {
        Self { frame, headers: Vec::new() }
    }
}

/// Something that arrived from a server.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A message.
    Frame(Frame),
    /// A message on the stream of the request with this id (2025-11-25, *transports*, Streamable HTTP).
    During(Id, Frame),
    /// Something that is not a message, and is skipped.
    Junk(Junk),
    /// A line of the server's log, from its standard error.
    Log(String),
    /// The request with this id can no longer be answered; the connection continues.
    Failed {
        /// Our request.
        id: Id,
        /// What happened to it.
        error: TransportError,
    },
    /// Our notification or reply did not reach the server; the connection continues.
    Undelivered {
        /// What it was: `notifications/initialized`, `the reply to 7`.
        what: String,
        /// Why.
        error: TransportError,
    },
    /// The connection is over.
    Closed(Closed),
}

/// What a server wrote instead of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Junk {
    /// Its beginning, at most 200 bytes, not yet safe for a terminal.
    pub preview: String,
    /// Why it is not a message.
    pub reason: String,
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    /// One fragment, such as `the server exited with status 3`.
    pub reason: String,
    /// The last lines of the server's standard error, oldest first.
    pub stderr: Vec<String>,
}
