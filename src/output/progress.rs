use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::progress_line::{Doing, ProgressActivity, line};
use crate::terminal::gate;

/// Shorter waits are not shown.
const SOON: Duration = Duration::from_millis(400);
/// How often the line is redrawn.
const TICK: Duration = Duration::from_millis(100);
/// Waits with a shorter gap are shown as one.
const GAP: Duration = Duration::from_millis(200);

/// What the program is waiting for: shown on one line below all output, by a separate thread, so that it moves even
/// while nothing arrives. Prompts and all output take its place through the gate.
pub(super) struct ProgressDisplay {
    state: Mutex<ProgressState>,
    changed: Condvar,
}

struct ProgressState {
    activities: Vec<(u64, ProgressActivity)>,
    last: u64,
    /// Since when there has been something to wait for.
    busy_since: Option<Instant>,
    /// When the last wait ended.
    idle_since: Option<Instant>,
    has_thread: bool,
}

static PROGRESS: ProgressDisplay = ProgressDisplay {
    state: Mutex::new(ProgressState {
        activities: Vec::new(),
        last: 0,
        busy_since: None,
        idle_since: None,
        has_thread: false,
    }),
    changed: Condvar::new(),
};

/// Something is in progress while this lives.
#[derive(Debug)]
#[must_use]
pub struct Waiting(Option<u64>);

impl Waiting {
    /// A wait that is not shown.
    pub(super) fn unseen() -> Self {
        Self(None)
    }

    /// Shows that `doing` is in progress.
    pub(super) fn for_(doing: Doing) -> Self {
        PROGRESS.begin(doing)
    }

    /// Updates the progress.
    pub fn update(&self, change: impl FnOnce(&mut Doing)) {
        let mut state = PROGRESS.lock();
        if let Some((_, activity)) = state.activities.iter_mut().find(|(id, _)| Some(*id) == self.0) {
            change(&mut activity.doing);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(id) = self.0 else { return };
        let mut state = PROGRESS.lock();
        state.activities.retain(|(known, _)| *known != id);
        if state.activities.is_empty() {
            state.idle_since = Some(Instant::now());
            gate().status(None);
        }
    }
}

/// The progress of a call as the server reports it: how far, of how much, and a message. Returns whether such a call is
/// shown.
pub(super) fn heard(server: &str, call: Option<&str>, done: f64, total: Option<f64>, message: Option<&str>) -> bool {
    let mut state = PROGRESS.lock();
    let mut is_known = false;
    for (_, activity) in &mut state.activities {
        if activity.is_call(server, call) {
            activity.hear(done, total, message);
            is_known = true;
        }
    }
    is_known
}

impl ProgressDisplay {
    fn begin(&'static self, doing: Doing) -> Waiting {
        let mut state = self.lock();
        let now = Instant::now();
        if state.activities.is_empty() && state.idle_since.is_none_or(|idle| now - idle > GAP) {
            state.busy_since = Some(now);
        }
        state.last += 1;
        let id = state.last;
        state.activities.push((id, ProgressActivity::new(doing, now)));
        if !state.has_thread {
            // Without a thread there is no line.
            state.has_thread = thread::Builder::new().name("progress".to_owned()).spawn(|| self.show()).is_ok();
        }
        self.changed.notify_one();
        Waiting(Some(id))
    }

    fn show(&self) {
        let mut state = self.lock();
        loop {
            while state.activities.is_empty() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let now = Instant::now();
            if state.busy_since.is_some_and(|since| now - since >= SOON) {
                let columns = usize::from(console::Term::stderr().size().1);
                gate().status(Some(&line(state.activities.iter().map(|(_, activity)| activity), now, columns)));
            }
            state = self.changed.wait_timeout(state, TICK).map_or_else(|gone| gone.into_inner().0, |(state, _)| state);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
