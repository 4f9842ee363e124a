//! `call --edit`: the arguments in an editor.

use serde_json::{Map, Value};

use crate::commands::call::{CommandCall, arguments::Given};
use crate::{config::Document, error::Error, form::Form, protocol::Tool, terminal::DialogEnd};

/// The beginning of the lines with an error in the text.
const MARK: &str = "// ! ";

impl CommandCall<'_> {
    /// Lets a person edit the arguments: a skeleton with the values that were already given. If the text is wrong, the
    /// editor opens again with the error at the top.
    ///
    /// # Errors
    /// [`Error::Usage`] without a terminal or an editor, for text that comes back wrong and unchanged, and for an empty
    /// one.
    pub(crate) async fn edited(&self, given: &Given, tool: Option<&Tool>) -> anyhow::Result<Map<String, Value>> {
        let hint = |words: &str| Some(words.to_owned());
        let usage = |message: String, hint: Option<String>| Error::Usage { message, hint };
        let terminal = self.questions.terminal().ok_or_else(|| Error::usage("--edit needs a terminal"))?;
        let start = given.typed(tool).map_err(|error| self.refused(&error))?;
        let schema = tool.and_then(|tool| tool.raw.get("inputSchema"));
        let head = format!(
            "Arguments of {}, {}. Lines that are commented out are not sent.\n\
             Save and close to make the call; an empty file ends it.",
            self.server, self.tool
        );
        let mut text = schema.map(Form::from_schema).unwrap_or_default().skeleton(&start.values, &head);
        loop {
            let edited = match terminal.edit(&text, ".jsonc", &self.session.signals.stop).await {
                Ok(Ok(edited)) => edited,
                Ok(Err(reason)) => {
                    let hint = hint("set EDITOR to your editor, for example EDITOR=nano");
                    return Err(usage(format!("no editor could be used: {reason}"), hint).into());
                }
                Err(DialogEnd::Interrupted | DialogEnd::Withdrawn) => {
                    return Err(self.session.signals.error().unwrap_or(Error::Interrupted).into());
                }
                Err(end) => return Err(usage(format!("no editor could be used: {end}"), None).into()),
            };
            let lines: Vec<&str> = edited.lines().filter(|line| !line.starts_with(MARK)).collect();
            let own = lines.join("\n");
            let reason = match self.read_edited(&own, tool) {
                Ok(Some(values)) => return Ok(values),
                Ok(None) => return Err(usage("the file was left empty, so no call was made".to_owned(), None).into()),
                Err(reason) => reason,
            };
            if edited.trim_end() == text.trim_end() {
                return Err(usage(reason, None).into());
            }
            text = format!("{MARK}{}\n{own}\n", reason.replace(['\n', '\r'], " "));
        }
    }

    /// The arguments in `text`; `None` if it is empty. The error names the line as it will be numbered below one line
    /// of errors.
    fn read_edited(&self, text: &str, tool: Option<&Tool>) -> Result<Option<Map<String, Value>>, String> {
        let document = Document::parse(text).map_err(|error| {
            format!("line {}, column {}: {}", error.place.line + 1, error.place.column, error.reason)
        })?;
        let Some(root) = &document.root else { return Ok(None) };
        let value = root.to_value();
        if !value.is_object() {
            return Err(format!("this is {}, not an object", root.describe()));
        }
        let given = Given::read(Vec::new(), Some(value.to_string()), true).map_err(|error| error.to_string())?;
        let arguments = given.typed(tool).map_err(|error| error.to_string())?;
        let (values, _) = self.checked(arguments).map_err(|error| error.to_string())?;
        Ok(Some(values))
    }
}
