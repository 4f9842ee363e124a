use serde_json::{Value, value::RawValue};

use crate::commands::result::{
    ended::Ended,
    shown::{ResultArgs, selected},
};
use crate::{
    client::CallReport,
    elicitation::ServerName,
    error::{Error, Unanswered},
    output::{OutputMode, one_line},
    protocol::CallToolResult,
};

/// The outcome of one call among many.
pub(crate) struct EachOutcome {
    /// What is printed: keys, and JSON text on one line.
    pub(crate) parts: Vec<(&'static str, String)>,
    /// The warnings.
    pub(crate) warnings: Vec<String>,
    /// Why it failed.
    pub(crate) error: Option<Error>,
}

impl EachOutcome {
    pub(crate) fn failed(error: Error) -> Self {
        Self { parts: Vec::new(), warnings: Vec::new(), error: Some(error) }
    }

    /// A request that was only printed.
    pub(crate) fn request(request: &Value, warnings: Vec<String>) -> Self {
        Self { parts: vec![("request", request.to_string())], warnings, error: None }
    }

    /// A call with a result: the whole result, or the part that `shown` and `mode` select. A failed result is always
    /// whole.
    pub(crate) fn of(
        server: &ServerName,
        tool: &str,
        report: CallReport,
        unanswered: Vec<Unanswered>,
        shown: &ResultArgs,
        mode: OutputMode,
    ) -> Self {
        let view = CallToolResult::from_raw(&report.result);
        let (mut parts, mut warnings) = (Vec::new(), Vec::new());
        warnings.extend(view.oddity.clone());
        let mut error = None;
        match result(&report.result, &view, shown, mode) {
            Ok(result) => parts.push(("result", result)),
            Err(reason) => error = Some(reason),
        }
        match shown.saved(&view) {
            Ok(saved) => {
                let mut paths = Vec::new();
                for saved in saved.into_iter().flatten() {
                    match saved {
                        Ok(path) => paths.push(Value::from(path.to_string_lossy())),
                        Err(reason) => warnings.push(reason),
                    }
                }
                if shown.save.is_some() {
                    parts.push(("saved", Value::from(paths).to_string()));
                }
            }
            Err(reason) => error = Some(reason),
        }
        let error = Ended::of_tool(server, tool, report).conclude(unanswered).err().or(error);
        Self { parts, warnings, error }
    }

    pub(crate) fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// Its approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.parts.iter().map(|(_, text)| text.len()).sum()
    }
}

fn result(raw: &RawValue, view: &CallToolResult, shown: &ResultArgs, mode: OutputMode) -> Result<String, Error> {
    match &shown.select {
        Some(path) if !view.is_error => Ok(selected(raw, view, path)?.to_string()),
        None if mode == OutputMode::Data && !view.is_error => Ok(view.data().unwrap_or_else(|| "null".to_owned())),
        _ => Ok(raw.get().to_owned()),
    }
    .map(|text| one_line(&text).into_owned())
}
