//! This process becomes the parent of orphans, and recognizes them by a variable that each inherits.

use std::{
    fs,
    sync::{
        Once,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use nix::{
    sys::{
        prctl::set_child_subreaper,
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};
use tokio::{
    process::Command,
    time::{Instant, sleep},
};

use super::MARK;

/// How long strays may take to end after SIGTERM.
const AFTER_TERM: Duration = Duration::from_millis(300);
/// How often to check whether they have ended.
const LOOK: Duration = Duration::from_millis(10);
/// How often to look for processes that become ours only when others end.
const GENERATIONS: usize = 8;

/// The mark of everything that one server starts.
#[derive(Debug)]
pub(in crate::transport::stdio) struct Mark(String);

impl Mark {
    /// Marks everything that `command` will start.
    pub(in crate::transport::stdio) fn new(command: &mut Command) -> Self {
        static ADOPTS: Once = Once::new();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // If this is refused, strays are not found; nothing else depends on it.
        ADOPTS.call_once(|| _ = set_child_subreaper(true));
        let mark = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &mark);
        Self(format!("{MARK}={mark}"))
    }

    /// Ends what remains after the group has ended: SIGTERM, a short wait, SIGKILL.
    pub(in crate::transport::stdio) async fn end(&self) {
        for _ in 0..GENERATIONS {
            let strays = self.strays();
            if strays.is_empty() {
                return;
            }
            signal(&strays, Signal::SIGTERM);
            let until = Instant::now() + AFTER_TERM;
            while !all_ended(&strays) && Instant::now() < until {
                sleep(LOOK).await;
            }
            signal(&strays, Signal::SIGKILL);
            all_ended(&strays);
        }
    }

    /// Kills what remains, without waiting for it.
    pub(in crate::transport::stdio) fn kill(&self) {
        signal(&self.strays(), Signal::SIGKILL);
    }

    fn strays(&self) -> Vec<Pid> {
        children().into_iter().filter(|child| self.is_on(*child)).collect()
    }

    fn is_on(&self, child: Pid) -> bool {
        has_variable(child, |variable| variable == self.0.as_bytes())
    }
}

/// The remaining processes that were started by servers of the process `marker`, which is gone itself.
pub(crate) fn strays_of(marker: u32) -> Vec<i32> {
    let mark = format!("{MARK}={marker}-");
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = all.filter_map(|entry| Some(Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)));
    let strays = processes.filter(|process| has_variable(*process, |variable| variable.starts_with(mark.as_bytes())));
    strays.map(Pid::as_raw).collect()
}

fn has_variable(process: Pid, is_it: impl Fn(&[u8]) -> bool) -> bool {
    let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    variables.split(|byte| *byte == 0).any(is_it)
}

/// The child processes of this process.
fn children() -> Vec<Pid> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let ids =
        |list: String| list.split_whitespace().filter_map(|id| id.parse().ok()).map(Pid::from_raw).collect::<Vec<_>>();
    lists.flat_map(ids).collect()
}

fn signal(strays: &[Pid], signal: Signal) {
    for stray in strays {
        _ = kill(*stray, signal);
    }
}

/// Whether all have ended; they are waited for, so that none stays as a zombie.
fn all_ended(strays: &[Pid]) -> bool {
    // A process that was already waited for is no longer a child, which is an error.
    let ended = |stray: &Pid| waitpid(*stray, Some(WaitPidFlag::WNOHANG)).map_or(true, |status| status.pid().is_some());
    strays.iter().filter(|stray| !ended(stray)).count() == 0
}
