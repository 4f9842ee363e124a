use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::ExitStatus,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    time::{Instant, sleep},
};

/// How long the group may take to end after SIGTERM.
const AFTER_TERM: Duration = Duration::from_millis(300);
/// How often it is looked whether the group has ended.
const LOOK: Duration = Duration::from_millis(10);

/// The groups that have not ended, for a program that has to end at once.
static ALIVE: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Kills every process group that was started and has not ended: the last thing before the program ends without waiting.
pub(crate) fn kill_all() {
    for id in ALIVE.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
}

/// A process group of ours: the program that was started, which leads it, and everything that it started. Whatever is
/// left of it is killed when this is dropped.
pub(crate) struct Group {
    leader: Box<dyn ChildWrapper>,
    id: Pid,
    ended: bool,
}

/// The three standard streams of a program.
pub(crate) type Streams = (ChildStdin, ChildStdout, ChildStderr);

impl Group {
    /// Starts `command` at the head of a group of its own.
    pub(crate) fn start(command: Command) -> io::Result<(Self, Streams)> {
        let mut leader = CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn()?;
        let missing = || io::Error::other("it has no standard streams");
        let id = leader.id().and_then(|id| i32::try_from(id).ok()).ok_or_else(missing)?;
        let streams = (leader.stdin().take(), leader.stdout().take(), leader.stderr().take());
        let group = Self { leader, id: Pid::from_raw(id), ended: false };
        ALIVE.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        match streams {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((group, (stdin, stdout, stderr))),
            _ => Err(missing()),
        }
    }

    /// Waits for the leader to end. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        // Not the wrapper's own `wait`, which also waits for the rest of the group.
        self.leader.inner_mut().wait().await
    }

    /// Ends what is left of the group: SIGTERM, a short wait, SIGKILL.
    pub(crate) async fn end(&mut self) {
        let until = Instant::now() + AFTER_TERM;
        if self.signal(Signal::SIGTERM) {
            while self.is_alive() && Instant::now() < until {
                sleep(LOOK).await;
            }
            self.signal(Signal::SIGKILL);
            // Whoever was just killed is gone soon, or is not ours to wait for.
            drop(tokio::time::timeout(AFTER_TERM, self.wait()).await);
        }
        self.ended = true;
    }

    fn is_alive(&mut self) -> bool {
        // The leader is a member until it is waited for.
        drop(self.leader.inner_mut().try_wait());
        killpg(self.id, None) != Err(Errno::ESRCH)
    }

    /// Whether anybody was there to get the signal.
    fn signal(&self, signal: Signal) -> bool {
        killpg(self.id, signal) != Err(Errno::ESRCH)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            self.signal(Signal::SIGKILL);
        }
        let id = self.id.as_raw();
        ALIVE.lock().unwrap_or_else(PoisonError::into_inner).retain(|alive| *alive != id);
    }
}

/// How a program ended, after `the server …` or the like.
pub(crate) fn describe(status: ExitStatus) -> String {
    let signal = status.signal().map(|number| match Signal::try_from(number) {
        Ok(signal) => format!("was killed by {signal}"),
        Err(_) => format!("was killed by signal {number}"),
    });
    signal.unwrap_or_else(|| format!("exited with status {}", status.code().unwrap_or_default()))
}
