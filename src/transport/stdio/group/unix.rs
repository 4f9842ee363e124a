use std::{fmt, io, os::unix::process::ExitStatusExt as _, process::ExitStatus, str::FromStr};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, killpg},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::{Pid, getpgid},
};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use tokio::process::Command;

/// A process group, identified by its leader's process id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupId(i32);

impl GroupId {
    /// The group of the leader `leader`.
    pub(in crate::transport::stdio) fn of_leader(leader: u32) -> Option<Self> {
        i32::try_from(leader).ok().map(Self)
    }

    /// Sends SIGTERM to all its processes; returns whether there were any.
    pub(crate) fn terminate(self) -> bool {
        self.signal(Some(Signal::SIGTERM))
    }

    /// Kills all its processes immediately; returns whether there were any.
    pub(crate) fn kill(self) -> bool {
        self.signal(Some(Signal::SIGKILL))
    }

    /// Whether any of its processes remains.
    pub(crate) fn is_there(self) -> bool {
        self.signal(None)
    }

    /// Waits for members that have ended: those that lost their parent are now children of this process, and remain
    /// until they are waited for.
    pub(super) fn forget_the_dead(self) {
        let member = Pid::from_raw(-self.0);
        while waitpid(member, Some(WaitPidFlag::WNOHANG)).is_ok_and(|status| status.pid().is_some()) {}
    }

    /// The process id of its leader.
    pub(in crate::transport::stdio) fn leader(self) -> i32 {
        self.0
    }

    /// Whether this process is a member.
    pub(in crate::transport::stdio) fn has(self, process: i32) -> bool {
        getpgid(Some(Pid::from_raw(process))) == Ok(Pid::from_raw(self.0))
    }

    /// Whether this is the group with the given number.
    pub(crate) fn is_group(self, number: i64) -> bool {
        i64::from(self.0) == number
    }

    fn signal(self, signal: Option<Signal>) -> bool {
        killpg(Pid::from_raw(self.0), signal) != Err(Errno::ESRCH)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for GroupId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        // 0 and 1 would be this process's own group and everybody's.
        text.parse().ok().filter(|number| *number > 1).map(Self).ok_or(())
    }
}

/// Starts `command` as the leader of its own group.
pub(super) fn lead(command: Command) -> io::Result<Box<dyn ChildWrapper>> {
    CommandWrap::from(command).wrap(ProcessGroup::leader()).spawn()
}

/// The signal that killed a program: `SIGKILL`.
pub(super) fn killer(status: ExitStatus) -> Option<String> {
    let number = status.signal()?;
    Some(Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.to_string()))
}
