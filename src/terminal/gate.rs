use std::{
    collections::VecDeque,
    io::{self, Write},
    mem,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
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
    kept: VecDeque<String>,
    dropped: usize,
    status: Option<String>,
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
    GATE.lock().held
}

impl Gate {
    /// Prints `text`, whole lines that are safe for a terminal, to standard error: now, or when the prompt is closed.
    /// Never waits for a person.
    pub fn print(&self, text: &str) {
        let mut state = self.lock();
        if !state.held {
            let clear = if state.status.is_some() { "\r\x1b[K" } else { "" };
            let status = state.status.as_deref().unwrap_or_default();
            return write(&format!("{clear}{text}{status}"));
        }
        if state.kept.len() == KEPT {
            state.kept.pop_front();
            state.dropped += 1;
        }
        state.kept.push_back(text.to_owned());
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

    fn open(&self) {
        let mut state = self.lock();
        state.held = false;
        let mut text = String::new();
        if mem::take(&mut state.dropped) > 0 {
            text.push_str("… older lines were left out\n");
        }
        text.extend(state.kept.drain(..));
        text.push_str(state.status.as_deref().unwrap_or_default());
        write(&text);
        drop(state);
        self.freed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Writes to standard error. That it is gone is nothing that could be told anywhere.
pub(super) fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_take_turns() {
        let first = gate().hold();
        let second = std::thread::spawn(|| drop(gate().hold()));
        assert!(is_asking());
        drop(first);
        second.join().expect("it got its turn");
        assert!(!is_asking());
    }
}
