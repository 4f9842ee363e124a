use std::{
    io::{self, PipeReader, PipeWriter, Read, Write},
    os::fd::{AsFd, BorrowedFd},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

/// What may happen to an open prompt from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::terminal) enum AlarmCause {
    /// The question is gone.
    Withdrawn = 1,
    /// SIGINT arrived.
    Interrupted = 2,
    /// Ctrl-Z: the program should stop until the shell continues it.
    Suspended = 8,
    /// The terminal has another size, or what is shown has changed.
    Changed = 4,
}

/// Wakes a thread that waits for a key: a pipe that it polls together with the terminal. The byte in the pipe is
/// written by whoever sets the first cause, so the pipe never fills.
#[derive(Debug)]
pub(in crate::terminal) struct Alarm {
    causes: Arc<AtomicU8>,
    pipe: PipeReader,
}

/// The other end of an [`Alarm`].
#[derive(Clone, Debug)]
pub(in crate::terminal) struct Bell {
    causes: Arc<AtomicU8>,
    pipe: Arc<PipeWriter>,
}

impl Bell {
    pub(in crate::terminal) fn ring(&self, cause: AlarmCause) {
        if self.causes.fetch_or(cause as u8, Ordering::AcqRel) == 0 {
            // It fails only if nobody waits any more.
            drop((&*self.pipe).write(&[0]));
        }
    }
}

impl Alarm {
    pub(in crate::terminal) fn new() -> io::Result<(Self, Bell)> {
        let (reader, writer) = io::pipe()?;
        let causes = Arc::new(AtomicU8::new(0));
        Ok((Self { causes: Arc::clone(&causes), pipe: reader }, Bell { causes, pipe: Arc::new(writer) }))
    }

    /// The descriptor to poll.
    pub(in crate::terminal) fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// What rang within `time`, if anything did.
    pub(in crate::terminal) fn wait(&self, time: Duration) -> io::Result<Option<AlarmCause>> {
        let mut fds = [PollFd::new(self.fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        match poll(&mut fds, timeout) {
            Ok(1..) => self.take().map(Some),
            Ok(_) | Err(Errno::EINTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The most serious cause of a bell that has rung: call it when the pipe is readable.
    pub(in crate::terminal) fn take(&self) -> io::Result<AlarmCause> {
        (&self.pipe).read_exact(&mut [0])?;
        let causes = self.causes.swap(0, Ordering::AcqRel);
        let of = |cause: &AlarmCause| causes & *cause as u8 != 0;
        Ok([AlarmCause::Withdrawn, AlarmCause::Interrupted, AlarmCause::Suspended]
            .into_iter()
            .find(of)
            .unwrap_or(AlarmCause::Changed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rings_are_one_and_the_gravest_counts() {
        let (alarm, bell) = Alarm::new().expect("a pipe");
        for _ in 0..100_000 {
            bell.ring(AlarmCause::Changed);
        }
        bell.ring(AlarmCause::Withdrawn);
        bell.ring(AlarmCause::Interrupted);
        assert_eq!(alarm.take().expect("rung"), AlarmCause::Withdrawn);
        bell.ring(AlarmCause::Changed);
        assert_eq!(alarm.take().expect("rung again"), AlarmCause::Changed);
    }
}
