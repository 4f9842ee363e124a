use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use futures_util::{FutureExt as _, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use super::process::Keeper;
use crate::elicitation::{Outcome, Question, Resolver, Waited, Why};

/// Answers what a server asks outside of any call, while it is started or lists its tools: the command does that was
/// served last.
pub(super) struct Latest(pub(super) Weak<Keeper>);

impl Resolver for Latest {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let asked = self.0.upgrade().and_then(|keeper| keeper.latest()).map(|link| link.ask(&question));
        async move {
            match asked {
                Some(asked) => asked.end(&stop).await,
                None => Outcome::Unanswerable(Why::new("no command was there to answer it")),
            }
        }
        .boxed()
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        match self.0.upgrade().and_then(|keeper| keeper.latest()) {
            Some(command) => command.wait(link, done, limit).boxed(),
            None => std::future::ready(Waited::Cancel).boxed(),
        }
    }
}
