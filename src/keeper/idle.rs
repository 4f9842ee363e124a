use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long a kept server has been idle, and whether that is long enough to end it. Time while the machine sleeps does
/// not count ([`Instant`] stops), so nobody loses a server by closing the lid.
pub(super) struct Idle {
    keep_for: Duration,
    last: Mutex<Instant>,
}

/// What keeps a server in use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// Whether a command is attached.
    pub(super) is_attached: bool,
    /// Whether a call waits for an answer.
    pub(super) is_waited_for: bool,
    /// Whether it ends as soon as it is no longer used.
    pub(super) is_draining: bool,
}

impl Idle {
    /// First used at `now`.
    pub(super) fn new(keep_for: Duration, now: Instant) -> Self {
        Self { keep_for, last: Mutex::new(now) }
    }

    /// It was used at `now`.
    pub(super) fn used(&self, now: Instant) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// How long it has been idle.
    pub(super) fn since(&self, now: Instant) -> Duration {
        now.saturating_duration_since(*self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it should end.
    pub(super) fn is_over(&self, used: Use, now: Instant) -> bool {
        !used.is_attached && !used.is_waited_for && (used.is_draining || self.since(now) >= self.keep_for)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const UNUSED: Use = Use { is_attached: false, is_waited_for: false, is_draining: false };

    #[test]
    fn it_is_over_when_nobody_has_used_it_for_long_enough() {
        let start = Instant::now();
        let idle = Idle::new(15 * MINUTE, start);
        assert!(!idle.is_over(UNUSED, start + 14 * MINUTE));
        assert!(idle.is_over(UNUSED, start + 15 * MINUTE));
        idle.used(start + 14 * MINUTE);
        assert!(!idle.is_over(UNUSED, start + 28 * MINUTE));
        assert_eq!(idle.since(start + 28 * MINUTE), 14 * MINUTE);
        assert!(idle.is_over(UNUSED, start + 29 * MINUTE));
    }

    #[test]
    fn a_server_in_use_is_not_idle() {
        let start = Instant::now();
        let idle = Idle::new(MINUTE, start);
        for used in [Use { is_attached: true, ..UNUSED }, Use { is_waited_for: true, ..UNUSED }] {
            for is_draining in [false, true] {
                assert!(!idle.is_over(Use { is_draining, ..used }, start + 24 * 60 * MINUTE), "{used:?}");
            }
        }
        assert!(idle.is_over(Use { is_draining: true, ..UNUSED }, start));
    }

    #[test]
    fn a_clock_that_jumps_ends_it_once_and_one_that_goes_back_does_not() {
        let earlier = Instant::now() + 30 * MINUTE;
        let start = earlier + 30 * MINUTE;
        let idle = Idle::new(MINUTE, start);
        assert_eq!(idle.since(earlier), Duration::ZERO);
        assert!(!idle.is_over(UNUSED, earlier));
        assert!(idle.is_over(UNUSED, start + 7 * 24 * 60 * MINUTE));
        // A command that attaches right after the jump uses it, and it continues.
        idle.used(start + 7 * 24 * 60 * MINUTE);
        assert!(!idle.is_over(UNUSED, start + 7 * 24 * 60 * MINUTE));
    }
}
