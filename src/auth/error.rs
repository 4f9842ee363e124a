use std::time::Duration;

use super::StoreError;
use crate::transport::TransportError;

/// Why a sign-in did not succeed. Nothing in it is secret; what others said is safe to show on one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Something cannot be used as it is: metadata, a key, a setting.
    #[error("{0}")]
    Unusable(String),
    /// A document or an answer did not come.
    #[error("{what} got no answer")]
    Missing {
        /// What was asked for.
        what: &'static str,
        /// Why.
        source: TransportError,
    },
    /// The authorization server said no.
    #[error("the authorization server refused {what}: {error}{}", described(.description.as_ref()))]
    Refused {
        /// What we asked for.
        what: &'static str,
        /// Its error code.
        error: String,
        /// What it says about that.
        description: Option<String>,
    },
    /// The person said no, or closed the question.
    #[error("you did not sign in")]
    No,
    /// There is nobody who could sign in.
    #[error("there is nobody to sign in")]
    Nobody,
    /// The person did not come back in time.
    #[error("nobody signed in within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// What is kept cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AuthError {
    /// A clause.
    pub(super) fn unusable(reason: impl Into<String>) -> Self {
        Self::Unusable(reason.into())
    }

    /// An error code of an authorization server, and its description, cut and made harmless.
    pub(super) fn refused(what: &'static str, error: &str, description: Option<&str>) -> Self {
        Self::Refused { what, error: tame(error), description: description.map(tame) }
    }

    /// Whether the authorization server knows the token or the client no more.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Self::Refused { error, .. } if matches!(error.as_str(), "invalid_grant" | "invalid_client" | "unauthorized_client"))
    }
}

fn described(description: Option<&String>) -> String {
    description.map(|text| format!(" ({text})")).unwrap_or_default()
}

/// Others' words on one line: at most 200 characters, and only those that RFC 6749 (section 5.2) allows.
pub(super) fn tame(text: &str) -> String {
    text.chars().filter(|c| matches!(c, ' '..='~')).take(200).collect()
}
