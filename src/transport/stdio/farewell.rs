//! How long to wait for a program once its input is closed.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use super::{GroupId, activity::GroupActivity};
use crate::transport::Grace;

/// How long a program may take that does nothing.
const QUIET: Duration = Duration::from_millis(200);
/// How long a program may take that is still busy.
const LONGEST: Duration = Duration::from_secs(1);
/// How long a program may take that is known to do nothing.
const BRIEF: Duration = Duration::from_millis(5);
/// How often to check its activity.
const LOOK: Duration = Duration::from_millis(100);
/// GroupActivity up to this much between two checks counts as nothing: timers and memory clean-ups run even in programs that
/// wait.
const NOTHING: Duration = Duration::from_millis(5);
/// The processor time that it takes to notice that the input was closed.
const NOTICING: Duration = Duration::from_millis(10);

/// How long a program may take to read what was written to it before its input is closed.
pub(super) fn to_read(grace: Grace) -> Duration {
    match grace {
        Grace::Exactly(time) => time / 2,
        Grace::AsNeeded | Grace::Brief => QUIET / 2,
    }
}

/// Waits as long as a program may take that was asked to end at `start`, and returns whether it did nothing in that
/// time.
pub(super) async fn wait(grace: Grace, start: Instant, group: GroupId) -> bool {
    match grace {
        Grace::Exactly(time) => {
            sleep_until(start + time).await;
            false
        }
        Grace::Brief => {
            sleep(BRIEF).await;
            true
        }
        Grace::AsNeeded => as_needed(group).await,
    }
}

async fn as_needed(group: GroupId) -> bool {
    let Some(start) = GroupActivity::of_group(group) else {
        sleep(QUIET).await;
        return false;
    };
    let (mut before, mut waited) = (start, Duration::ZERO);
    loop {
        sleep(LOOK).await;
        waited += LOOK;
        let Some(now) = GroupActivity::of_group(group) else {
            sleep(QUIET.saturating_sub(waited)).await;
            return false;
        };
        let is_quiet = now.since(before).total() < NOTHING;
        if waited >= QUIET && (is_quiet || waited >= LONGEST) {
            return is_quiet && now.since(start).ran < NOTICING;
        }
        before = now;
    }
}
