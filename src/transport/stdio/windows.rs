use std::{io, process::ExitStatus, time::Duration};

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// How long a killed job may take to end.
const AFTER_KILL: Duration = Duration::from_millis(300);

/// A job of ours: the program that was started, and everything that it started. Killed when this is dropped.
pub(crate) struct Group {
    leader: Box<dyn ChildWrapper>,
}

/// The three standard streams of a program.
pub(crate) type Streams = (ChildStdin, ChildStdout, ChildStderr);

impl Group {
    /// Starts `command` in a job of its own.
    pub(crate) fn start(command: Command) -> io::Result<(Self, Streams)> {
        let mut leader = CommandWrap::from(command).wrap(KillOnDrop).wrap(JobObject).spawn()?;
        let streams = (leader.stdin().take(), leader.stdout().take(), leader.stderr().take());
        match streams {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((Self { leader }, (stdin, stdout, stderr))),
            _ => Err(io::Error::other("it has no standard streams")),
        }
    }

    /// Waits for the program to end. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.leader.inner_mut().wait().await
    }

    /// Ends what is left of the job.
    pub(crate) async fn end(&mut self) {
        drop(self.leader.start_kill());
        drop(tokio::time::timeout(AFTER_KILL, self.wait()).await);
    }
}

/// How a program ended, after `the server …` or the like.
pub(crate) fn describe(status: ExitStatus) -> String {
    format!("exited with status {}", status.code().unwrap_or_default())
}
