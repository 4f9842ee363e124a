use std::{
    collections::HashMap,
    env,
    io::{self, IsTerminal, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Detail, Doing, LogLevel, OutputMode, Report, Verbosity, Waiting,
    json::{one_line, safe_json},
    notice::{notice_event, notice_text},
    progress::heard,
};
use crate::{
    client::{Notice, NoticeKind},
    protocol::RpcError,
    terminal::{gate, page, painted},
    text::{safe_line, width},
    transport::Mask,
};

mod asking;
mod results;

/// How long repeated reports of the same change count as one.
const ONE_CHANGE: Duration = Duration::from_secs(5);

/// How many writes to stdout are in progress.
static WRITING: AtomicUsize = AtomicUsize::new(0);

/// Whether output is being written, which takes forever if nobody reads it.
pub fn is_blocked() -> bool {
    WRITING.load(Ordering::Relaxed) > 0
}

/// All output except prompts goes through this: data to stdout, everything else to stderr.
///
/// It is not an error if stdout is closed early: the rest is not printed, and the run continues to its end, which comes
/// immediately if there would be no other ([`Printer::gone`]).
#[derive(Debug)]
pub struct Printer {
    mode: OutputMode,
    verbosity: Verbosity,
    stdout_is_terminal: bool,
    /// Whether a line of progress is shown below everything else.
    shows_progress: bool,
    /// Whether long text is shown in a pager.
    pages: bool,
    /// Whether each JSON result is on one line, whatever the server sent.
    in_lines: bool,
    /// Hides secrets in our own messages.
    mask: Mask,
    /// The minimum level of shown log messages.
    log: LogLevel,
    /// When each change was last reported as an event.
    changes: Mutex<HashMap<String, Instant>>,
    /// Cancelled when stdout was found closed.
    gone: CancellationToken,
}

impl Printer {
    /// A printer for the process's own streams.
    pub fn new(mode: OutputMode, verbosity: Verbosity) -> Self {
        let plain = env::var_os("TERM").is_none_or(|term| term == "dumb");
        let shows_progress =
            mode != OutputMode::Events && verbosity > Verbosity::Quiet && io::stderr().is_terminal() && !plain;
        let log = if verbosity == Verbosity::Verbose { LogLevel::Debug } else { LogLevel::Warning };
        let (stdout_is_terminal, mask, changes) = (io::stdout().is_terminal(), Mask::default(), Mutex::default());
        let (pages, in_lines, gone) = (!plain, false, CancellationToken::new());
        Self { mode, verbosity, stdout_is_terminal, shows_progress, pages, in_lines, mask, log, changes, gone }
    }

    /// Shows log messages of servers from `level` on, if given.
    #[must_use]
    pub fn with_log(mut self, level: Option<LogLevel>) -> Self {
        self.log = level.unwrap_or(self.log);
        self
    }

    /// The minimum level of shown log messages.
    pub fn log(&self) -> LogLevel {
        self.log
    }

    /// The same, without a pager if `wanted` is false.
    #[must_use]
    pub fn with_pager(self, wanted: bool) -> Self {
        Self { pages: self.pages && wanted, ..self }
    }

    /// The same, with each JSON result on one line.
    #[must_use]
    pub fn in_lines(self) -> Self {
        Self { in_lines: true, pages: false, ..self }
    }

    pub(super) fn is_in_lines(&self) -> bool {
        self.in_lines
    }

    /// JSON text as it is printed.
    pub(super) fn laid_out<'a>(&self, json: &'a str) -> std::borrow::Cow<'a, str> {
        if self.in_lines { one_line(json) } else { json.into() }
    }

    /// Hides what `mask` hides in everything but results and listings, which are the server's own.
    pub fn hide(&self, mask: &Mask) {
        self.mask.join(mask);
    }

    /// A text with everything hidden that must be.
    #[must_use]
    pub fn masked_text(&self, text: &str) -> String {
        self.mask.apply(text).into_owned()
    }

    /// A value with everything hidden in its texts that must be.
    #[must_use]
    pub fn masked_value(&self, value: Value) -> Value {
        self.mask.apply_value(value)
    }

    /// The error with all secrets hidden.
    #[must_use]
    pub fn masked(&self, report: &Report) -> Report {
        let shown = |text: &String| self.mask.apply(text).into_owned();
        Report {
            message: shown(&report.message),
            hint: report.hint.as_ref().map(shown),
            details: report
                .details
                .iter()
                .map(|detail| match detail {
                    Detail::Ours(words) => Detail::Ours(shown(words)),
                    Detail::Theirs(words) => Detail::Theirs(shown(words)),
                    Detail::Log(line) => Detail::Log(shown(line)),
                })
                .collect(),
            rpc: report.rpc.as_ref().map(|rpc| RpcError {
                code: rpc.code,
                message: shown(&rpc.message),
                data: rpc.data.clone().map(|data| self.mask.apply_value(data)),
            }),
            ..report.clone()
        }
    }

    /// What goes to stdout.
    pub fn mode(&self) -> OutputMode {
        self.mode
    }

    /// How much goes to stderr.
    pub fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// Prints a notice of the host.
    ///
    /// # Errors
    /// If stdout cannot be written, unless it was closed.
    pub fn notice(&self, notice: &Notice) -> io::Result<()> {
        if matches!(&notice.kind, NoticeKind::Log { level, .. } if self.log.hides(level)) {
            return Ok(());
        }
        if self.mode == OutputMode::Events {
            if matches!(notice.kind, NoticeKind::Stderr(_)) && self.verbosity < Verbosity::Verbose {
                return Ok(());
            }
            if self.was_told(notice) {
                return Ok(());
            }
            let event = format!("{}\n", self.mask.apply_json(&notice_event(notice).to_string()));
            return self.stdout(&event);
        }
        if let NoticeKind::Progress { call, progress, total, message } = &notice.kind
            && self.shows_progress
        {
            let call = call.as_ref().map(crate::elicitation::CallName::as_str);
            let message = message.as_ref().map(|words| self.mask.apply(words));
            heard(notice.server.as_str(), call, *progress, *total, message.as_deref());
            return Ok(());
        }
        if let Some(text) = notice_text(notice, self.verbosity) {
            gate().print(&self.mask.apply(&text));
        }
        Ok(())
    }

    /// Shows, after a moment and only at a terminal, that `doing` is in progress, while the returned guard lives.
    pub fn wait(&self, doing: Doing) -> Waiting {
        if self.shows_progress { Waiting::for_(doing) } else { Waiting::unseen() }
    }

    /// Whether the same change was reported a moment ago: servers report it once for each thing that they register.
    fn was_told(&self, notice: &Notice) -> bool {
        if !matches!(notice.kind, NoticeKind::Changed { .. }) {
            return false;
        }
        let change = notice_event(notice).to_string();
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let before = changes.insert(change, Instant::now());
        before.is_some_and(|before| before.elapsed() < ONE_CHANGE)
    }

    /// Prints a notice to stdout, as data: a line for people, a JSON line for programs.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn watched(&self, notice: &Notice) -> io::Result<()> {
        match self.mode {
            OutputMode::Text => self.stdout(&notice_text(notice, Verbosity::Verbose).unwrap_or_default()),
            _ => self.json_line(&notice_event(notice).to_string()),
        }
    }

    /// Prints a warning in our own words.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn warning(&self, words: &str) -> io::Result<()> {
        self.remark("warning", words)
    }

    /// Prints a note in our own words.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn note(&self, words: &str) -> io::Result<()> {
        self.remark("note", words)
    }

    fn remark(&self, kind: &str, words: &str) -> io::Result<()> {
        let words = &self.mask.apply(words);
        if self.mode == OutputMode::Events {
            return self.stdout(&format!("{}\n", json!({"event": kind, "message": words})));
        }
        if self.verbosity > Verbosity::Quiet {
            let line = format!("{kind}: {}\n", safe_line(words));
            gate().print(&painted(&line, io::stderr().is_terminal()));
        }
        Ok(())
    }

    /// Prints one of our own lines to stderr, whatever the mode.
    pub fn line(&self, words: &str) {
        if self.verbosity > Verbosity::Quiet {
            gate().print(&format!("{}\n", safe_line(&self.mask.apply(words))));
        }
    }

    /// Prints our own text to stderr unchanged: the usage, if the command is missing.
    pub fn usage(&self, text: &str) {
        gate().print(text);
    }

    /// Prints text that may be long: in a pager if it does not fit on the terminal.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub(super) fn long(&self, text: &str) -> io::Result<()> {
        if !self.pages || !self.stdout_is_terminal || fits(text) {
            return self.stdout(text);
        }
        WRITING.fetch_add(1, Ordering::Relaxed);
        let shown = page(text);
        WRITING.fetch_sub(1, Ordering::Relaxed);
        if shown? { Ok(()) } else { self.stdout(text) }
    }

    /// Prints the error that the run ends with, to stderr.
    pub fn error(&self, report: &Report) {
        gate().status(None);
        let report = self.masked(report);
        let text = match self.mode {
            OutputMode::Text => painted(&report.to_text(columns()), io::stderr().is_terminal()),
            OutputMode::Json | OutputMode::Data | OutputMode::Events => {
                // As an event, the question was already printed.
                let asked = if self.mode == OutputMode::Events { Vec::new() } else { report.asked.clone() };
                let report = Report { asked, ..report };
                format!("{}\n", safe_json(&report.to_json().to_string()))
            }
        };
        gate().print(&text);
    }

    /// Prints our own text to stdout unchanged: help, the version, a schema.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn stdout(&self, text: &str) -> io::Result<()> {
        let text =
            if self.mode == OutputMode::Events && self.stdout_is_terminal { safe_json(text) } else { text.into() };
        self.bytes(text.as_bytes())
    }

    /// Prints bytes unchanged.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub(super) fn bytes(&self, bytes: &[u8]) -> io::Result<()> {
        self.parts(&[bytes])
    }

    /// Prints bytes unchanged, one part after the other; only a terminal needs a copy of all.
    fn parts(&self, parts: &[&[u8]]) -> io::Result<()> {
        WRITING.fetch_add(1, Ordering::Relaxed);
        let written = if self.stdout_is_terminal {
            // A prompt that is open on the same screen goes first.
            gate().print_to_stdout(&parts.concat())
        } else {
            let mut stdout = io::stdout().lock();
            parts.iter().try_for_each(|part| stdout.write_all(part)).and_then(|()| stdout.flush())
        };
        WRITING.fetch_sub(1, Ordering::Relaxed);
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone.cancel();
                Ok(())
            }
            Err(error) => Err(io::Error::new(error.kind(), format!("the output cannot be written: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Completes when stdout was found closed: endless output then ends.
    pub async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Whether stdout was found closed.
    pub fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Whether stdout is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    fn json_line(&self, json: &str) -> io::Result<()> {
        if self.stdout_is_terminal {
            return self.stdout(&format!("{}\n", safe_json(json)));
        }
        self.parts(&[json.as_bytes(), b"\n"])
    }
}

/// Whether the terminal at stdout shows all of `text`, with the shell's prompt below.
fn fits(text: &str) -> bool {
    let (rows, columns) = console::Term::stdout().size();
    let height = |line: &str| width(line).max(1).div_ceil(usize::from(columns).max(1));
    text.lines().map(height).sum::<usize>() < usize::from(rows)
}

/// The width of the terminal at stderr, if it is one.
fn columns() -> Option<usize> {
    io::stderr().is_terminal().then(|| usize::from(console::Term::stderr().size().1).max(20))
}
