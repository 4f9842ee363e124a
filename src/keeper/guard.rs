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

/// Watches a keeper: reads the process groups of its servers (`+GROUP` when one starts, `-GROUP` when it has ended, one
/// per line), and ends those that remain when the keeper itself is gone, for whatever reason.
///
/// # Errors
/// If standard input cannot be read.
pub fn guard() -> io::Result<()> {
    let keeper = parent_process();
    // A signal for the terminal's programs, or for the keeper, must not end the guard first.
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
    // Servers that the keeper ended itself have been removed from the list.
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
    // Processes that left their group are found by their mark.
    for stray in strays_of(keeper) {
        kill_process(stray);
    }
    Ok(())
}
