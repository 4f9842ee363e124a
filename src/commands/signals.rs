use std::{
    fs, io, process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    thread,
    time::Duration,
};

use nix::sys::signal::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{
    error::Error,
    output::is_blocked,
    terminal::{is_asking, restore, suspend},
    transport::stdio::kill_all,
};

/// The signals that end a run: the one place that handles them. The first one fires `stop`, so that servers are told and
/// ended on every way out; a second one ends the process at once. One that was ignored when the program was started stays
/// ignored.
///
/// They are waited for on a thread of their own, which nothing that the run does can hold up.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    /// Fires on the first signal.
    pub(super) stop: CancellationToken,
    received: Arc<AtomicU8>,
    /// In a shell SIGINT ends the line that is carried out, and nothing else.
    line: Option<Arc<Mutex<Option<Signals>>>>,
}

const INTERRUPTED: u8 = 1;
const TERMINATED: u8 = 2;

/// How long a run that cannot write its output has to end after the first signal.
const BLOCKED: Duration = Duration::from_millis(300);

impl Signals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn install() -> io::Result<Self> {
        Self { stop: CancellationToken::new(), received: Arc::default(), line: None }.begin()
    }

    /// Installs them for a shell, in which SIGINT ends the line that is carried out: see [`Signals::for_line`].
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn install_for_lines() -> io::Result<Self> {
        Self { stop: CancellationToken::new(), received: Arc::default(), line: Some(Arc::default()) }.begin()
    }

    /// The signals for one line of a shell; what ends the shell ends the line too.
    pub(super) fn for_line(&self) -> Self {
        let line = Self { stop: self.stop.child_token(), received: Arc::default(), line: None };
        if let Some(current) = &self.line {
            *current.lock().unwrap_or_else(PoisonError::into_inner) = Some(line.clone());
        }
        line
    }

    fn interrupt(&self) {
        let Some(current) = &self.line else { return self.fire(INTERRUPTED) };
        if let Some(line) = &*current.lock().unwrap_or_else(PoisonError::into_inner) {
            line.received.store(INTERRUPTED, Ordering::Relaxed);
            line.stop.cancel();
        }
    }

    fn begin(self) -> io::Result<Self> {
        let signals = self;
        let listener = signals.clone();
        let (ready, is_ready) = std::sync::mpsc::channel();
        thread::Builder::new().name("signals".to_owned()).spawn(move || listener.listen(&ready))?;
        is_ready.recv().unwrap_or_else(|_| Err(io::Error::other("the signal thread ended")))?;
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

    /// The first one counts; a second one waits for nothing.
    fn fire(&self, signal: u8) {
        let first = self.received.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
        if let Err(first) = first {
            self.end_at_once(first);
        }
        self.stop.cancel();
        if is_blocked() {
            let signals = self.clone();
            thread::spawn(move || {
                thread::sleep(BLOCKED);
                if is_blocked() {
                    signals.end_at_once(signal);
                }
            });
        }
    }

    /// Ends the process, with the terminal whole and no server left.
    #[allow(clippy::exit, reason = "whoever would return from main may be blocked")]
    fn end_at_once(&self, signal: u8) -> ! {
        restore();
        kill_all();
        let error = if signal == INTERRUPTED { Error::Interrupted } else { Error::Terminated };
        process::exit(error.exit().into());
    }

    fn listen(&self, ready: &std::sync::mpsc::Sender<io::Result<()>>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(error))),
        };
        runtime.block_on(async {
            let ignored = ignored();
            let open = |wanted: Signal| {
                let is_ignored = ignored & (1 << (wanted as u32 - 1)) != 0;
                (!is_ignored).then(|| signal(SignalKind::from_raw(wanted as i32))).transpose()
            };
            let opened = (|| {
                Ok((open(Signal::SIGINT)?, open(Signal::SIGTERM)?, open(Signal::SIGHUP)?, open(Signal::SIGTSTP)?))
            })();
            let (mut interrupt, mut terminate, mut hangup, mut suspended) = match opened {
                Ok(opened) => opened,
                Err(error) => return drop(ready.send(Err(error))),
            };
            if ready.send(Ok(())).is_err() {
                return;
            }
            loop {
                tokio::select! {
                    () = next(&mut interrupt) => {
                        // At a prompt Ctrl-C closes the question, and the call goes on.
                        if !is_asking() {
                            self.interrupt();
                        }
                    }
                    () = next(&mut suspended) => {
                        // A prompt leaves the terminal whole first.
                        if !is_asking() {
                            suspend();
                        }
                    }
                    () = next(&mut terminate) => self.fire(TERMINATED),
                    () = next(&mut hangup) => self.fire(TERMINATED),
                }
            }
        });
    }
}

/// The next time that a signal comes: never, where it is ignored.
async fn next(signal: &mut Option<tokio::signal::unix::Signal>) {
    let came = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if came.is_none() {
        std::future::pending::<()>().await;
    }
}

/// The signals that were ignored when the program was started, a bit each from the first; none where the system does not
/// say (it is Linux that does).
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
