use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use super::answers::{Otherwise, suggest};
use crate::elicitation::{Answer, Outcome, Question, Resolver, Waited, Why};

/// Resolvers in order: each is asked if those before it pass. The last step decides what happens to a question that
/// nobody answered.
#[derive(Clone)]
pub struct Chain(Arc<Links>);

crate::text::opaque! { Chain }

struct Links {
    resolvers: Vec<Arc<dyn Resolver>>,
    otherwise: Otherwise,
    /// Which resolver accepted which link, by the request's id, until it is waited for.
    accepted: Mutex<HashMap<String, usize>>,
}

impl Chain {
    /// The chain of `resolvers`, followed by `otherwise`. [`Otherwise::Prompt`] asks `person`, and fails if there is
    /// none.
    pub fn new(mut resolvers: Vec<Arc<dyn Resolver>>, person: Option<Arc<dyn Resolver>>, otherwise: Otherwise) -> Self {
        if otherwise == Otherwise::Prompt {
            resolvers.extend(person);
        }
        Self(Arc::new(Links { resolvers, otherwise, accepted: Mutex::default() }))
    }
}

impl Links {
    /// Asks from resolver `next` on, as long as the answers are immediately available.
    fn ask(
        self: Arc<Self>,
        mut next: usize,
        question: Arc<Question>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, Outcome> {
        while let Some(resolver) = self.resolvers.get(next) {
            let mut claimed = resolver.claim(Arc::clone(&question), stop.clone());
            match (&mut claimed).now_or_never() {
                Some(Outcome::Pass) => next += 1,
                Some(outcome) => return std::future::ready(self.ended(next, &question, outcome)).boxed(),
                None => {
                    return async move {
                        match claimed.await {
                            Outcome::Pass => self.ask(next + 1, question, stop).await,
                            outcome => self.ended(next, &question, outcome),
                        }
                    }
                    .boxed();
                }
            }
        }
        std::future::ready(self.at_the_end(&question)).boxed()
    }

    fn ended(&self, index: usize, question: &Question, outcome: Outcome) -> Outcome {
        if question.request.is_link() && matches!(&outcome, Outcome::Answered(answer) if answer.ok) {
            let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
            accepted.insert(question.request.id.clone(), index);
        }
        outcome
    }

    fn at_the_end(&self, question: &Question) -> Outcome {
        let id = &question.request.id;
        match self.otherwise {
            Otherwise::Decline => Outcome::Answered(Answer::decline(id)),
            Otherwise::Cancel => Outcome::Answered(Answer::cancel(id)),
            Otherwise::Prompt | Otherwise::Fail => {
                let remarks = self.resolvers.iter().filter_map(|resolver| resolver.remark(question));
                Outcome::Unanswerable(unanswered(question, remarks.collect()))
            }
        }
    }
}

/// Nobody answered `question`, for the reasons in `remarks`; the hint is an entry that would answer it.
fn unanswered(question: &Question, mut remarks: Vec<String>) -> Why {
    let entry = suggest(question);
    let legend = if entry.contains("null") { "\n(null is a placeholder for a value that you fill in)" } else { "" };
    remarks.insert(0, "nobody answered it".to_owned());
    Why::new(remarks.join("; "))
        .with_hint(format!("add this entry to an answers file and pass it with --answers:\n  {entry}{legend}"))
}

impl Resolver for Chain {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        Arc::clone(&self.0).ask(0, question, stop)
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        let index = self.0.accepted.lock().unwrap_or_else(PoisonError::into_inner).remove(&link.request.id);
        match index.and_then(|index| self.0.resolvers.get(index)) {
            Some(resolver) => resolver.wait(link, done, limit),
            None => JustWait.wait(link, done, limit),
        }
    }
}

/// Waits like the default of [`Resolver::wait`].
struct JustWait;

impl Resolver for JustWait {
    fn claim(&self, _question: Arc<Question>, _stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        std::future::ready(Outcome::Pass).boxed()
    }
}
