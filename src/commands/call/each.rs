//! `call --each`: one call for each line of arguments, over one connection.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use serde_json::{Value, json};

use crate::commands::{
    call::{
        CallTarget, CommandCall,
        arguments::Given,
        each_lines::{ArgumentsLine, ArgumentsLines},
        each_outcome::EachOutcome,
    },
    context::downcast,
};
use crate::{error::Error, output::Doing, protocol::parse_lenient, terminal::is_asking};

/// How many results may wait for an earlier one, so that they are printed in order.
const BEHIND: usize = 256;
/// How many bytes they may take together.
const BEHIND_BYTES: usize = 64 << 20;
/// How often results check whether a question is still open at the terminal.
const TICK: Duration = Duration::from_millis(50);
/// The most warnings that are each printed once.
const WARNINGS: usize = 100;

/// Options for many calls of one tool.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for many calls")]
pub struct EachArgs {
    /// Call the tool once for each line of this file (`-` is stdin). A line is a JSON object of arguments; the output has one
    /// JSON line per call: index, ok, and result or error
    #[arg(long, value_name = "FILE", conflicts_with_all = ["args", "defer"])]
    pub each: Option<PathBuf>,
    /// Make up to N calls at the same time [default: 1]
    #[arg(short, long, value_name = "N", requires = "each", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub jobs: Option<u16>,
    /// Continue after a call that fails; the exit code is that of the first failure
    #[arg(long, requires = "each")]
    pub keep_going: bool,
}

impl EachArgs {
    /// Opens the lines for `--each`. `stdin_is_taken` says that stdin is already used.
    ///
    /// # Errors
    /// [`Error::Usage`] if they cannot be read.
    pub(crate) fn open(&self, stdin_is_taken: bool) -> Result<Option<ArgumentsLines>, Error> {
        if self.takes_stdin() && stdin_is_taken {
            return Err(Error::usage("--each - cannot be used here: stdin is already used for something else"));
        }
        self.each.as_deref().map(ArgumentsLines::open).transpose()
    }

    /// Whether the lines come from stdin.
    pub(crate) fn takes_stdin(&self) -> bool {
        self.each.as_deref() == Some(Path::new("-"))
    }
}

/// The outcome of one line, until it is its turn to be printed.
struct Done {
    index: usize,
    number: usize,
    outcome: EachOutcome,
}

/// Many calls of one tool.
pub(crate) struct Each<'a> {
    pub(in crate::commands) call: &'a CommandCall<'a>,
    pub(crate) given: &'a Given,
    pub(crate) args: &'a EachArgs,
    pub(crate) timeout: Option<Duration>,
}

