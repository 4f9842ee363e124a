use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::scope::CallScope;

/// How long a call waits for the floor before it continues without it.
const TURN: Duration = Duration::from_secs(5);
/// The number of tools, prompts and resources for which it is remembered whether they ask.
const REMEMBERED: usize = 1000;

/// Makes calls of several callers take turns while they may ask, on a connection where a question does not say which
/// call it belongs to: it then belongs to the call that is running. A call leaves the floor to the others while its own
/// question is open, and for good when it ends. Tools that were seen to end without a question need no floor.
pub(super) struct Floor {
    turn: Arc<Semaphore>,
    is_needed: AtomicBool,
    /// Whether a tool, prompt or resource asks.
    asks: Mutex<HashMap<(bool, String), bool>>,
}

/// The right to run while others wait.
pub(super) type FloorTurn = OwnedSemaphorePermit;

impl Floor {
    /// `is_needed` says whether questions arrive without their call.
    pub(super) fn new(is_needed: bool) -> Self {
        let (turn, is_needed) = (Arc::new(Semaphore::new(1)), AtomicBool::new(is_needed));
        Self { turn, is_needed, asks: Mutex::default() }
    }

    /// Questions arrive without their call, contrary to what was assumed.
    pub(super) fn need(&self) {
        self.is_needed.store(true, Ordering::Relaxed);
    }

    /// Waits until the call of `scope` may run, but only for a while.
    pub(super) async fn take(&self, scope: &CallScope) {
        if !self.is_for(scope) {
            return;
        }
        let turn = timeout(TURN, Arc::clone(&self.turn).acquire_owned()).await;
        // Meanwhile it may have turned out that it needs none.
        if let (Ok(Ok(turn)), true) = (turn, self.is_for(scope)) {
            scope.hold(turn);
        }
    }

    fn is_for(&self, scope: &CallScope) -> bool {
        let asks = self.asks.lock().unwrap_or_else(PoisonError::into_inner);
        scope.caller.is_some()
            && self.is_needed.load(Ordering::Relaxed)
            && asks.get(&scope.called()).is_none_or(|asks| *asks)
    }

    /// Learns from a finished call whether its tool asks.
    pub(super) fn learn(&self, scope: &CallScope) {
        let mut asks = self.asks.lock().unwrap_or_else(PoisonError::into_inner);
        if asks.len() < REMEMBERED || asks.contains_key(&scope.called()) {
            *asks.entry(scope.called()).or_default() |= scope.has_asked();
        }
    }
}
