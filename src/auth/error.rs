use std::time::Duration;

use super::StoreError;
use crate::transport::TransportError;

/// Why a sign-in did not succeed. Contains no secrets; texts of others are safe to show on one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Something cannot be used: metadata, a key, a setting.
    #[error("{0}")]
    Unusable(String),
    /// A request got no answer.
    #[error("{what} got no answer")]
    Missing {
        /// The request.
        what: &'static str,
        /// Why.
        source: TransportError,
    },
    /// The authorization server refused a request.
    #[error("the authorization server refused {what}: {error}{}", described(.description.as_ref()))]
    Refused {
        /// The request.
        what: &'static str,
        /// Its error code.
        error: String,
        /// Its description of the error.
        description: Option<String>,
    },
    /// The person declined, or closed the question.
    #[error("you did not sign in")]
    No,
    /// There is nobody who could sign in.
    #[error("there is nobody to sign in")]
    Nobody,
    /// The person did not return in time.
    #[error("nobody signed in within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The stored sign-ins cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AuthError {
    /// With this clause as the message.
    pub(super) fn unusable(reason: impl Into<String>) -> Self {
        Self::Unusable(reason.into())
    }

    /// An error code of an authorization server, and its description, shortened and made safe.
    pub(super) fn refused(what: &'static str, error: &str, description: Option<&str>) -> Self {
        Self::Refused { what, error: tame(error), description: description.map(tame) }
    }

    /// Whether the authorization server no longer knows the token or the client.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Self::Refused { error, .. } if matches!(error.as_str(), "invalid_grant" | "invalid_client" | "unauthorized_client"))
    }
}

fn described(description: Option<&String>) -> String {
    description.map(|text| format!(" ({text})")).unwrap_or_default()
}

/// Text of others on one line: at most 200 characters, and only those that RFC 6749 (section 5.2) allows.
pub(super) fn tame(text: &str) -> String {
    text.chars().filter(|c| matches!(c, ' '..='~')).take(200).collect()
}
