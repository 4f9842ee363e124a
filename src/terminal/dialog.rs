use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    Alarm, AlarmCause, Bell, DialogSignals, Terminal,
    gate::{OpenPrompt, gate},
    leave_signals,
    stage::{DialogEnd, Stage, TypedAhead},
};

/// Ends the dialog of a future that is dropped.
struct Hold(Bell);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.ring(AlarmCause::Withdrawn);
    }
}

impl Terminal {
    /// Runs `dialog` on a separate thread, alone at the terminal, until its end. `stop` ends it immediately, without a
    /// key press, and so does SIGINT; `ready` gets a bell that redraws the dialog. However it ends, the terminal is
    /// restored before this returns.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        stop: &CancellationToken,
        ready: impl FnOnce(Bell),
        dialog: impl FnOnce(&mut Stage) -> Result<T, DialogEnd> + Send + 'static,
    ) -> Result<T, DialogEnd> {
        self.run_after(TypedAhead::Dropped, stop, ready, dialog).await
    }

    /// Like [`Terminal::run`]; `ahead` says what happens to keys that were pressed before.
    pub(super) async fn run_after<T: Send + 'static>(
        &self,
        ahead: TypedAhead,
        stop: &CancellationToken,
        ready: impl FnOnce(Bell),
        dialog: impl FnOnce(&mut Stage) -> Result<T, DialogEnd> + Send + 'static,
    ) -> Result<T, DialogEnd> {
        if stop.is_cancelled() {
            return Err(DialogEnd::Withdrawn);
        }
        let _open = OpenPrompt::new();
        let (alarm, bell) = Alarm::new()?;
        let (sender, mut ended) = oneshot::channel();
        let mut signals = DialogSignals::new()?;
        let terminal = self.clone();
        thread::Builder::new().name("prompt".to_owned()).spawn(move || {
            leave_signals();
            let held = gate().hold();
            let result = catch_unwind(AssertUnwindSafe(|| dialog(&mut Stage::open(&terminal, alarm, ahead)?)));
            drop(held);
            drop(sender.send(
                result.unwrap_or_else(|_| Err(DialogEnd::Gone(io::Error::other("the prompt stopped unexpectedly")))),
            ));
        })?;
        let hold = Hold(bell.clone());
        ready(bell);
        let mut stopped = false;
        loop {
            tokio::select! {
                biased;
                result = &mut ended => {
                    return result.unwrap_or_else(|_| Err(DialogEnd::Gone(io::Error::other("the prompt stopped \
                                                                                           unexpectedly"))));
                }
                () = stop.cancelled(), if !stopped => {
                    stopped = true;
                    hold.0.ring(AlarmCause::Withdrawn);
                }
                cause = signals.next() => hold.0.ring(cause),
            }
        }
    }
}
