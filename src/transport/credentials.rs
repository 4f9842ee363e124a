use std::fmt;

use futures_util::future::BoxFuture;
use tokio::sync::watch;

use super::Challenge;

/// What lets requests to one server through. It is asked for each request, and told of each refusal.
pub trait Credentials: Send + Sync {
    /// The headers that the next request goes out with. May take a while: a token is fetched, or another request's
    /// refusal is being seen to.
    fn headers(&self) -> BoxFuture<'_, Result<Grant, CredentialsError>>;

    /// The server refused a request with 401, or with 403 and a challenge: it was not carried out. `true` when it is
    /// worth sending again, with new headers; `false` when nothing can be done.
    fn refused<'a>(&'a self, refusal: &'a Refused) -> BoxFuture<'a, Result<bool, CredentialsError>>;

    /// Whether a person is being asked: time stands still meanwhile.
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
    /// What the server asks for.
    pub challenge: Option<Challenge>,
    /// What the request went out with.
    pub grant: Grant,
}

/// Why there are no credentials, as a clause that stands alone and is safe to show.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct CredentialsError {
    /// The clause.
    pub reason: String,
    /// Whether a person said no, or closed the question.
    pub is_no: bool,
}

impl CredentialsError {
    /// Something went wrong.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_no: false }
    }
}
