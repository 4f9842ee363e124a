use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use futures_util::{FutureExt as _, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use super::{command_link::CommandLink, process::Keeper};
use crate::elicitation::{Cause, Outcome, Question, Resolver, Waited, Why};

/// Answers questions outside of any call, while a server is started, lists its tools or requires a sign-in: by the
/// command that was served last, and for a sign-in by the last one with a person.
pub(super) struct Latest {
    keeper: Weak<Keeper>,
    /// Who signs in: a sign-in asks several times, always the same command.
    signs_in: Mutex<Weak<CommandLink>>,
}

impl Latest {
    pub(super) fn new(keeper: Weak<Keeper>) -> Self {
        Self { keeper, signs_in: Mutex::default() }
    }

    fn link(&self, question: &Question) -> Option<Arc<CommandLink>> {
        let keeper = self.keeper.upgrade()?;
        if question.origin.cause != Cause::SignIn {
            return keeper.latest(false);
        }
        let mut signs_in = self.signs_in.lock().unwrap_or_else(PoisonError::into_inner);
        let link = signs_in.upgrade().filter(|link| link.is_served()).or_else(|| keeper.latest(true))?;
        *signs_in = Arc::downgrade(&link);
        Some(link)
    }
}

impl Resolver for Latest {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let asked = self.link(&question).map(|link| link.ask(&question));
        async move {
            match asked {
                Some(asked) => asked.end(&stop).await,
                None => Outcome::Unanswerable(Why::new("no command was there to answer it")),
            }
        }
        .boxed()
    }

    /// Whether there is a command with a person who could sign in.
    fn is_there(&self) -> bool {
        self.keeper.upgrade().is_some_and(|keeper| keeper.latest(true).is_some())
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        match self.link(&link) {
            Some(command) => command.wait(link, done, limit).boxed(),
            None => std::future::ready(Waited::Cancel).boxed(),
        }
    }
}
