use std::{fs, time::Duration};

use super::GroupId;

/// How many processes of a group are checked, and how many threads of each.
const MOST: (usize, usize) = (64, 256);

/// What the processes of a group have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupActivity {
    /// How long they have run on a processor.
    pub(super) ran: Duration,
    /// How long they waited for a free processor.
    waited: Duration,
}

impl GroupActivity {
    /// The activity of the group with this leader; `None` if the system does not report it (Linux does).
    pub(super) fn of_group(leader: GroupId) -> Option<Self> {
        let mut activity = Self::default();
        let mut known = vec![leader.leader()];
        let mut next = 0;
        while let Some(process) = known.get(next).copied() {
            next += 1;
            let threads = fs::read_dir(format!("/proc/{process}/task"));
            for thread in threads.into_iter().flatten().flatten().take(MOST.1) {
                activity.add(&fs::read_to_string(thread.path().join("schedstat")).ok()?)?;
                let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                let children = children.split_whitespace().filter_map(|child| child.parse().ok());
                known.extend(children.filter(|child| leader.has(*child)));
                known.truncate(MOST.0);
            }
        }
        // If the leader is gone, its children cannot be found from here.
        (activity != Self::default()).then_some(activity)
    }

    /// Adds the content of `/proc/PID/task/TID/schedstat`: nanoseconds on a processor, and waiting for one.
    fn add(&mut self, schedstat: &str) -> Option<()> {
        let mut numbers = schedstat.split_whitespace().map(|number| number.parse().map(Duration::from_nanos));
        self.ran += numbers.next()?.ok()?;
        self.waited += numbers.next()?.ok()?;
        Some(())
    }

    /// The activity since `before`. Threads that have ended are no longer counted, so the real value is at least this.
    pub(super) fn since(self, before: Self) -> Self {
        Self { ran: self.ran.abs_diff(before.ran), waited: self.waited.abs_diff(before.waited) }
    }

    /// How long they ran or wanted to run.
    pub(super) fn total(self) -> Duration {
        self.ran + self.waited
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        os::unix::process::CommandExt as _,
        process::{Child, Command, Stdio},
        time::Instant,
    };

    use super::*;

    fn group(script: &str) -> (Child, GroupId) {
        let mut command = Command::new("sh");
        let child = command.args(["-c", script]).process_group(0).stdout(Stdio::null()).spawn().expect("started");
        let leader = GroupId::of_leader(child.id()).expect("a process");
        (child, leader)
    }

    #[test]
    fn a_child_that_works_counts_for_its_group() {
        let (mut leader, id) = group("sh -c 'while :; do :; done' & wait");
        let before = GroupActivity::of_group(id).expect("known");
        let start = Instant::now();
        while GroupActivity::of_group(id).expect("known").since(before).total() < Duration::from_millis(20) {
            assert!(start.elapsed() < Duration::from_secs(20));
        }
        assert!(id.kill());
        leader.wait().expect("waited for");
        assert_eq!(GroupActivity::of_group(id), None);
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        let mut activity = GroupActivity::default();
        assert_eq!(activity.add("12 34 5"), Some(()));
        assert_eq!((activity.ran, activity.total()), (Duration::from_nanos(12), Duration::from_nanos(46)));
        assert_eq!((activity.add(""), activity.add("x y"), activity.add("7")), (None, None, None));
    }
}
