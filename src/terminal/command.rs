use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::{
    Editor, Key, Terminal,
    entry::{Entered, window},
    gate::{gate, others_ask},
    guard::Guard,
    line::{Ink, ScreenLine},
    painter::Caret,
    stage::{DialogEnd, DialogEvent, Stage, TypedAhead},
};

/// How often to check for new output and for questions.
const TICK: Duration = Duration::from_millis(150);

/// What a person entered at a prompt for commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypedCommand {
    /// A line.
    Line(String),
    /// Tab: the text before the cursor, and after it.
    Complete(String, String),
    /// Ctrl-C: the line is discarded.
    Cleared,
    /// Somebody else needs the terminal; the line so far.
    Yield(String),
    /// The end of input.
    End,
    /// No line can be read here, with the reason.
    Impossible(String),
}

impl Terminal {
    /// Reads a command after `prompt`, starting with `draft`. New output appears above the line. What was typed since
    /// the last command belongs to this one, unless a question in between has discarded it.
    pub(crate) async fn read_command(
        &self,
        prompt: &'static str,
        draft: (String, String),
        history: Vec<String>,
        stop: &CancellationToken,
    ) -> TypedCommand {
        let is_plain = self.look.plain;
        let dialog = move |stage: &mut Stage| stage.command(prompt, &draft, &history);
        match self.run_after(TypedAhead::Kept, stop, |_| (), dialog).await {
            Ok(typed) => typed,
            // On a plain terminal, both are the same key.
            Err(DialogEnd::Interrupted) if is_plain => TypedCommand::End,
            Err(DialogEnd::Interrupted) => TypedCommand::Cleared,
            Err(DialogEnd::Withdrawn) => TypedCommand::End,
            Err(end) => TypedCommand::Impossible(end.to_string()),
        }
    }
}

impl Stage {
    fn command(
        &mut self,
        prompt: &str,
        draft: &(String, String),
        history: &[String],
    ) -> Result<TypedCommand, DialogEnd> {
        let mut editor = Editor::between(&draft.0, &draft.1);
        if self.look.plain {
            return Ok(match self.read_plainly(&mut editor, false, Guard::of_entry())? {
                Entered::Done => TypedCommand::Line(editor.text().to_owned()),
                _ => TypedCommand::Cleared,
            });
        }
        self.take_pastes(true);
        // The lines to go through, the current one last.
        let mut lines: Vec<String> = history.to_vec();
        lines.push(editor.text().to_owned());
        let mut at = lines.len() - 1;
        loop {
            self.size()?;
            let columns = self.columns().saturating_sub(prompt.len()).max(1);
            let (before, whole) = window(&editor, None, columns);
            let line = |text: String| ScreenLine::new(Ink::Accent, prompt).and(Ink::Plain, text);
            self.draw(&[line(whole)], &Caret::After(0, line(before)));
            let key = match self.event(Some(Instant::now() + TICK)) {
                Ok(DialogEvent::Key(key)) => key,
                Ok(DialogEvent::Redraw) => continue,
                Ok(DialogEvent::Timeout) => {
                    if others_ask() {
                        return Ok(TypedCommand::Yield(editor.text().to_owned()));
                    }
                    if gate().has_kept() {
                        self.leave(&[]);
                        gate().print_kept();
                    }
                    continue;
                }
                Err(DialogEnd::Interrupted) => {
                    self.leave(&[line(format!("{}^C", editor.text()))]);
                    return Err(DialogEnd::Interrupted);
                }
                Err(end) => return Err(end),
            };
            match key {
                Key::Enter => {
                    self.leave(&[line(shown(editor.text()))]);
                    return Ok(TypedCommand::Line(editor.text().to_owned()));
                }
                Key::EndOfInput if editor.text().is_empty() => {
                    self.leave(&[line(String::new())]);
                    return Ok(TypedCommand::End);
                }
                Key::Tab => {
                    let (before, after) = editor.parts();
                    return Ok(TypedCommand::Complete(before.to_owned(), after.to_owned()));
                }
                Key::ClearScreen => self.clear_screen(),
                Key::Up | Key::Down => {
                    let to = if key == Key::Up { at.saturating_sub(1) } else { (at + 1).min(lines.len() - 1) };
                    editor.text().clone_into(&mut lines[at]);
                    at = to;
                    editor = Editor::new(&lines[at]);
                }
                key => drop(editor.press(&key)),
            }
        }
    }
}

/// A line as it stays on the screen.
fn shown(text: &str) -> String {
    crate::text::safe_line(text).into_owned()
}
