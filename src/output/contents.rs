use std::io;

use serde_json::{Value, value::RawValue};

use super::{OutputMode, Printer, offer::prompt_text, one_line, pretty, safe_json};
use crate::{
    protocol::{ResourceBody, ResourceContents},
    text::{safe_address, safe_text},
};

impl Printer {
    /// Prints the result of `resources/read`: made safe on a terminal, unchanged elsewhere. Binary data is not for a
    /// terminal: see [`Printer::shows_bytes`].
    ///
    /// If it is the `only` one, long text is shown in a pager, and nothing is added to what goes into a pipe; otherwise
    /// each ends its line.
    ///
    /// # Errors
    /// If stdout cannot be written, unless it was closed.
    pub fn contents(&self, raw: &RawValue, contents: &[ResourceContents], only: bool) -> io::Result<()> {
        if !self.mode().is_text() {
            return self.raw_result("contents", raw.get());
        }
        let several = contents.len() > 1;
        let mut shown = String::new();
        for one in contents {
            match &one.body {
                ResourceBody::Text(text) if self.is_terminal() => {
                    let head = if several { format!("[{}]\n", safe_address(&one.uri)) } else { String::new() };
                    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
                    shown.push_str(&format!("{head}{}{end}", safe_text(text)));
                }
                ResourceBody::Text(text)
                    if (self.is_in_lines() || !only) && !text.is_empty() && !text.ends_with('\n') =>
                {
                    self.bytes(format!("{text}\n").as_bytes())?;
                }
                ResourceBody::Text(text) => self.bytes(text.as_bytes())?,
                ResourceBody::Bytes(bytes) => self.bytes(bytes)?,
            }
        }
        if only { self.long(&shown) } else { self.stdout(&shown) }
    }

    /// Whether bytes that are not text can go to stdout: it is not a terminal, or gets JSON.
    pub fn shows_bytes(&self) -> bool {
        !self.is_terminal() || !self.mode().is_text()
    }

    /// Prints the result of `prompts/get`.
    ///
    /// # Errors
    /// As for [`Printer::contents`].
    pub fn prompt(&self, raw: &RawValue, result: &Value) -> io::Result<()> {
        match self.mode() {
            OutputMode::Text => self.long(&prompt_text(result, self.is_terminal())),
            _ => self.raw_result("prompt", raw.get()),
        }
    }

    /// A result in its own bytes: by itself, or as an event.
    fn raw_result(&self, event: &str, json: &str) -> io::Result<()> {
        match self.mode() {
            OutputMode::Events => self.stdout(&format!("{{\"event\":\"{event}\",\"result\":{}}}\n", one_line(json))),
            _ if self.is_terminal() && !self.is_in_lines() => self.stdout(&format!("{}\n", safe_json(&pretty(json)))),
            _ => self.stdout(&format!("{}\n", self.laid_out(json))),
        }
    }
}
