use std::{
    io::{self, BufRead as _},
    thread::sleep,
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, killpg},
    unistd::{Pid, setsid},
};

/// How long servers may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// Watches a keeper: reads the process groups of its servers (`+GROUP` when one starts, `-GROUP` when it has ended, one a
/// line), and ends those that are left when the keeper itself is gone, however it went.
///
/// # Errors
/// When standard input cannot be read.
pub fn guard() -> io::Result<()> {
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
    Ok(())
}
