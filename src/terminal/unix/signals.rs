use std::{
    io,
    process::{Child, Command},
};

use nix::sys::signal::{SigSet, Signal as Number};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::AlarmCause;

/// The signals that concern an open dialog.
pub(in crate::terminal) struct DialogSignals {
    resized: Signal,
    interrupted: Signal,
    suspended: Signal,
}

impl DialogSignals {
    pub(in crate::terminal) fn new() -> io::Result<Self> {
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            interrupted: signal(SignalKind::interrupt())?,
            suspended: signal(SignalKind::from_raw(Number::SIGTSTP as i32))?,
        })
    }

    /// The meaning of the next one. Cancel-safe.
    pub(in crate::terminal) async fn next(&mut self) -> AlarmCause {
        tokio::select! {
            biased;
            _ = self.interrupted.recv() => AlarmCause::Interrupted,
            _ = self.suspended.recv() => AlarmCause::Suspended,
            _ = self.resized.recv() => AlarmCause::Changed,
        }
    }
}

/// From now on signals go to the other threads. Only this thread gets the key Ctrl-C, which a list turns into a signal.
pub(in crate::terminal) fn leave_signals() {
    _ = SigSet::all().thread_block();
}

/// Starts the program with the signals that this thread has blocked.
pub(in crate::terminal) fn spawn_with_signals(command: &mut Command) -> io::Result<Child> {
    SigSet::all().thread_unblock()?;
    let child = command.spawn();
    SigSet::all().thread_block()?;
    child
}