impl Each<'_> {
    /// Makes a call for each of `lines`, and prints the outcomes in order. After a failure no more calls are started,
    /// unless all are wanted; those that are running are finished and printed.
    ///
    /// # Errors
    /// That of the first failed line, with its number; with `--keep-going`, how many failed; that of a signal.
    pub(crate) async fn perform(&self, mut lines: ArgumentsLines) -> anyhow::Result<()> {
        let target = self.call.target().await?;
        let stop = &self.call.session.signals.stop;
        let jobs = usize::from(self.args.jobs.unwrap_or(1));
        let mut running = FuturesUnordered::new();
        let mut ready = BTreeMap::<usize, Done>::new();
        let mut bytes = 0;
        let (mut begun, mut printed, mut last) = (0, 0, 0);
        let mut ends = EachEnds::default();
        let mut warned = HashSet::new();
        let waiting = self.call.context.printer.wait(Doing::Many {
            server: self.call.server.to_string(),
            name: self.call.tool.clone(),
            done: 0,
            failed: 0,
            running: 0,
            part: None,
        });
        let (mut is_open, mut is_whole) = (true, false);
        loop {
            // Output to the same terminal would overwrite an open question.
            let is_held = self.call.context.printer.is_terminal() && is_asking();
            while let Some(done) = ready.remove(&printed).filter(|_| !is_held) {
                bytes -= done.outcome.size();
                printed += 1;
                self.print(done, &mut ends, &mut warned)?;
            }
            if self.call.context.printer.is_gone() {
                (is_open, is_whole) = (false, true);
            }
            if !is_open && running.is_empty() && ready.is_empty() {
                break;
            }
            let (far, under_way) = (lines.part(), running.len());
            waiting.update(|doing| {
                if let Doing::Many { done, failed, running, part, .. } = doing {
                    (*done, *failed, *running, *part) = (printed, ends.failed, under_way, far);
                }
            });
            let has_room = running.len() < jobs && begun - printed < jobs + BEHIND && bytes < BEHIND_BYTES;
            tokio::select! {
                biased;
                () = stop.cancelled(), if is_open => is_open = false,
                Some(done) = running.next(), if !running.is_empty() => {
                    let done: Done = done;
                    if done.outcome.error.is_some() && !self.args.keep_going {
                        is_open = false;
                    }
                    bytes += done.outcome.size();
                    ready.insert(done.index, done);
                }
                line = lines.next(), if is_open && has_room => {
                    if let Some(line) = line {
                        last = line.number;
                        running.push(self.one(begun, line, &target));
                        begun += 1;
                    } else {
                        (is_open, is_whole) = (false, true);
                    }
                }
                () = tokio::time::sleep(TICK), if is_held => {}
            }
        }
        drop(waiting);
        if !is_whole {
            self.call.context.printer.note(&format!("the lines after line {last} were not called"))?;
        }
        if let Some(error) = self.call.session.signals.error() {
            return Err(error.into());
        }
        ends.conclude(self.args.keep_going)
    }

    async fn one(&self, index: usize, line: ArgumentsLine, target: &CallTarget) -> Done {
        let number = line.number;
        let outcome = match self.make(line, target).await {
            Ok(outcome) => outcome,
            Err(error) => EachOutcome::failed(error),
        };
        Done { index, number, outcome }
    }

    async fn make(&self, line: ArgumentsLine, target: &CallTarget) -> Result<EachOutcome, Error> {
        let text = line.text.map_err(Error::usage)?;
        let text = text.trim();
        let fault = match parse_lenient::<Value>(text) {
            Ok(Value::Object(_)) => None,
            Ok(_) => Some("it is not a JSON object of arguments".to_owned()),
            Err(error) => Some(format!("it is not JSON: column {}", error.column())),
        };
        if let Some(fault) = fault {
            return Err(Error::usage(fault));
        }
        let tool = target.tool.as_ref();
        let arguments = self.given.typed_over(text, tool).map_err(|error| self.call.refused(&error))?;
        let (arguments, warnings) = self.call.checked(arguments)?;
        if self.call.dry_run {
            let request = json!({"method": "tools/call", "params": {"name": self.call.tool, "arguments": arguments}});
            return Ok(EachOutcome::request(&request, warnings));
        }
        let session = self.call.session;
        let sent = self.call.send(target, arguments, self.timeout).await.map_err(downcast);
        let (report, mismatch) = sent.map_err(|error| match session.take_one_unanswered() {
            // An unanswered question matters more than the server's reaction to it.
            Some(unanswered) if error.rpc().is_some() => Error::Unanswered(vec![unanswered]),
            _ => error,
        })?;
        let unanswered = session.take_unanswered(&report.unanswered);
        let mode = self.call.context.printer.mode();
        let outcome = EachOutcome::of(&self.call.server, &self.call.tool, report, unanswered, self.call.shown, mode);
        Ok(outcome.with_warnings(warnings.into_iter().chain(mismatch)))
    }

    fn print(&self, done: Done, ends: &mut EachEnds, warned: &mut HashSet<String>) -> anyhow::Result<()> {
        let printer = &self.call.context.printer;
        for warning in &done.outcome.warnings {
            if warned.len() < WARNINGS && warned.insert(warning.clone()) {
                printer.warning(&format!("line {}: {warning}", done.number))?;
            }
        }
        let error = done.outcome.error.map(|error| Error::Line { line: done.number, error: Box::new(error) });
        let told = error.as_ref().map(|error| printer.masked(&error.report()).to_json()["error"].take());
        let mut row = format!("{{\"index\":{},\"ok\":{}", done.index, error.is_none());
        for (key, value) in done.outcome.parts.iter().chain(&told.map(|told| ("error", told.to_string()))) {
            row.push_str(&format!(",\"{key}\":{value}"));
        }
        row.push('}');
        printer.row(&row)?;
        ends.add(error);
        Ok(())
    }
}

/// How the calls ended.
#[derive(Default)]
struct EachEnds {
    failed: usize,
    first: Option<Error>,
}

impl EachEnds {
    fn add(&mut self, error: Option<Error>) {
        let Some(error) = error else { return };
        self.failed += 1;
        self.first.get_or_insert(error);
    }

    fn conclude(self, keep_going: bool) -> anyhow::Result<()> {
        match self.first {
            None => Ok(()),
            Some(error) if keep_going => Err(Error::Lines { failed: self.failed, exit: error.exit() }.into()),
            Some(error) => Err(error.into()),
        }
    }
}
