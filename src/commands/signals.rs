use std::{
    io, process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::{
    error::Error,
    output::is_blocked,
    terminal::{gate, is_asking, is_paging, restore, suspend},
    transport::stdio::kill_all,
};

#[cfg(unix)]
mod unix;

use unix::ProgramSignals;

/// What a signal asks for.
enum SignalAction {
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    /// The program should end.
    End,
}

/// The signals that end the program, handled only here. The first one fires `stop`, so that servers are told and ended
/// on every way out; a second one ends the process immediately. A signal that was ignored when the program started
/// stays ignored.
///
/// A separate thread waits for them, so that no command can block it.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    /// Fires on the first signal.
    pub(super) stop: CancellationToken,
    received: Arc<AtomicU8>,
    /// What the whole program has received, if this is for a line of a shell.
    of_program: Option<Arc<AtomicU8>>,
    lines: Arc<ShellLines>,
    /// Counts how often the command thread has responded since the first signal; 0 if nobody counts.
    beats: Arc<AtomicU64>,
}

/// Where SIGINT goes in a shell: only to the line that is running.
#[derive(Debug, Default)]
struct ShellLines {
    take_interrupts: AtomicBool,
    current: Mutex<Option<(CancellationToken, Arc<AtomicU8>)>>,
}

const INTERRUPTED: u8 = 1;
const TERMINATED: u8 = 2;

/// How long a run that cannot write its output may take to end after the first signal.
const BLOCKED: Duration = Duration::from_millis(300);
/// How long a command may compute after the first signal without responding.
const DEAF: Duration = Duration::from_millis(700);
/// How often a command that should end shows that it responds.
const BEAT: Duration = Duration::from_millis(50);

impl Signals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn install() -> io::Result<Self> {
        let signals = Self::new().begin()?;
        if let Ok(runtime) = Handle::try_current() {
            signals.beats.store(1, Ordering::Relaxed);
            let (stop, beats) = (signals.stop.clone(), Arc::clone(&signals.beats));
            runtime.spawn(async move {
                stop.cancelled().await;
                loop {
                    beats.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(BEAT).await;
                }
            });
        }
        Ok(signals)
    }

    fn new() -> Self {
        let (received, lines, beats) = (Arc::default(), Arc::default(), Arc::default());
        Self { stop: CancellationToken::new(), received, of_program: None, lines, beats }
    }

    /// The signals for one command, with a separate `stop`: what ends the program also ends the command.
    pub(super) fn for_command(&self) -> Self {
        Self { stop: self.stop.child_token(), ..self.clone() }
    }

    /// From now on SIGINT ends only the line that is running: see [`Signals::for_line`].
    pub(super) fn interrupt_lines(&self) {
        self.lines.take_interrupts.store(true, Ordering::Relaxed);
    }

    /// The signals for one line of a shell; what ends the shell also ends the line.
    pub(super) fn for_line(&self) -> Self {
        let (stop, received) = (self.stop.child_token(), Arc::default());
        let current = (CancellationToken::clone(&stop), Arc::clone(&received));
        *self.lines.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(current);
        Self { stop, received, of_program: Some(Arc::clone(&self.received)), ..self.clone() }
    }

    fn interrupt(&self) {
        if !self.lines.take_interrupts.load(Ordering::Relaxed) {
            return self.fire(INTERRUPTED);
        }
        if let Some((stop, received)) = &*self.lines.current.lock().unwrap_or_else(PoisonError::into_inner) {
            received.store(INTERRUPTED, Ordering::Relaxed);
            stop.cancel();
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

    /// The error of a command that a signal ended.
    pub(super) fn error(&self) -> Option<Error> {
        let received = std::iter::once(&self.received).chain(&self.of_program);
        match received.map(|received| received.load(Ordering::Relaxed)).find(|received| *received != 0)? {
            INTERRUPTED => Some(Error::Interrupted),
            _ => Some(Error::Terminated),
        }
    }

    /// The first signal counts; after a second one nothing is waited for.
    fn fire(&self, signal: u8) {
        let first = self.received.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
        if let Err(first) = first {
            Self::end_at_once(first);
        }
        self.stop.cancel();
        self.watch(signal);
        if is_blocked() {
            thread::spawn(move || {
                thread::sleep(BLOCKED);
                if is_blocked() {
                    Self::end_at_once(signal);
                }
            });
        }
    }

    /// Ends the process if commands only compute: what a server makes them compute is limited in steps, not in time.
    fn watch(&self, signal: u8) {
        let signals = self.clone();
        let mut seen = signals.beats.load(Ordering::Relaxed);
        if seen == 0 {
            return;
        }
        thread::spawn(move || {
            loop {
                thread::sleep(DEAF);
                let beats = signals.beats.load(Ordering::Relaxed);
                if beats == seen {
                    Self::end_at_once(signal);
                }
                seen = beats;
            }
        });
    }

    /// Ends the process, with the terminal restored and no server left.
    #[allow(clippy::exit, reason = "the thread that would return from main may be blocked")]
    fn end_at_once(signal: u8) -> ! {
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
            let mut signals = match ProgramSignals::new() {
                Ok(signals) => signals,
                Err(error) => return drop(ready.send(Err(error))),
            };
            if ready.send(Ok(())).is_err() {
                return;
            }
            loop {
                match signals.next().await {
                    // At a prompt Ctrl-C closes the question, and the call continues; a pager uses it for itself.
                    SignalAction::Interrupt if !is_asking() && !is_paging() => self.interrupt(),
                    // A prompt restores the terminal first.
                    SignalAction::Suspend if !is_asking() => gate().beside(suspend),
                    SignalAction::End => self.fire(TERMINATED),
                    SignalAction::Interrupt | SignalAction::Suspend => {}
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(signals: &Signals) -> Option<u8> {
        signals.error().map(|error| error.exit())
    }

    #[test]
    fn what_ends_the_program_ends_its_commands() {
        let program = Signals::new();
        let (first, second) = (program.for_command(), program.for_command());
        first.stop.cancel();
        assert!(!program.stop.is_cancelled() && !second.stop.is_cancelled());
        program.interrupt();
        assert!(second.stop.is_cancelled());
        assert_eq!((code(&program), code(&second)), (Some(130), Some(130)));
    }

    #[test]
    fn in_a_shell_an_interrupt_ends_only_the_line() {
        let program = Signals::new();
        let shell = program.for_command();
        shell.interrupt_lines();
        program.interrupt();
        let line = shell.for_line();
        assert_eq!((code(&shell), code(&line)), (None, None));
        program.interrupt();
        assert!(line.stop.is_cancelled() && !shell.stop.is_cancelled());
        assert_eq!((code(&shell), code(&line)), (None, Some(130)));
        let next = shell.for_line();
        program.fire(TERMINATED);
        assert!(next.stop.is_cancelled() && shell.stop.is_cancelled());
        assert_eq!((code(&shell), code(&next)), (Some(143), Some(143)));
    }
}
