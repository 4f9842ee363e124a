use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{
    client::clock::{Clock, ClockPause},
    elicitation::{Question, Resolver, Waited},
};

/// Waiting for what happens behind an accepted link, while the call continues and its clock is paused.
pub(super) struct LinkPause {
    /// The accepted links, by address.
    pub(super) links: Vec<String>,
    /// In a lock that is never contended: a bare future could not be shared between threads.
    waited: Mutex<BoxFuture<'static, Waited>>,
    done: CancellationToken,
    _pause: ClockPause,
}

impl LinkPause {
    /// Starts to wait for `link`, for at most `limit`.
    pub(super) fn start(
        resolver: &dyn Resolver,
        link: Arc<Question>,
        links: Vec<String>,
        limit: Duration,
        clock: &Clock,
    ) -> Self {
        let done = CancellationToken::new();
        let waited = resolver.wait(link, done.clone(), limit);
        Self { links, waited: Mutex::new(waited), done, _pause: clock.pause() }
    }

    /// Waits until it is over. Cancel-safe.
    pub(super) async fn over(&mut self) -> Waited {
        self.waited.get_mut().unwrap_or_else(PoisonError::into_inner).await
    }

    /// Ends the waiting, and makes sure that the terminal is restored.
    pub(super) async fn end(mut self) {
        self.done.cancel();
        self.waited.get_mut().unwrap_or_else(PoisonError::into_inner).await;
    }
}
