use std::{error::Error, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture};

use super::{Answer, Request};

/// Why a `wait_for` closure could not answer: any error. The server gets a cancel.
pub type ResolverError = Box<dyn Error + Send + Sync>;

/// The slot that answers: takes a [`Request`], waits for an answer, and returns it.
pub type WaitFor = Arc<dyn Fn(Request) -> BoxFuture<'static, Result<Answer, ResolverError>> + Send + Sync>;

/// What an answering closure may return: an [`Answer`], or a `Result` with one.
pub trait IntoAnswer {
    /// The answer, or why there is none.
    ///
    /// # Errors
    /// The closure's own error.
    fn into_answer(self) -> Result<Answer, ResolverError>;
}

impl IntoAnswer for Answer {
    fn into_answer(self) -> Result<Answer, ResolverError> {
        Ok(self)
    }
}

impl IntoAnswer for Result<Answer, ResolverError> {
    fn into_answer(self) -> Result<Answer, ResolverError> {
        self
    }
}

/// Wraps an async closure as a [`WaitFor`]. It returns an [`Answer`], or a `Result`, whose error is reported and
/// cancels the question.
///
/// ```
/// use toolnexus::elicitation::{Answer, Request, make_answer, wait_for};
/// let yes = wait_for(async |request: Request| Answer::accept(&request.id, None));
/// let maybe = wait_for(|request| async move { Ok(make_answer(request.id, true, None)) });
/// let never = wait_for(async |_| Err("nobody is at home".into()));
/// ```
pub fn wait_for<F, Fut>(closure: F) -> WaitFor
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAnswer> + Send + 'static,
{
    Arc::new(move |request| closure(request).map(IntoAnswer::into_answer).boxed())
}
