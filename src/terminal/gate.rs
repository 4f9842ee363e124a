use std::{
    collections::VecDeque,
    io::{self, Write},
    mem,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// How many texts are kept while a prompt is open; the oldest go first.
const KEPT: usize = 1000;

/// The one door to standard error: what is printed while a prompt is open is kept until it is closed.
///
/// ```no_run
/// toolnexus::terminal::gate().print("forms: 3 of 9 files\n");
/// ```
#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug)]
struct State {
    held: bool,
    kept: VecDeque<(Stream, String)>,
    dropped: usize,
    status: Option<String>,
}

/// Where a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

static GATE: Gate = Gate {
    state: Mutex::new(State { held: false, kept: VecDeque::new(), dropped: 0, status: None }),
    freed: Condvar::new(),
};

/// The gate of this process.
pub fn gate() -> &'static Gate {
    &GATE
}

/// Whether a prompt is open. Then SIGINT belongs to the prompt, which cancels its question, and not to the call.
pub fn is_asking() -> bool {
    OPEN.load(Ordering::Acquire) > 0
}

/// Whether a prompt waits for the one that is open.
pub(super) fn others_ask() -> bool {
    OPEN.load(Ordering::Acquire) > 1
}

/// How many prompts are open, or about to be.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A prompt is open for as long as this lives. Whoever waits for the prompt keeps it, and not the prompt itself: so a
/// SIGINT that closed a prompt is still that prompt's when others look at it.
#[derive(Debug)]
pub(super) struct Open(());

impl Open {
    pub(super) fn new() -> Self {
        OPEN.fetch_add(1, Ordering::AcqRel);
        Self(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Gate {
    /// Prints `text`, whole lines that are safe for a terminal, to standard error: now, or when the prompt is closed.
    /// Never waits for a person.
    pub fn print(&self, text: &str) {
        self.pass(Stream::Stderr, text);
    }

    /// The same to standard output, where that is a terminal too.
    pub fn print_to_stdout(&self, text: &str) {
        self.pass(Stream::Stdout, text);
    }

    fn pass(&self, stream: Stream, text: &str) {
        let mut state = self.lock();
        if !state.held {
            if state.status.is_some() {
                write("\r\x1b[K");
            }
            stream.write(text);
            return write(state.status.as_deref().unwrap_or_default());
        }
        if state.kept.len() == KEPT {
            state.kept.pop_front();
            state.dropped += 1;
        }
        state.kept.push_back((stream, text.to_owned()));
    }

    /// Shows `line` under everything that is printed, in place of the one before; `None` takes it away. For terminals
    /// that can move the cursor. `line` is safe, narrower than the terminal, and has no line end.
    pub fn status(&self, line: Option<&str>) {
        let mut state = self.lock();
        let before = mem::replace(&mut state.status, line.map(str::to_owned));
        if !state.held && before != state.status {
            write(&format!("\r\x1b[K{}", line.unwrap_or_default()));
        }
    }

    /// Closes the gate for a prompt, once the prompt before has opened it again.
    pub(super) fn hold(&'static self) -> Held {
        let mut state = self.lock();
        while state.held {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.held = true;
        if state.status.is_some() {
            write("\r\x1b[K");
        }
        Held(self)
    }

    /// Whether something was printed while a prompt is open.
    pub(super) fn has_kept(&self) -> bool {
        !self.lock().kept.is_empty()
    }

    /// Prints what was kept, while the prompt that is open has taken itself away.
    pub(super) fn print_kept(&self) {
        self.lock().print_kept();
    }

    fn open(&self) {
        let mut state = self.lock();
        state.held = false;
        state.print_kept();
        write(state.status.as_deref().unwrap_or_default());
        drop(state);
        self.freed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn print_kept(&mut self) {
        if mem::take(&mut self.dropped) > 0 {
            write("… older lines were left out\n");
        }
        for (stream, text) in self.kept.drain(..) {
            stream.write(&text);
        }
    }
}

/// The gate is closed for as long as this lives.
#[derive(Debug)]
pub(super) struct Held(&'static Gate);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.open();
    }
}

impl Stream {
    /// That a terminal is gone is nothing that could be told anywhere.
    fn write(self, text: &str) {
        let write = |mut stream: Box<dyn Write>| stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
        drop(match self {
            _ if text.is_empty() => Ok(()),
            Self::Stdout => write(Box::new(io::stdout().lock())),
            Self::Stderr => write(Box::new(io::stderr().lock())),
        });
    }
}

/// Writes to standard error.
pub(super) fn write(text: &str) {
    Stream::Stderr.write(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_take_turns() {
        let first = gate().hold();
        let second = std::thread::spawn(|| drop(gate().hold()));
        drop(first);
        second.join().expect("it got its turn");
        let open = Open::new();
        assert!(is_asking());
        drop(open);
        assert!(!is_asking());
    }
}
