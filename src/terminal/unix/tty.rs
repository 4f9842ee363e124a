use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    libc::_POSIX_VDISABLE,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::termios::{
        FlushArg, LocalFlags, SetArg, SpecialCharacterIndices, Termios, cfmakeraw, tcflush, tcgetattr, tcsetattr,
    },
    unistd::read,
};

use super::{
    Alarm, AlarmCause,
    job::{foreground, suspend},
};
use crate::terminal::{
    Key,
    gate::{gate, write},
};

/// How long the rest of a key may take after its first byte.
const KEY_GAP: Duration = Duration::from_millis(50);
/// How long a paste may pause.
const PASTE_GAP: Duration = Duration::from_secs(2);

/// The terminal that a prompt has to itself, and its previous state, for a program that has to end immediately.
static TAKEN: Mutex<Option<(Arc<OwnedFd>, Termios)>> = Mutex::new(None);

/// Restores the terminal, if a prompt is open, and removes the status line: the last step before the program ends
/// without waiting.
pub(crate) fn restore() {
    if let Some((input, before)) = TAKEN.lock().unwrap_or_else(PoisonError::into_inner).take() {
        _ = tcsetattr(&input, SetArg::TCSANOW, &before);
        write("\x1b[?25h\x1b[?7h\x1b[?2004l\r\n");
    }
    gate().end();
}

/// A terminal whose keys arrive one by one, without echo. When this is dropped the terminal is restored.
pub(in crate::terminal) struct Tty {
    input: Arc<OwnedFd>,
    before: Termios,
}

/// What came first.
pub(in crate::terminal) enum Ready {
    /// A key can be read.
    Input,
    /// The alarm rang.
    Alarm(AlarmCause),
    /// The time is over.
    Timeout,
}

impl Tty {
    pub(in crate::terminal) fn open(input: Arc<OwnedFd>) -> io::Result<Self> {
        foreground(&input)?;
        let before = tcgetattr(&input)?;
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some((Arc::clone(&input), before.clone()));
        let tty = Self { input, before };
        tty.take_keys()?;
        Ok(tty)
    }

    /// Keys arrive one by one, including Ctrl-C; output is unchanged. Ctrl-Z is still a signal.
    pub(in crate::terminal) fn take_keys(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        cfmakeraw(&mut raw);
        raw.output_flags = self.before.output_flags;
        raw.local_flags.set(LocalFlags::ISIG, self.before.local_flags.contains(LocalFlags::ISIG));
        for key in [SpecialCharacterIndices::VINTR, SpecialCharacterIndices::VQUIT] {
            raw.control_chars[key as usize] = _POSIX_VDISABLE;
        }
        Ok(tcsetattr(&self.input, SetArg::TCSADRAIN, &raw)?)
    }

    /// Restores the terminal, for another program.
    pub(in crate::terminal) fn restore(&self) -> io::Result<()> {
        Ok(tcsetattr(&self.input, SetArg::TCSADRAIN, &self.before)?)
    }

    /// Stops the program until the shell continues it, with the terminal restored meanwhile.
    pub(in crate::terminal) fn suspend(&self) -> io::Result<()> {
        self.restore()?;
        suspend();
        foreground(&self.input)?;
        self.take_keys()
    }

    /// The standard input for other programs.
    pub(in crate::terminal) fn input(&self) -> &OwnedFd {
        &self.input
    }

    /// Discards text that was typed and not yet read.
    pub(in crate::terminal) fn flush(&self) {
        _ = tcflush(&self.input, FlushArg::TCIFLUSH);
    }

    /// Waits for a key, the alarm, or `until`.
    pub(in crate::terminal) fn wait(&self, alarm: &Alarm, until: Option<Instant>) -> io::Result<Ready> {
        loop {
            let mut fds =
                [PollFd::new(alarm.fd(), PollFlags::POLLIN), PollFd::new(self.input.as_fd(), PollFlags::POLLIN)];
            let timeout =
                until.map_or(PollTimeout::NONE, |until| timeout(until.saturating_duration_since(Instant::now())));
            match poll(&mut fds, timeout) {
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) if fds[0].any() == Some(true) => return alarm.take().map(Ready::Alarm),
                Ok(_) if fds[1].any() == Some(true) => return Ok(Ready::Input),
                Ok(_) if until.is_some_and(|until| Instant::now() >= until) => return Ok(Ready::Timeout),
                Ok(_) => {}
            }
        }
    }

    /// Reads the key whose first byte has arrived.
    pub(in crate::terminal) fn key(&self) -> io::Result<Key> {
        let first = self.byte()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut count = 0;
        Ok(Key::decode(first, &mut || {
            count += 1;
            // Only a paste is this long.
            let gap = if count > 5 { PASTE_GAP } else { KEY_GAP };
            let mut fds = [PollFd::new(self.input.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, timeout(gap)) {
                Ok(1..) => self.byte().ok().flatten(),
                _ => None,
            }
        }))
    }

    fn byte(&self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        loop {
            match read(&self.input, &mut byte) {
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
                Ok(count) => return Ok((count == 1).then_some(byte[0])),
            }
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        drop(self.restore());
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Rounded up, so that the time is really over afterwards.
fn timeout(duration: Duration) -> PollTimeout {
    PollTimeout::try_from(duration.as_millis() + 1).unwrap_or(PollTimeout::MAX)
}
