use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::{
    elicitation::{Cause, Outcome, Question, Resolver, Why},
    protocol::Era,
};

/// Puts every question aside for a later run. Only a modern server's call outlives the process; a legacy server's
/// question is refused before anybody is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deferred;

impl Resolver for Deferred {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let outcome = match (question.origin.era, &question.origin.cause) {
            _ if stop.is_cancelled() => Outcome::Withdrawn,
            (_, Cause::SignIn) => Outcome::Pass,
            (Era::Modern, _) => Outcome::Deferred,
            (Era::Legacy, _) => Outcome::Unanswerable(
                Why::new("the call cannot be put aside: on this server, which is legacy, it ends with its connection")
                    .with_hint("answer with --answers, --on-elicit or at a terminal instead of --defer"),
            ),
        };
        std::future::ready(outcome).boxed()
    }
}
