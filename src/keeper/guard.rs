use std::{
    io::{self, BufRead as _},
    thread::sleep,
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill, killpg},
    unistd::{Pid, setsid},
};

use crate::transport::strays_of;

/// How long servers may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// Watches a keeper: reads the process groups of its servers (`+GROUP` when one starts, `-GROUP` when it has ended, one a
/// line), and ends those that are left when the keeper itself is gone, however it went.
///
/// # Errors
/// When standard input cannot be read.
pub fn guard() -> io::Result<()> {
    let keeper = std::os::unix::process::parent_id();
    // A session of its own: what is sent to the terminal's programs, or to the keeper's, does not end it first.
    let _ = setsid();
    let mut groups: Vec<i32> = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        match (line.get(..1), line.get(1..).and_then(|group| group.parse::<i32>().ok())) {
            (Some("+"), Some(group)) if group > 1 => groups.push(group),
            (Some("-"), Some(group)) => groups.retain(|known| *known != group),
            _ => {}
        }
    }
    // What a keeper ends itself it has told.
    if groups.is_empty() {
        return Ok(());
    }
    let tell = |signal: Signal| groups.iter().filter(|group| killpg(Pid::from_raw(**group), signal).is_ok()).count();
    let alive = || groups.iter().any(|group| killpg(Pid::from_raw(*group), None) != Err(Errno::ESRCH));
    if tell(Signal::SIGTERM) > 0 {
        let steps = 25;
        for _ in 0..steps {
            if !alive() {
                break;
            }
            sleep(GRACE / steps);
        }
        tell(Signal::SIGKILL);
    }
    // What has left its group is found by its mark.
    for stray in strays_of(keeper) {
        let _ = kill(stray, Signal::SIGKILL);
    }
    Ok(())
}
