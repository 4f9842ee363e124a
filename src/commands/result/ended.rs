use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::commands::{result::shown::ResultArgs, server::command_host::CommandHost};
use crate::{
    client::{CallReport, ClientError, PendingCall},
    elicitation::{Request, ServerName, Why},
    error::{Error, Unanswered},
    output::{Printer, pretty},
    protocol::ResultOutline,
    resolver::Pending,
};

/// A call whose result is printed.
pub(crate) struct Ended {
    failed: Option<Error>,
    unanswered: Vec<Why>,
}

impl Ended {
    /// The end of a call that was not made.
    pub(crate) fn nothing() -> Self {
        Self { failed: None, unanswered: Vec::new() }
    }

    /// Prints the result of a call of `method`; `name` is the tool.
    ///
    /// # Errors
    /// If stdout cannot be written.
    pub(crate) fn print(
        printer: &Printer,
        server: &ServerName,
        method: &str,
        name: &str,
        report: CallReport,
        (args, reads): (&ResultArgs, Option<&(String, String)>),
    ) -> anyhow::Result<Self> {
        if method != "tools/call" {
            let text = report.result.get();
            let value: Value = serde_json::from_str(text)?;
            printer.data("result", &value, || format!("{}\n", pretty(text)))?;
            return Ok(Self { failed: None, unanswered: report.unanswered });
        }
        let outline = ResultOutline::of(&report.result);
        let shown = args.show(printer, &report.result, &outline, reads);
        if !outline.is_error {
            shown?;
        }
        if let Some(oddity) = &outline.oddity {
            printer.warning(&format!("{server}: {oddity}"))?;
        }
        Ok(Self::of_tool(server, name, report))
    }

    /// The outcome of a result of `tool`, without printing it.
    pub(crate) fn of_tool(server: &ServerName, name: &str, report: CallReport) -> Self {
        let is_error = ResultOutline::of(&report.result).is_error;
        let tool_failed = || is_error.then(|| Error::ToolFailed { server: server.clone(), tool: name.to_owned() });
        let failed = no_object(report.result.get()).map_or_else(tool_failed, |reason| {
            let invalid = ClientError::Invalid { method: "tools/call".to_owned(), reason };
            Some(Error::Client { server: server.clone(), error: Box::new(invalid) })
        });
        Self { failed, unanswered: report.unanswered }
    }

    /// The outcome of the run: an unanswered question matters more than the tool's reaction to it.
    ///
    /// # Errors
    /// [`Error::Unanswered`], or [`Error::ToolFailed`] if the tool said so, or [`Error::Client`] if it is not a result.
    pub(crate) fn conclude(self, mut unanswered: Vec<Unanswered>) -> Result<(), Error> {
        if unanswered.is_empty() {
            unanswered = self.unanswered.into_iter().map(|why| Unanswered { question: None, why }).collect();
        }
        match self.failed {
            _ if !unanswered.is_empty() => Err(Error::Unanswered(unanswered)),
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Why a tool's output is not a result at all (2025-11-25, *server/tools*: an object).
fn no_object(result: &str) -> Option<String> {
    let is = match result.trim_start().bytes().next()? {
        b'{' => return None,
        b'[' => "a list",
        b'"' => "text",
        b'n' => "null",
        b't' | b'f' => "true or false",
        _ => "a number",
    };
    Some(format!("the result is {is}, not an object"))
}

/// Saves a call that is waiting for answers in the file at `path`, and prints what it is waiting for.
pub(crate) fn put_aside(
    session: &CommandHost,
    printer: &Printer,
    server: &ServerName,
    path: Option<&Path>,
    call: PendingCall,
) -> anyhow::Error {
    let Some(path) = path else { return Error::Deferred.into() };
    let saved = || {
        let config = session.host.config();
        let pending = Pending::new(server.as_str(), config, config.server(server.as_str())?, call);
        pending.save(path).with_context(|| format!("the call cannot be put aside in {}", path.display()))?;
        say_pending(printer, &pending, path)
    };
    saved().map_or_else(|error| error, |()| Error::Deferred.into())
}

/// Prints that a call is waiting in the file at `path`, and for what.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) fn say_pending(printer: &Printer, pending: &Pending, path: &Path) -> anyhow::Result<()> {
    let open: Vec<&Request> = pending.open().collect();
    printer.data("pending", &json!({"status": "pending", "pending": open}), || {
        // Every line is indented, so that none looks like one of ours.
        let lines = open.iter().flat_map(|request| request.prompt.lines());
        let prompts: String = lines.flat_map(|line| ["  ", line, "\n"]).collect();
        let path = path.to_string_lossy();
        let resume = shell_words::quote(&path);
        format!("{} is waiting for answers; `toolnexus resume {resume}` continues it:\n{prompts}", pending.name())
    })?;
    Ok(())
}
