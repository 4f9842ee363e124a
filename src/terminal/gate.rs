use std::{
    collections::VecDeque,
    io::{self, Write},
    mem,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::text::width;

/// How many texts for standard error are kept while a prompt is open; the oldest are dropped first. Data is never
/// dropped.
const KEPT: usize = 1000;

/// The only way to the terminal: output is kept while a prompt is open, and printed when it is closed.
///
/// ```no_run
/// toolnexus::terminal::gate().print("forms: 3 of 9 files\n");
/// ```
#[derive(Debug)]
pub struct Gate {
    state: Mutex<GateState>,
    freed: Condvar,
}

#[derive(Debug)]
struct GateState {
    held: bool,
    kept: VecDeque<(Stream, Vec<u8>)>,
    dropped: usize,
    status: Option<String>,
    /// Whether the last output has no line end, so that nothing can be shown below it.
    is_open_line: bool,
}

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

static GATE: Gate = Gate::new();

/// The gate of this process.
pub fn gate() -> &'static Gate {
    &GATE
}

/// Whether a prompt is open. Then SIGINT belongs to the prompt, and cancels its question instead of the call.
pub fn is_asking() -> bool {
    OPEN.load(Ordering::Acquire) > 0
}

/// Whether another prompt is waiting for the open one.
pub(super) fn others_ask() -> bool {
    OPEN.load(Ordering::Acquire) > 1
}

/// How many prompts are open, or about to be.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A prompt is open while this lives. The task that waits for the prompt holds it, not the prompt itself: a SIGINT that
/// closed a prompt still counts as that prompt's when others check.
#[derive(Debug)]
pub(super) struct OpenPrompt(());

impl OpenPrompt {
    pub(super) fn new() -> Self {
        OPEN.fetch_add(1, Ordering::AcqRel);
        Self(())
    }
}

impl Drop for OpenPrompt {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Gate {
    const fn new() -> Self {
        let state = GateState { held: false, kept: VecDeque::new(), dropped: 0, status: None, is_open_line: false };
        Self { state: Mutex::new(state), freed: Condvar::new() }
    }

    /// The width of the terminal.
    pub fn columns(&self) -> usize {
        columns()
    }

    /// Prints `text`, whole lines that are safe for a terminal, to standard error: now, or when the prompt is closed.
    /// Never waits for a person.
    pub fn print(&self, text: &str) {
        // If the terminal is gone, there is nowhere to report it.
        drop(self.pass(Stream::Stderr, text.as_bytes()));
    }

    /// The same to standard output, if that is a terminal, too; `data` need not be whole lines.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn print_to_stdout(&self, data: &[u8]) -> io::Result<()> {
        self.pass(Stream::Stdout, data)
    }

    fn pass(&self, stream: Stream, text: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        if state.held {
            state.keep(stream, text);
            return Ok(());
        }
        state.erase();
        let written = stream.write(text);
        if stream == Stream::Stdout {
            state.is_open_line = !text.ends_with(b"\n");
        }
        state.show();
        written
    }

    /// Runs something that stops the program, or that writes to the terminal in another way and ends its line, with the
    /// status line hidden.
    pub fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut state = self.lock();
        if state.held {
            drop(state);
            return write();
        }
        state.erase();
        let done = write();
        state.is_open_line = false;
        state.show();
        done
    }

    /// Shows `line` below all output, instead of the previous one; `None` removes it. For terminals with a movable
    /// cursor. `line` is safe, narrower than the terminal, and has no line end.
    pub fn status(&self, line: Option<&str>) {
        let mut state = self.lock();
        if state.status.as_deref() == line {
            return;
        }
        if !state.held {
            state.erase();
        }
        state.status = line.map(str::to_owned);
        if !state.held {
            state.show();
        }
    }

    /// Removes the status line, if that is immediately possible: the last step before the program ends without waiting.
    pub(super) fn end(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            if !state.held {
                state.erase();
            }
            state.status = None;
        }
    }

    /// Closes the gate for a prompt, once the previous prompt has opened it again.
    pub(super) fn hold(&'static self) -> Held {
        let mut state = self.lock();
        while state.held {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.erase();
        state.held = true;
        Held(self)
    }

    /// Whether something was printed while a prompt was open.
    pub(super) fn has_kept(&self) -> bool {
        !self.lock().kept.is_empty()
    }

    /// Prints what was kept, while the open prompt has cleared itself from the screen.
    pub(super) fn print_kept(&self) {
        self.lock().print_kept();
    }

    fn open(&self) {
        let mut state = self.lock();
        state.held = false;
        state.print_kept();
        state.is_open_line = false;
        state.show();
        drop(state);
        self.freed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The width of the terminal.
fn columns() -> usize {
    usize::from(console::Term::stderr().size().1).max(1)
}

impl GateState {
    /// Removes the status line from the screen. In a terminal that became narrower it may have become several.
    fn erase(&self) {
        let Some(line) = self.status.as_ref().filter(|_| !self.is_open_line) else { return };
        let columns = columns();
        let above = width(line).div_ceil(columns).saturating_sub(1);
        write(&format!("\r\x1b[K{}", "\x1b[A\x1b[K".repeat(above)));
    }

    fn keep(&mut self, stream: Stream, text: &[u8]) {
        let notices = self.kept.iter().filter(|(stream, _)| *stream == Stream::Stderr).count();
        if stream == Stream::Stderr && notices == KEPT {
            let oldest = self.kept.iter().position(|(stream, _)| *stream == Stream::Stderr);
            drop(oldest.and_then(|oldest| self.kept.remove(oldest)));
            self.dropped += 1;
        }
        self.kept.push_back((stream, text.to_owned()));
    }

    fn show(&self) {
        write(self.status.as_deref().filter(|_| !self.is_open_line).unwrap_or_default());
    }

    fn print_kept(&mut self) {
        if mem::take(&mut self.dropped) > 0 {
            write("… older lines were left out\n");
        }
        for (stream, mut text) in self.kept.drain(..) {
            // A prompt may be drawn below.
            if !text.is_empty() && !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            drop(stream.write(&text));
        }
    }
}

/// The gate is closed while this lives.
#[derive(Debug)]
pub(super) struct Held(&'static Gate);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.open();
    }
}

impl Stream {
    fn write(self, text: &[u8]) -> io::Result<()> {
        let write = |mut stream: Box<dyn Write>| stream.write_all(text).and_then(|()| stream.flush());
        match self {
            _ if text.is_empty() => Ok(()),
            Self::Stdout => write(Box::new(io::stdout().lock())),
            Self::Stderr => write(Box::new(io::stderr().lock())),
        }
    }
}

/// Writes to standard error.
pub(super) fn write(text: &str) {
    drop(Stream::Stderr.write(text.as_bytes()));
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
        let open = OpenPrompt::new();
        assert!(is_asking());
        drop(open);
        assert!(!is_asking());
    }

    #[test]
    fn what_comes_during_a_prompt_is_printed_after_it_and_data_is_never_left_out() {
        static OWN: Gate = Gate::new();
        let prompt = OWN.hold();
        OWN.print_to_stdout(b"{\"row\": 1}\n").expect("kept");
        for _ in 0..=KEPT {
            OWN.print("");
        }
        let state = OWN.lock();
        assert_eq!((state.kept.len(), state.dropped), (KEPT + 1, 1));
        assert_eq!(state.kept[0], (Stream::Stdout, b"{\"row\": 1}\n".to_vec()));
        drop(state);
        drop(prompt);
        assert!(!OWN.has_kept());
    }
}
