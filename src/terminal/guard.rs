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
    kind: GuardKind,
}

/// What a prompt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuardKind {
    Consent,
    Entry,
    Sending,
}

impl Guard {
    /// For consent, confirmation and trust: no key counts until there was a pause.
    pub(super) fn of_consent() -> Self {
        Self::new(GuardKind::Consent)
    }

    /// For values that can be reviewed later: Enter counts after a pause, or after any other key.
    pub(super) fn of_entry() -> Self {
        Self::new(GuardKind::Entry)
    }

    /// For values that Enter sends: Enter counts only after a pause, so that it does not send what was still being typed
    /// for something else when the prompt appeared. Other keys count at once.
    pub(super) fn of_sending() -> Self {
        Self::new(GuardKind::Sending)
    }

    fn new(kind: GuardKind) -> Self {
        Self { since: Instant::now(), is_open: false, kind }
    }

    /// Whether `key`, which was pressed now, counts.
    pub(super) fn takes(&mut self, key: &Key) -> bool {
        self.takes_at(key, Instant::now())
    }

    fn takes_at(&mut self, key: &Key, now: Instant) -> bool {
        let is_other = *key != Key::Enter;
        let was_quiet = now.saturating_duration_since(self.since) >= QUIET;
        self.is_open |= was_quiet || (is_other && self.kind == GuardKind::Entry);
        self.since = now;
        self.is_open || (is_other && self.kind == GuardKind::Sending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_key_never_counts() {
        for pause in [33, 100, 200, 399] {
            for mut guard in [Guard::of_consent(), Guard::of_entry(), Guard::of_sending()] {
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

    #[test]
    fn what_is_sent_by_enter_is_typed_at_once_but_sent_only_after_a_pause() {
        let ms = Duration::from_millis;
        let mut guard = Guard::of_sending();
        let begin = guard.since;
        assert!(guard.takes_at(&Key::Char('x'), begin) && !guard.takes_at(&Key::Enter, begin + ms(10)));
        assert!(guard.takes_at(&Key::Char('y'), begin + ms(20)) && !guard.takes_at(&Key::Enter, begin + ms(30)));
        assert!(guard.takes_at(&Key::Enter, begin + ms(430)));
        let mut guard = Guard::of_sending();
        let begin = guard.since + QUIET;
        assert!(guard.takes_at(&Key::Char('x'), begin) && guard.takes_at(&Key::Enter, begin + ms(10)));
    }
}
