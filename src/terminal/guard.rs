use std::time::{Duration, Instant};

use super::Key;

/// How long a prompt must have been visible, without a key press, before a key counts: longer than a held key pauses,
/// and than it takes to notice that there is something new to read.
pub(super) const QUIET: Duration = Duration::from_millis(400);

/// Prevents a key that was already down from answering a prompt that nobody can have read.
#[derive(Debug)]
pub(super) struct Guard {
    /// When the prompt appeared, or a key was last ignored.
    since: Instant,
    /// Whether keys count from now on.
    is_open: bool,
    /// Whether only Enter is ignored.
    is_for_enter: bool,
}

impl Guard {
    /// For consent, confirmation and trust: no key counts until there was a pause.
    pub(super) fn of_consent() -> Self {
        Self { since: Instant::now(), is_open: false, is_for_enter: false }
    }

    /// For values that can be reviewed later: Enter counts after a pause, or after any other key.
    pub(super) fn of_entry() -> Self {
        Self { is_for_enter: true, ..Self::of_consent() }
    }

    /// Whether `key`, which was pressed now, counts.
    pub(super) fn takes(&mut self, key: &Key) -> bool {
        self.takes_at(key, Instant::now())
    }

    fn takes_at(&mut self, key: &Key, now: Instant) -> bool {
        let is_other = self.is_for_enter && *key != Key::Enter;
        if is_other || now.saturating_duration_since(self.since) >= QUIET {
            self.is_open = true;
        }
        self.since = now;
        self.is_open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_key_never_counts() {
        for pause in [33, 100, 200, 399] {
            for mut guard in [Guard::of_consent(), Guard::of_entry()] {
                let mut now = guard.since;
                for _ in 0..100 {
                    now += Duration::from_millis(pause);
                    assert!(!guard.takes_at(&Key::Enter, now));
                }
                assert!(guard.takes_at(&Key::Enter, now + QUIET));
            }
        }
    }

    #[test]
    fn an_entry_takes_what_is_typed_at_once() {
        let mut guard = Guard::of_entry();
        let now = guard.since;
        assert!(guard.takes_at(&Key::Char('a'), now) && guard.takes_at(&Key::Enter, now));
        let mut guard = Guard::of_consent();
        assert!(!guard.takes_at(&Key::Char('y'), now) && !guard.takes_at(&Key::Down, now));
    }
}
