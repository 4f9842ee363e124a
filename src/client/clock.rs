use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// If we wake up this much too late, the process was stopped meanwhile (Ctrl-Z in a shell).
const STOPPED: Duration = Duration::from_secs(1);
/// How long to process what arrived in that time, before a timeout counts.
const CATCH_UP: Duration = Duration::from_secs(1);

/// Time that is paused while somebody holds a [`ClockPause`]: while a question is open, or while waiting for an
/// accepted link.
#[derive(Clone)]
pub(super) struct Clock {
    state: Arc<Mutex<ClockState>>,
    changed: watch::Sender<()>,
}

struct ClockState {
    pauses: usize,
    /// The time that had passed at `since`.
    passed: Duration,
    since: Instant,
}

/// The clock is paused until this is dropped.
pub(super) struct ClockPause(Clock);

impl Clock {
    /// A running clock at zero.
    pub(super) fn new() -> Self {
        let state = ClockState { pauses: 0, passed: Duration::ZERO, since: Instant::now() };
        Self { state: Arc::new(Mutex::new(state)), changed: watch::Sender::new(()) }
    }

    /// The time that has passed, without pauses.
    pub(super) fn now(&self) -> Duration {
        self.lock().now()
    }

    /// Pauses the clock. It continues when all pauses are dropped.
    pub(super) fn pause(&self) -> ClockPause {
        let mut state = self.lock();
        (state.passed, state.since) = (state.now(), Instant::now());
        state.pauses += 1;
        drop(state);
        self.changed.send_replace(());
        ClockPause(self.clone())
    }

    /// Waits until the clock shows `at`, or a little longer if the process was stopped. Cancel-safe.
    pub(super) async fn until(&self, at: Duration) {
        let mut changed = self.changed.subscribe();
        loop {
            let (is_running, now) = {
                let state = self.lock();
                (state.pauses == 0, state.now())
            };
            if is_running && now >= at {
                return;
            }
            let (wait, began) = (at.saturating_sub(now), Instant::now());
            tokio::select! {
                // The clock itself holds the sender, so this cannot fail.
                _ = changed.changed() => {}
                () = sleep(wait), if is_running => {
                    if began.elapsed().saturating_sub(wait) > STOPPED {
                        sleep(CATCH_UP).await;
                    }
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, ClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClockState {
    fn now(&self) -> Duration {
        if self.pauses == 0 { self.passed + self.since.elapsed() } else { self.passed }
    }
}

impl Drop for ClockPause {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.pauses -= 1;
        if state.pauses == 0 {
            state.since = Instant::now();
        }
        drop(state);
        self.0.changed.send_replace(());
    }
}

/// How long a request may take: in silence, and in total. Both are paused with the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// How long it may be silent.
    pub(super) silence: Duration,
    /// The clock's time at which it is over in any case.
    pub(super) until: Duration,
    /// The total when it began.
    pub(super) total: Duration,
}

impl Patience {
    /// At most `silence` without a sign of life, and `total` from now on.
    pub(super) fn new(clock: &Clock, silence: Duration, total: Duration) -> Self {
        Self { silence, until: clock.now() + total, total }
    }

    /// At most `total` from now on.
    pub(super) fn at_most(clock: &Clock, total: Duration) -> Self {
        Self::new(clock, total, total)
    }

    /// Waits until it is over, and returns how long that was. `heard` has the time of the last sign of life.
    /// Cancel-safe.
    pub(super) async fn over(self, clock: &Clock, mut heard: watch::Receiver<Duration>) -> Duration {
        loop {
            let quiet_until = *heard.borrow_and_update() + self.silence;
            let at = quiet_until.min(self.until);
            tokio::select! {
                Ok(()) = heard.changed() => {}
                () = clock.until(at) => return if quiet_until <= self.until { self.silence } else { self.total },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn pauses_do_not_count_two_at_once_neither() {
        let clock = Clock::new();
        sleep(SECOND).await;
        let (first, second) = (clock.pause(), clock.pause());
        sleep(5 * SECOND).await;
        drop(first);
        sleep(5 * SECOND).await;
        drop(second);
        sleep(SECOND).await;
        assert_eq!(clock.now(), 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_follows_the_clock() {
        let (clock, start) = (Clock::new(), Instant::now());
        let pause = clock.pause();
        let waiter = tokio::spawn({
            let clock = clock.clone();
            async move { clock.until(2 * SECOND).await }
        });
        sleep(10 * SECOND).await;
        drop(pause);
        waiter.await.expect("waited");
        assert_eq!(start.elapsed().as_secs(), 12);
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_was_stopped_reads_what_came_first() {
        let (clock, start) = (Clock::new(), Instant::now());
        let waiter = tokio::spawn({
            let clock = clock.clone();
            async move { clock.until(2 * SECOND).await }
        });
        tokio::task::yield_now().await;
        tokio::time::advance(10 * SECOND).await;
        waiter.await.expect("waited");
        assert_eq!(start.elapsed().as_secs(), 11);
    }

    #[tokio::test(start_paused = true)]
    async fn signs_of_life_count_up_to_the_total() {
        let (clock, start) = (Clock::new(), Instant::now());
        let (heard, listener) = watch::channel(clock.now());
        let patience = Patience::new(&clock, 2 * SECOND, 7 * SECOND);
        let talk = async {
            loop {
                sleep(SECOND).await;
                heard.send_replace(clock.now());
            }
        };
        let after = tokio::select! {
            after = patience.over(&clock, listener) => after,
            () = talk => unreachable!("it never ends"),
        };
        assert_eq!((after, start.elapsed().as_secs()), (7 * SECOND, 7));
        let (_heard, listener) = watch::channel(clock.now());
        assert_eq!(Patience::new(&clock, SECOND, 9 * SECOND).over(&clock, listener).await, SECOND);
    }
}
