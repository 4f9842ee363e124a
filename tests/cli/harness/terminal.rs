use std::{
    fs::OpenOptions,
    io::{Read, Write},
    os::fd::AsFd,
    process::Child,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::{
        signal::{Signal, kill},
        termios::{Termios, tcgetattr},
    },
    unistd::Pid,
};
use pty_process::{
    Size,
    blocking::{Command, Pty, open},
};
use serde_json::Value;

use super::{Test, run::patience};

/// How long a person reads before they type: longer than the program ignores keys.
const READING: Duration = Duration::from_millis(450);

/// The program at a terminal, with a person who waits until they see something, and types.
pub(crate) struct AtTerminal {
    test: Test,
    pty: Arc<Pty>,
    child: Child,
    screen: Arc<Screen>,
    before: Termios,
}

struct Screen {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser,
    /// All output.
    written: Vec<u8>,
    is_closed: bool,
}

impl Test {
    /// Starts the program in a terminal of this size. `TERM` is a common one, and there is no pager, unless the test
    /// sets them.
    pub(crate) fn at_terminal(self, rows: u16, columns: u16) -> AtTerminal {
        self.show(rows, columns, None, false)
    }

    /// The same as a job of a shell, which prints `the shell` and waits for Enter while the program is suspended.
    pub(crate) fn in_shell(self, rows: u16, columns: u16) -> AtTerminal {
        self.show(rows, columns, Some(r#"set -m; "$0" "$@"; echo the shell; read go; fg > job"#), false)
    }

    /// The same with a separate standard input: the text of [`Test::stdin`].
    pub(crate) fn at_terminal_with_stdin(self, rows: u16, columns: u16) -> AtTerminal {
        self.show(rows, columns, None, true)
    }

    fn show(self, rows: u16, columns: u16, script: Option<&str>, has_stdin: bool) -> AtTerminal {
        let (pty, pts) = open().expect("a terminal");
        pty.resize(Size::new(rows, columns)).expect("it has a size");
        let before = tcgetattr(pty.as_fd()).expect("it has modes");
        let mut command = self.command();
        if let Some(script) = script {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", script]).arg(command.get_program()).args(command.get_args()).env_clear();
            shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            shell.current_dir(self.folder());
            command = shell;
        }
        if command.get_envs().all(|(name, _)| name != "TERM") {
            command.env("TERM", "xterm-256color");
        }
        if command.get_envs().all(|(name, _)| name != "PAGER") {
            command.env("PAGER", "");
        }
        let mut command = Command::from(command);
        if has_stdin {
            let path = self.folder().join("stdin");
            std::fs::write(&path, self.stdin_text()).expect("stdin is written");
            command = command.stdin(OpenOptions::new().read(true).open(path).expect("stdin"));
        }
        let child = command.spawn(pts).expect("the program starts");
        let parser =
            vt100::Parser::new(rows.try_into().expect("some rows"), columns.try_into().expect("some columns"), 0);
        let state = Mutex::new(State { parser, written: Vec::new(), is_closed: false });
        let screen = Arc::new(Screen { state, changed: Condvar::new() });
        let pty = Arc::new(pty);
        let (reader, seen) = (Arc::clone(&pty), Arc::clone(&screen));
        thread::spawn(move || seen.read(&reader));
        AtTerminal { test: self, pty, child, screen, before }
    }
}

impl Screen {
    fn read(&self, pty: &Pty) {
        let mut bytes = [0; 4096];
        loop {
            let count = (&*pty).read(&mut bytes).unwrap_or(0);
            let mut state = self.lock();
            state.parser.process(&bytes[..count]);
            state.written.extend_from_slice(&bytes[..count]);
            state.is_closed = count == 0;
            drop(state);
            self.changed.notify_all();
            if count == 0 {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panicked while it was held")
    }

    /// Waits until `holds` is true, and returns the screen.
    #[track_caller]
    fn wait(&self, what: &str, holds: impl Fn(&State) -> bool) -> String {
        let end = Instant::now() + patience();
        let mut state = self.lock();
        loop {
            if holds(&state) {
                return state.text();
            }
            let rest = end.saturating_duration_since(Instant::now());
            assert!(!rest.is_zero() && !state.is_closed, "never saw {what}; the screen:\n{}", state.text());
            state = self.changed.wait_timeout(state, rest).expect("nobody panicked").0;
        }
    }
}

impl State {
    fn text(&self) -> String {
        self.parser.screen().contents()
    }
}

impl AtTerminal {
    /// The run's folder.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.test.folder()
    }

    /// Types like a person who has read the screen: no key is mistaken for one that was already down.
    pub(crate) fn send(&self, keys: &str) -> &Self {
        thread::sleep(READING);
        self.send_at_once(keys)
    }

    /// Holds a key down for about two seconds, repeated like a keyboard does, every this many milliseconds.
    pub(crate) fn hold(&self, key: &str, pause: u64) -> &Self {
        for _ in 0..2000 / pause {
            self.send_at_once(key);
            thread::sleep(Duration::from_millis(pause));
        }
        self
    }

    /// Types without a pause.
    pub(crate) fn send_at_once(&self, keys: &str) -> &Self {
        (&*self.pty).write_all(keys.as_bytes()).expect("the terminal takes keys");
        self
    }

    /// Waits until `text` is on the screen.
    #[track_caller]
    pub(crate) fn see(&self, text: &str) -> &Self {
        self.screen.wait(&format!("{text:?}"), |state| state.text().contains(text));
        self
    }

    /// Waits until `text` is on the screen this many times.
    #[track_caller]
    pub(crate) fn see_times(&self, text: &str, times: usize) -> &Self {
        self.screen.wait(&format!("{text:?} {times} times"), |state| state.text().matches(text).count() == times);
        self
    }

    /// Waits until `text` has been written more than this many times.
    #[track_caller]
    pub(crate) fn see_written_again(&self, text: &str, times: usize) -> &Self {
        self.screen.wait(&format!("{text:?} again"), |state| {
            String::from_utf8_lossy(&state.written).matches(text).count() > times
        });
        self
    }

    /// Waits until `text` is no longer on the screen.
    #[track_caller]
    pub(crate) fn gone(&self, text: &str) -> &Self {
        self.screen.wait(&format!("the end of {text:?}"), |state| !state.text().contains(text));
        self
    }

    /// Waits until the line with the cursor, up to the cursor, is `line`.
    #[track_caller]
    pub(crate) fn see_typed(&self, line: &str) -> &Self {
        let columns = self.screen.lock().parser.screen().size().1.get();
        self.screen.wait(&format!("{line:?} before the cursor"), |state| {
            let screen = state.parser.screen();
            let (row, column) = screen.cursor_position();
            let before = screen.contents_between(row, 0, row, column.min(columns));
            !screen.hide_cursor() && before == line
        });
        self
    }

    /// Waits until the cursor, hidden or not, is in a row with `text`.
    #[track_caller]
    pub(crate) fn see_cursor_at(&self, text: &str) -> &Self {
        self.screen.wait(&format!("the cursor at {text:?}"), |state| {
            let screen = state.parser.screen();
            let row = screen.cursor_position().0;
            screen.contents_between(row, 0, row, screen.size().1.get()).contains(text)
        });
        self
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        self.screen.lock().text()
    }

    /// All output so far.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().written).into_owned()
    }

    /// Resizes the terminal.
    pub(crate) fn resize(&self, rows: u16, columns: u16) -> &Self {
        let (new_rows, new_columns) = (rows.try_into().expect("some rows"), columns.try_into().expect("some columns"));
        self.screen.lock().parser.set_size(new_rows, new_columns);
        self.pty.resize(Size::new(rows, columns)).expect("it has a size");
        self
    }

    /// Creates a file in the run's folder, which a scripted server may wait for.
    pub(crate) fn write_file(&self, name: &str) -> &Self {
        std::fs::write(self.test.folder().join(name), "").expect("the file is written");
        self
    }

    /// Waits until a scripted server has received a reply to its request with this id.
    #[track_caller]
    pub(crate) fn wait_for_reply(&self, server: &str, id: &str) -> &Self {
        let end = Instant::now() + patience();
        let path = self.test.folder().join(format!("{server}.received"));
        while !std::fs::read_to_string(&path).is_ok_and(|text| text.contains(&format!("\"id\":\"{id}\""))) {
            assert!(Instant::now() < end, "{id} was never replied to");
            thread::sleep(Duration::from_millis(2));
        }
        self
    }

    /// Waits until a scripted server has received this request.
    #[track_caller]
    pub(crate) fn wait_for_request(&self, server: &str, method: &str) -> &Self {
        let end = Instant::now() + patience();
        let path = self.test.folder().join(format!("{server}.received"));
        while !std::fs::read_to_string(&path).is_ok_and(|text| text.contains(&format!("\"{method}\""))) {
            assert!(Instant::now() < end, "{method} was never asked");
            thread::sleep(Duration::from_millis(2));
        }
        self
    }

    /// Waits until the program has ended, and returns all its output.
    #[track_caller]
    pub(crate) fn all_written(&self) -> String {
        self.screen.wait("the end", |state| state.is_closed);
        self.written()
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, signal: Signal) -> &Self {
        let id = i32::try_from(self.child.id()).expect("a process id");
        kill(Pid::from_raw(id), signal).expect("the program runs");
        self
    }

    /// Checks that the terminal is restored.
    #[track_caller]
    pub(crate) fn is_whole(&self) -> &Self {
        let now = tcgetattr(self.pty.as_fd()).expect("it has modes");
        assert_eq!(modes(&now), modes(&self.before), "the terminal's modes");
        let state = self.screen.lock();
        assert!(!state.parser.screen().hide_cursor() && !state.parser.screen().bracketed_paste());
        drop(state);
        self
    }

    /// Waits for the end of the program, and checks that the terminal is restored.
    #[track_caller]
    pub(crate) fn end(mut self, status: i32) -> Ended {
        let end = Instant::now() + patience();
        let ended = loop {
            if let Some(status) = self.child.try_wait().expect("the program is ours") {
                break status;
            }
            if Instant::now() > end {
                drop(self.child.kill());
                panic!("still running; the screen:\n{}", self.screen());
            }
            thread::sleep(Duration::from_millis(2));
        };
        assert_eq!(ended.code(), Some(status), "exit code; the screen:\n{}", self.screen());
        let after = tcgetattr(self.pty.as_fd()).expect("it has modes");
        assert_eq!(modes(&after), modes(&self.before), "the terminal's modes");
        // The last output may still be on its way.
        let whole = |state: &State| !state.parser.screen().hide_cursor() && !state.parser.screen().bracketed_paste();
        let screen = self.screen.wait("a cursor, and no bracketed paste", |state| state.is_closed || whole(state));
        assert!(whole(&self.screen.lock()), "the cursor is hidden, or pastes are bracketed");
        Ended { test: self.test, screen }
    }
}

fn modes(termios: &Termios) -> impl PartialEq + std::fmt::Debug + use<> {
    (termios.input_flags, termios.output_flags, termios.local_flags, termios.control_chars)
}

/// The outcome.
pub(crate) struct Ended {
    test: Test,
    /// What is on the screen.
    pub(crate) screen: String,
}

impl Ended {
    /// The folder in which it ran.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.test.folder()
    }

    /// The messages that a scripted server received.
    pub(crate) fn received(&self, server: &str) -> Vec<Value> {
        super::fake::received(self.test.folder(), server)
    }

    /// The reply that the server received to its request with this id.
    #[track_caller]
    pub(crate) fn reply(&self, server: &str, id: &str) -> Value {
        let received = self.received(server);
        let mut replies = received.iter().filter(|message| message["id"] == id && message.get("method").is_none());
        let reply = replies.next().unwrap_or_else(|| panic!("no reply to {id} in {received:#?}")).clone();
        assert!(replies.next().is_none(), "two replies to {id}");
        reply["result"].clone()
    }
}
