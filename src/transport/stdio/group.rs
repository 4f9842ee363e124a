use std::{
    fs::File,
    io::{self, Write as _},
    process::ExitStatus,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use process_wrap::tokio::ChildWrapper;
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    time::{Instant, sleep, timeout, timeout_at},
};

use super::strays::Mark;

#[cfg(unix)]
mod unix;

pub(crate) use unix::GroupId;
use unix::{killer, lead};

/// How long the group may take to end after SIGTERM.
const AFTER_TERM: Duration = Duration::from_millis(300);
/// How often to check whether the group has ended: often at first.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(10);

/// Kills every process group that was started and has not ended: the last step before the program ends without waiting.
pub(crate) fn kill_all() {
    for id in groups() {
        id.kill();
    }
}

/// A process group of ours: the program that was started, which leads it, and everything that it started. When this is
/// dropped, what remains of the group is killed.
pub(crate) struct Group {
    leader: Box<dyn ChildWrapper>,
    id: GroupId,
    /// Identifies processes that left the group, if they should end with it.
    mark: Option<Mark>,
    ended: bool,
}

/// The watcher of this process's groups, and the groups.
struct Watched {
    watcher: Option<File>,
    groups: Vec<GroupId>,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched { watcher: None, groups: Vec::new() });

fn watched() -> std::sync::MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on `watcher` gets every process group that starts (`+GROUP`) and every one that has ended (`-GROUP`), one
/// per line.
pub(crate) fn watch_groups(watcher: File) {
    watched().watcher = Some(watcher);
}

/// The process groups that this process has started and that have not ended.
pub(crate) fn groups() -> Vec<GroupId> {
    watched().groups.clone()
}

impl Watched {
    fn tell(&mut self, sign: char, group: GroupId) {
        self.groups.retain(|known| *known != group);
        if sign == '+' {
            self.groups.push(group);
        }
        // If the watcher is gone, it does not watch any more.
        if let Some(watcher) = &mut self.watcher {
            let _ = writeln!(watcher, "{sign}{group}");
        }
    }
}

/// The three standard streams of a program.
pub(crate) type Streams = (ChildStdin, ChildStdout, ChildStderr);

impl Group {
    /// Starts a server as the leader of its own group. Processes that leave the group end with it if the system can
    /// find them.
    pub(crate) fn start_server(mut command: Command) -> io::Result<(Self, Streams)> {
        let mark = Mark::new(&mut command);
        Self::lead(command, Some(mark))
    }

    /// Starts `command` as the leader of its own group. Processes that leave the group are left alone.
    pub(crate) fn start(command: Command) -> io::Result<(Self, Streams)> {
        Self::lead(command, None)
    }

    fn lead(command: Command, mark: Option<Mark>) -> io::Result<(Self, Streams)> {
        let mut leader = lead(command)?;
        let missing = || io::Error::other("it has no standard streams");
        let id = leader.id().and_then(GroupId::of_leader).ok_or_else(missing)?;
        let streams = (leader.stdin().take(), leader.stdout().take(), leader.stderr().take());
        let group = Self { leader, id, mark, ended: false };
        watched().tell('+', group.id);
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

    /// Ends what remains of the group: SIGTERM, a short wait, SIGKILL. Returns whether SIGTERM was enough.
    pub(crate) async fn end(&mut self) -> bool {
        let until = Instant::now() + AFTER_TERM;
        let mut is_alive = self.id.terminate();
        if is_alive {
            // The leader is a member until it is waited for.
            drop(timeout_at(until, self.wait()).await);
            let mut look = FIRST_LOOK;
            is_alive = self.is_alive();
            while is_alive && Instant::now() < until {
                sleep(look).await;
                look = (look * 2).min(LAST_LOOK);
                is_alive = self.is_alive();
            }
        }
        if is_alive {
            self.id.kill();
            // Processes that were just killed are gone soon, or are not our children.
            drop(timeout(AFTER_TERM, self.wait()).await);
        }
        if let Some(mark) = &self.mark {
            mark.end().await;
        }
        self.ended = true;
        watched().tell('-', self.id);
        !is_alive
    }

    /// The group's id.
    pub(super) fn id(&self) -> GroupId {
        self.id
    }

    /// Whether any member remains, once the leader was waited for.
    fn is_alive(&mut self) -> bool {
        if matches!(self.leader.inner_mut().try_wait(), Ok(Some(_))) {
            self.id.forget_the_dead();
        }
        self.id.is_there()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            self.id.kill();
            self.mark.iter().for_each(Mark::kill);
            watched().tell('-', self.id);
        }
    }
}

/// How a program ended, to follow `the server …` or similar.
pub(crate) fn describe(status: ExitStatus) -> String {
    let killed = killer(status).map(|killer| format!("was killed by {killer}"));
    killed.unwrap_or_else(|| format!("exited with status {}", status.code().unwrap_or_default()))
}
