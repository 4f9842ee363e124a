use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::elicitation::{CallName, Origin, ServerName};

/// After this many questions in one call, the person is asked whether that is all right.
const MANY: usize = 20;
/// After this long without a question, a call counts as a new one.
const ANOTHER_CALL: Duration = Duration::from_secs(60);

/// How many questions each call has asked a person.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Arc<Mutex<Counts>>);

type Counts = HashMap<(ServerName, Option<CallName>), Count>;

/// What one call has asked.
#[derive(Clone, Copy, Debug)]
struct Count {
    asked: usize,
    last: Instant,
    /// Whether the person wants no more questions.
    is_silenced: bool,
}

/// What to do with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turnout {
    /// It is asked.
    Ask,
    /// The person is first asked whether so many questions are all right.
    AskWhether(usize),
    /// The person wants no more questions from this call.
    Silenced,
}

impl Tally {
    /// Counts a question of the call.
    pub(super) fn count(&self, origin: &Origin) -> Turnout {
        let mut counts = self.counts();
        let new = Count { asked: 0, last: Instant::now(), is_silenced: false };
        let count = counts.entry((origin.server.clone(), origin.call.clone())).or_insert(new);
        if count.last.elapsed() > ANOTHER_CALL {
            *count = new;
        }
        count.last = Instant::now();
        count.asked += 1;
        match count.asked {
            _ if count.is_silenced => Turnout::Silenced,
            asked if asked > MANY && asked % MANY == 1 => Turnout::AskWhether(asked - 1),
            _ => Turnout::Ask,
        }
    }

    /// The person wants no more questions from the call.
    pub(super) fn silence(&self, origin: &Origin) {
        if let Some(count) = self.counts().get_mut(&(origin.server.clone(), origin.call.clone())) {
            count.is_silenced = true;
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
