use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use tokio_util::sync::CancellationToken;

use crate::{error::Error, terminal::is_asking};

/// The signals that end a run: the one place that handles them. From here on none of them kills the process; `stop` fires
/// instead, so that servers are told and ended on every way out.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    /// Fires on the first signal.
    pub(super) stop: CancellationToken,
    received: Arc<AtomicU8>,
}

const INTERRUPTED: u8 = 1;
const TERMINATED: u8 = 2;

impl Signals {
    /// Installs the handlers. Must be called in a runtime.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn install() -> std::io::Result<Self> {
        let signals = Self { stop: CancellationToken::new(), received: Arc::default() };
        signals.listen()?;
        Ok(signals)
    }

    /// The error of a run that a signal ended.
    pub(super) fn error(&self) -> Option<Error> {
        match self.received.load(Ordering::Relaxed) {
            INTERRUPTED => Some(Error::Interrupted),
            TERMINATED => Some(Error::Terminated),
            _ => None,
        }
    }

    fn fire(&self, signal: u8) {
        // The first one counts.
        _ = self.received.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
        self.stop.cancel();
    }

    fn listen(&self) -> std::io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};

        use crate::terminal::suspend;

        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let mut suspended = signal(SignalKind::from_raw(nix::sys::signal::Signal::SIGTSTP as i32))?;
        let signals = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    Some(()) = interrupt.recv() => {
                        // At a prompt Ctrl-C closes the question, and the call goes on.
                        if !is_asking() {
                            signals.fire(INTERRUPTED);
                        }
                    }
                    Some(()) = suspended.recv() => {
                        // A prompt leaves the terminal whole first.
                        if !is_asking() {
                            suspend();
                        }
                    }
                    Some(()) = terminate.recv() => signals.fire(TERMINATED),
                    Some(()) = hangup.recv() => signals.fire(TERMINATED),
                    else => return,
                }
            }
        });
        Ok(())
    }
}
