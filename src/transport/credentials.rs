use std::fmt;

use futures_util::future::BoxFuture;
use tokio::sync::watch;

use super::Challenge;

/// Authorizes requests to one server. It is asked before each request, and told about each refusal.
pub trait Credentials: Send + Sync {
    /// The headers for the next request. May take a while: a token may have to be fetched, or another request's refusal
    /// handled.
    fn headers(&self) -> BoxFuture<'_, Result<Grant, CredentialsError>>;

    /// The server refused a request with 401, or with 403 and a challenge: it was not processed. `true` if it is worth
    /// sending again, with new headers; `false` if nothing can be done.
    fn refused<'a>(&'a self, refusal: &'a Refused) -> BoxFuture<'a, Result<bool, CredentialsError>>;

    /// Whether a person is being asked: the clock is paused meanwhile.
    fn asking(&self) -> watch::Receiver<bool>;
}

/// Headers for requests to one server. Values are secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Grant(pub Vec<(String, String)>);

impl Grant {
    /// A bearer token.
    pub fn bearer(token: &str) -> Self {
        Self(vec![("Authorization".to_owned(), format!("Bearer {token}"))])
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// A refusal.
#[derive(Clone, Debug)]
pub struct Refused {
    /// 401 or 403.
    pub status: u16,
    /// The server's challenge.
    pub challenge: Option<Challenge>,
    /// The credentials of the request.
    pub grant: Grant,
}

/// Why there are no credentials, as a complete clause that is safe to show.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct CredentialsError {
    /// The clause.
    pub reason: String,
    /// Whether a person declined, or closed the question.
    pub is_no: bool,
}

impl CredentialsError {
    /// Something went wrong.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_no: false }
    }
}
