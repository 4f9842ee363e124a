use std::{fs, io};

use nix::sys::signal::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::SignalAction;

/// The signals that end or stop the program, except those that were ignored when it started.
pub(super) struct ProgramSignals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
    suspend: Option<Signal>,
}

impl ProgramSignals {
    pub(super) fn new() -> io::Result<Self> {
        let ignored = ignored();
        let open = |wanted: Number| {
            let is_ignored = ignored & (1 << (wanted as u32 - 1)) != 0;
            (!is_ignored).then(|| signal(SignalKind::from_raw(wanted as i32))).transpose()
        };
        Ok(Self {
            interrupt: open(Number::SIGINT)?,
            terminate: open(Number::SIGTERM)?,
            hangup: open(Number::SIGHUP)?,
            suspend: open(Number::SIGTSTP)?,
        })
    }

    /// The next one. Cancel-safe.
    pub(super) async fn next(&mut self) -> SignalAction {
        tokio::select! {
            () = next(&mut self.interrupt) => SignalAction::Interrupt,
            () = next(&mut self.suspend) => SignalAction::Suspend,
            () = next(&mut self.terminate) => SignalAction::End,
            () = next(&mut self.hangup) => SignalAction::End,
        }
    }
}

/// Waits for the next signal: forever, if it is ignored.
async fn next(signal: &mut Option<Signal>) {
    let came = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if came.is_none() {
        std::future::pending::<()>().await;
    }
}

/// The signals that were ignored when the program started, one bit each; empty if the system does not say (only Linux
/// does).
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
