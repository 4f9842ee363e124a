use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::elicitation::{Cause, Outcome, Question, Resolver};

/// Puts every question aside for a later run. A legacy server's call outlives the command only if the server is kept;
/// otherwise the client refuses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deferred;

impl Resolver for Deferred {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let outcome = match &question.origin.cause {
            _ if stop.is_cancelled() => Outcome::Withdrawn,
            Cause::SignIn => Outcome::Pass,
            _ => Outcome::Deferred,
        };
        std::future::ready(outcome).boxed()
    }
}
