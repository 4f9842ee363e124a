use std::{io, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// Why a connection could not be made, or a request could not be delivered.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The program could not be started.
    #[error("the program {command:?} could not be started")]
    Spawn {
        /// The program, as configured.
        command: String,
        /// The system's error.
        #[serde(with = "io_error")]
        source: io::Error,
    },
    /// The configured working directory does not exist.
    #[error("the program {command:?} could not be started: the directory {} {}", cwd.display(), if cwd.exists() { "is not a directory" } else { "does not exist" })]
    NoDirectory {
        /// The program, as configured.
        command: String,
        /// The directory, as configured.
        cwd: PathBuf,
    },
    /// The connection is over.
    #[error("{}", .0.reason)]
    Closed(super::Closed),
    /// A message is larger than `maxMessage`.
    #[error("a message was larger than {limit} bytes, the limit that `maxMessage` sets")]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The server answered HTTP with a status that carries no message.
    #[error("{}{}", status_message(*status), if body.is_empty() { String::new() } else { format!(": {body}") })]
    Http {
        /// The status code.
        status: u16,
        /// The beginning of the body, not yet safe for a terminal.
        body: String,
        /// `WWW-Authenticate`, if present.
        challenge: Option<super::Challenge>,
        /// `Retry-After`, if present.
        retry_after: Option<Duration>,
    },
    /// There are no credentials for the request; it was not sent, or refused.
    #[error("{0}")]
    Credentials(super::CredentialsError),
    /// The server has ended the session of the request, and did not process it (2025-11-25, *transports*, Session
    /// Management): initialize again, and repeat the request once.
    #[error("the server has ended the session (HTTP {status})")]
    SessionLost {
        /// The status code, 404 or 400.
        status: u16,
    },
    /// A header, a certificate file or an address in the configuration cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The server could not be reached, or the connection failed.
    #[error("{}", unreachable_message(url, reason, *connected))]
    Unreachable {
        /// The address, without user info and query.
        url: String,
        /// The innermost cause.
        reason: String,
        /// Whether there was a connection, so that the server may have received something.
        connected: bool,
    },
    /// What arrived was not an answer: HTML, a stream that ends early, a status 202 for a request.
    #[error("there was no usable answer: {0}")]
    NoAnswer(String),
    /// Nothing arrived for too long.
    #[error("the server sent nothing for {} s", .0.as_secs())]
    Silent(Duration),
}

impl TransportError {
    /// Whether it is a temporary status of gateways and busy servers, which says nothing about the request.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Http { status, challenge: None, .. } if is_passing(*status))
    }

    /// Whether it is certain that the server received nothing.
    pub fn is_before_sending(&self) -> bool {
        matches!(self, Self::Spawn { .. } | Self::NoDirectory { .. } | Self::Unreachable { connected: false, .. })
    }
}

fn status_message(status: u16) -> String {
    match status {
        // No server of its own accord sends this one (RFC 9110, section 15.5.8).
        407 => "the proxy wants a user name and a password (HTTP 407)".to_owned(),
        _ => format!("the server answered with HTTP {status}"),
    }
}

fn unreachable_message(url: &str, reason: &str, connected: bool) -> String {
    if connected {
        format!("the connection to {url} broke: {reason}")
    } else {
        format!("{url} could not be reached: {reason}")
    }
}

/// A system error, serialized as its message, because nobody needs more of it.
mod io_error {
    use std::io;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(error: &io::Error, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(error)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<io::Error, D::Error> {
        String::deserialize(deserializer).map(io::Error::other)
    }
}

/// Whether a status of HTTP says that the same request may be answered a little later (RFC 9110, section 15; RFC 6585,
/// section 4; RFC 8470, section 5.2). Large gateways have their own for a server behind them that does not answer: 520 to
/// 524 and 530, and 529 for one that is overloaded.
pub(super) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504 | 520..=524 | 529 | 530)
}
