use std::{
    io::{self, BufRead as _},
    thread::sleep,
    time::Duration,
};

use super::leave_terminal;
use crate::{
    system::{kill_process, parent_process},
    transport::{GroupId, strays_of},
};

/// How long servers may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// Watches a keeper: reads the process groups of its servers (`+GROUP` when one starts, `-GROUP` when it has ended, one a
/// line), and ends those that are left when the keeper itself is gone, however it went.
///
/// # Errors
/// When standard input cannot be read.
pub fn guard() -> io::Result<()> {
    let keeper = parent_process();
    // What is sent to the terminal's programs, or to the keeper's, does not end it first.
    leave_terminal();
    let mut groups: Vec<GroupId> = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        match (line.get(..1), line.get(1..).and_then(|group| group.parse().ok())) {
            (Some("+"), Some(group)) => groups.push(group),
            (Some("-"), Some(group)) => groups.retain(|known| *known != group),
            _ => {}
        }
    }
    // What a keeper ends itself it has told.
    if groups.is_empty() {
        return Ok(());
    }
    let alive = || groups.iter().any(|group| group.is_there());
    if groups.iter().filter(|group| group.terminate()).count() > 0 {
        let steps = 25;
        for _ in 0..steps {
            if !alive() {
                break;
            }
            sleep(GRACE / steps);
        }
        for group in &groups {
            _ = group.kill();
        }
    }
    // What has left its group is found by its mark.
    for stray in strays_of(keeper) {
        kill_process(stray);
    }
    Ok(())
}
