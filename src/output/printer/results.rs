use std::io;

use serde_json::{Value, json, value::RawValue};

use super::Printer;
use crate::{
    output::{
        OutputMode, ResultLook,
        fold::fold,
        json::{one_line, pretty},
        long_block::block_pieces,
        result::result_text,
    },
    protocol::{CallToolResult, ResultOutline},
    terminal::gate,
    text::{safe_piped, safe_text},
};

/// Results of at least this size are printed piece by piece.
const LONG: usize = 1 << 20;

impl Printer {
    /// Prints the final result of a call; `saved` has the file of each block.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn result(&self, result: &RawValue, view: &CallToolResult, look: &ResultLook<'_>) -> io::Result<()> {
        gate().status(None);
        let saved = look.saved;
        if self.mode != OutputMode::Text {
            for saved in saved.iter().flatten() {
                match saved {
                    Ok(path) => self.note(&format!("saved {}", path.display()))?,
                    Err(reason) => self.warning(reason)?,
                }
            }
        }
        match self.mode {
            OutputMode::Text => {
                let text = result_text(view, result.get(), *look, self.stdout_is_terminal);
                // A pager would not pass on images.
                if look.pictures.is_some() { self.stdout(&text) } else { self.long(&text) }
            }
            // A tool's error message is not the data that was asked for.
            OutputMode::Data if view.is_error => {
                gate().print(&result_text(view, result.get(), *look, true));
                Ok(())
            }
            OutputMode::Data => self.json_line(&self.laid_out(view.data().as_deref().unwrap_or("null"))),
            OutputMode::Json => self.json_line(&self.laid_out(result.get())),
            OutputMode::Events => self.result_event(result),
        }
    }

    /// Prints the final result of a call without copying its long parts, if possible; returns whether it was.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn result_as_it_came(&self, result: &RawValue, outline: &ResultOutline<'_>) -> io::Result<bool> {
        gate().status(None);
        let is_long = result.get().len() > LONG && outline.structured.is_none() && !outline.content.is_empty();
        match self.mode {
            OutputMode::Json => self.json_line(&self.laid_out(result.get()))?,
            OutputMode::Events => self.result_event(result)?,
            OutputMode::Text if is_long && !self.stdout_is_terminal => {
                outline.content.iter().try_for_each(|block| self.long_block(block))?;
            }
            OutputMode::Text | OutputMode::Data => return Ok(false),
        }
        Ok(true)
    }

    fn result_event(&self, result: &RawValue) -> io::Result<()> {
        let json = one_line(result.get());
        if self.stdout_is_terminal {
            return self.stdout(&format!("{{\"event\":\"result\",\"result\":{json}}}\n"));
        }
        self.parts(&[b"{\"event\":\"result\",\"result\":", json.as_bytes(), b"}\n"])
    }

    /// Prints a content block to a pipe, piece by piece.
    fn long_block(&self, block: &RawValue) -> io::Result<()> {
        let mut ends_line = true;
        for piece in block_pieces(block) {
            ends_line = piece.ends_with('\n');
            self.bytes(piece.as_bytes())?;
        }
        if ends_line { Ok(()) } else { self.bytes(b"\n") }
    }

    /// Prints a tool's error message to stderr, because stdout is for something else.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn failure(&self, result: &RawValue, view: &CallToolResult) -> io::Result<()> {
        if self.mode == OutputMode::Events {
            self.result(result, view, &ResultLook::default())
        } else {
            gate().print(&result_text(view, result.get(), ResultLook::default(), true));
            Ok(())
        }
    }

    /// Prints the outcome of one call among many: a JSON object on one line, above a question that is on the same
    /// screen.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn row(&self, object: &str) -> io::Result<()> {
        let object = match (self.mode, object.strip_prefix('{')) {
            (OutputMode::Events, Some(rest)) => format!("{{\"event\":\"result\",{rest}"),
            _ => object.to_owned(),
        };
        self.json_line(&object)
    }

    /// Prints one part of a result: text unquoted, everything else as JSON on one line.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn part(&self, part: &Value) -> io::Result<()> {
        gate().status(None);
        match (self.mode, part) {
            (OutputMode::Events, part) => self.stdout(&format!("{}\n", json!({"event": "result", "part": part}))),
            (OutputMode::Text, Value::String(text)) => {
                let text = if self.stdout_is_terminal { safe_text(text) } else { safe_piped(text) };
                self.long(&if text.ends_with('\n') { text } else { text + "\n" })
            }
            (_, part) => self.json_line(&part.to_string()),
        }
    }

    /// Prints data that is not a tool's result: `text` for people, which is made safe here, `value` for programs; in
    /// events mode as the object `{event, …}`.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn data(&self, event: &str, value: &Value, text: impl FnOnce() -> String) -> io::Result<()> {
        gate().status(None);
        match self.mode {
            OutputMode::Text if self.stdout_is_terminal => {
                let columns = usize::from(console::Term::stdout().size().1);
                self.stdout(&fold(&safe_text(&text()), columns))
            }
            OutputMode::Text => self.stdout(&safe_text(&text())),
            OutputMode::Json | OutputMode::Data if self.stdout_is_terminal && !self.in_lines => {
                self.json_line(&pretty(&value.to_string()))
            }
            OutputMode::Json | OutputMode::Data => self.json_line(&value.to_string()),
            OutputMode::Events => {
                let mut object = json!({"event": event});
                if let (Value::Object(object), Value::Object(rest)) = (&mut object, value.clone()) {
                    object.extend(rest);
                }
                self.stdout(&format!("{object}\n"))
            }
        }
    }

    /// The same, if nothing else is printed: long text for people is shown in a pager.
    ///
    /// # Errors
    /// As for [`Printer::notice`].
    pub fn page(&self, event: &str, value: &Value, text: impl FnOnce() -> String) -> io::Result<()> {
        if self.mode != OutputMode::Text || !self.stdout_is_terminal {
            return self.data(event, value, text);
        }
        gate().status(None);
        let columns = usize::from(console::Term::stdout().size().1);
        self.long(&fold(&safe_text(&text()), columns))
    }
}
