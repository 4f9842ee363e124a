use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Answer, IntoAnswer, Question, Request, ResolverError, WaitFor};
use crate::text::with_causes;

/// Something that answers questions. One resolver serves all servers of a host.
pub trait Resolver: Send + Sync {
    /// Takes `question`. Called in the order in which questions arrive; an entry of an answers file, or a place in the
    /// queue, is claimed before this returns. If `stop` fires (the server withdrew the question, or the call is over),
    /// the future must still run to its end, so that the terminal is restored, and should do so quickly.
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome>;

    /// Whether there is anybody to ask right now.
    fn is_there(&self) -> bool {
        true
    }

    /// Whether its answers are checked against the form before they are sent.
    fn is_held(&self) -> bool {
        true
    }

    /// Why this resolver passed on `question`, as a fragment that is safe for a terminal; shown if nobody else answers
    /// the question either.
    fn remark(&self, _question: &Question) -> Option<String> {
        None
    }

    /// Waits for what happens behind a link that this resolver accepted: until `done` fires (the notice arrived, or
    /// there is nothing left to wait for), `limit` passes, or whoever answers chooses to continue or to give up. A
    /// person sees a waiting screen; the default just waits. A resolver that consists of others passes this on to the
    /// one that accepted the link.
    fn wait(&self, _link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        async move {
            match tokio::time::timeout(limit, done.cancelled()).await {
                Ok(()) => Waited::Complete,
                Err(_) => Waited::TimedOut,
            }
        }
        .boxed()
    }
}

/// How waiting for an accepted link ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Waited {
    /// `done` fired.
    Complete,
    /// The person says that it is done.
    Continue,
    /// The person gives up waiting. The answer stands, and the server decides how the call continues.
    Cancel,
    /// The limit passed.
    TimedOut,
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Outcome {
    /// Answered: yes, no, or closed.
    Answered(Answer),
    /// Not for this resolver: the next one is asked. At the end of the chain it counts as unanswerable.
    Pass,
    /// Put aside, to be answered by a later run.
    Deferred,
    /// `stop` fired first: there is nobody to answer to.
    Withdrawn,
    /// Nobody can answer, and why. The server gets a cancel, and the program reports it and fails.
    Unanswerable(Why),
}

/// Why a question could not be answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// One sentence, without the server's and the call's name.
    pub reason: String,
    /// What to do about it, in one or more lines.
    pub hint: Option<String>,
}

impl Why {
    /// A reason without a hint.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), hint: None }
    }

    /// The reason with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A resolver whose answers are sent as they are, whether they fit the form or not: for testing servers.
#[derive(Debug)]
pub struct Unchecked<R>(pub R);

impl<R: Resolver> Resolver for Unchecked<R> {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        self.0.claim(question, stop)
    }

    fn is_there(&self) -> bool {
        self.0.is_there()
    }

    fn is_held(&self) -> bool {
        false
    }

    fn remark(&self, question: &Question) -> Option<String> {
        self.0.remark(question)
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        self.0.wait(link, done, limit)
    }
}

/// A shared resolver, or one behind `dyn`, is also a resolver.
impl<R: Resolver + ?Sized> Resolver for Arc<R> {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        (**self).claim(question, stop)
    }

    fn is_there(&self) -> bool {
        (**self).is_there()
    }

    fn is_held(&self) -> bool {
        (**self).is_held()
    }

    fn remark(&self, question: &Question) -> Option<String> {
        (**self).remark(question)
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        (**self).wait(link, done, limit)
    }
}

/// A plain [`WaitFor`] is a resolver: it answers everything. If it returns an error, the question is cancelled and the
/// error is reported.
impl Resolver for WaitFor {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        until_stopped(self(question.request.clone()), stop)
    }
}

/// Wraps a plain function, which runs on a thread where it may block. Must be used in a tokio runtime.
///
/// ```
/// use std::io::stdin;
/// use toolnexus::elicitation::{Answer, wait_for_blocking};
/// let typed = wait_for_blocking(|request| {
///     let mut line = String::new();
///     stdin().read_line(&mut line)?;
///     Ok(if line.trim() == "yes" { Answer::accept(&request.id, None) } else { Answer::decline(&request.id) })
/// });
/// ```
pub fn wait_for_blocking<F>(function: F) -> WaitFor
where
    F: Fn(Request) -> Result<Answer, ResolverError> + Send + Sync + 'static,
{
    let function = Arc::new(function);
    Arc::new(move |request| {
        let function = Arc::clone(&function);
        async move { tokio::task::spawn_blocking(move || function(request)).await? }.boxed()
    })
}

/// Wraps an async closure that gets to know who asks, and during which call, as a [`Resolver`].
///
/// ```
/// use toolnexus::elicitation::{Answer, wait_for_question};
/// let only_forms = wait_for_question(|question| async move {
///     let id = &question.request.id;
///     if question.origin.server.as_str() == "forms" { Answer::accept(id, None) } else { Answer::decline(id) }
/// });
/// ```
pub fn wait_for_question<F, Fut>(closure: F) -> Arc<dyn Resolver>
where
    F: Fn(Arc<Question>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAnswer> + Send + 'static,
{
    Arc::new(OfQuestion(move |question| closure(question).map(IntoAnswer::into_answer).boxed()))
}

struct OfQuestion<F>(F);

impl<F> Resolver for OfQuestion<F>
where
    F: Fn(Arc<Question>) -> BoxFuture<'static, Result<Answer, ResolverError>> + Send + Sync,
{
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        until_stopped((self.0)(question), stop)
    }
}

/// The outcome of `answer`, unless `stop` fires first.
fn until_stopped(
    answer: BoxFuture<'static, Result<Answer, ResolverError>>,
    stop: CancellationToken,
) -> BoxFuture<'static, Outcome> {
    async move {
        tokio::select! {
            biased;
            () = stop.cancelled() => Outcome::Withdrawn,
            answer = answer => match answer {
                Ok(answer) => Outcome::Answered(answer),
                Err(error) => Outcome::Unanswerable(Why::new(format!("the resolver failed: {}", with_causes(&*error)))),
            },
        }
    }
    .boxed()
}
