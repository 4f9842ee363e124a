use std::mem;

use super::{
    Editor, Key,
    gate::write,
    guard::Guard,
    layout::hint_lines,
    line::{Ink, ScreenLine},
    painter::Caret,
    scene::{Prompt, Scene},
    stage::{DialogEnd, DialogEvent, Stage},
};
use crate::text::safe_line;
use crate::text::width;

/// How editing a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// Enter.
    Done,
    /// Escape.
    Back,
    /// Ctrl-O.
    External,
    /// Ctrl-R.
    Restore,
}

impl Stage {
    /// Lets a person edit one line. With `masked`, dots are shown instead of the text.
    pub(super) fn enter(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        editor: &mut Editor,
        masked: bool,
    ) -> Result<Entered, DialogEnd> {
        if self.look.plain {
            return self.enter_plainly(scene, prompt, editor, masked);
        }
        self.take_pastes(true);
        let mut prompt = prompt.clone();
        let mut guard = prompt.guard();
        let mut is_typed = false;
        let entered = loop {
            let (layout, _) = self.layout(scene, &prompt, 1)?;
            let columns = self.columns().saturating_sub(2).max(1);
            let (before, whole) = window(editor, self.look.mask(masked), columns);
            let pointer = || ScreenLine::new(Ink::Accent, self.look.pointer());
            let row = layout.above.len();
            let mut lines = layout.above;
            lines.push(pointer().and(Ink::Plain, whole));
            lines.extend(layout.below);
            let caret = Caret::After(row, pointer().and(Ink::Plain, before));
            self.draw(&lines, &caret);
            match self.event(None)? {
                // Here it means one step back, or out.
                DialogEvent::Key(Key::EndOfInput) if editor.text().is_empty() => break Entered::Back,
                DialogEvent::Key(key) if !guard.takes(&key) => {
                    let remark = || "you typed this as the question appeared: Enter again sends it".to_owned();
                    prompt.error = is_typed.then(remark).or(prompt.error.take());
                }
                DialogEvent::Key(Key::Unfold) => {
                    self.unfold(scene, &prompt)?;
                    guard = prompt.guard();
                }
                DialogEvent::Key(key) if editor.press(&key) => {
                    is_typed = true;
                    // The error was about the previous text.
                    prompt.error = None;
                    if let Key::Paste(text) = &key
                        && text.trim_end_matches(['\r', '\n']).contains(['\r', '\n'])
                    {
                        prompt.error = Some("pasted as one line: each line break became a space".to_owned());
                    }
                }
                DialogEvent::Key(key) => {
                    if let Some(entered) = entered(&key) {
                        break entered;
                    }
                }
                _ => {}
            }
        };
        self.take_pastes(false);
        Ok(entered)
    }

    /// The same if the cursor cannot be moved: typed text is echoed, and the line is written again after a change.
    fn enter_plainly(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        editor: &mut Editor,
        masked: bool,
    ) -> Result<Entered, DialogEnd> {
        self.announce(scene, prompt);
        self.read_plainly(editor, masked, prompt.guard())
    }

    /// Reads one line after a pointer.
    pub(super) fn read_plainly(
        &mut self,
        editor: &mut Editor,
        masked: bool,
        mut guard: Guard,
    ) -> Result<Entered, DialogEnd> {
        let columns = usize::MAX;
        let mut shown = window(editor, self.look.mask(masked), columns).1;
        write(&format!("{}{shown}", self.look.pointer()));
        self.is_typing = true;
        let entered = loop {
            let DialogEvent::Key(key) = self.event(None)? else {
                // After a suspension the line is no longer there.
                if !mem::replace(&mut self.is_typing, true) {
                    write(&format!("{}{shown}", self.look.pointer()));
                }
                continue;
            };
            if key == Key::EndOfInput && editor.text().is_empty() {
                return Err(DialogEnd::Interrupted);
            }
            if !guard.takes(&key) {
                continue;
            }
            if !editor.press(&key) {
                match entered(&key) {
                    Some(entered) => break entered,
                    None => continue,
                }
            }
            let (before, whole) = window(editor, self.look.mask(masked), columns);
            if let Some(typed) = whole.strip_prefix(&*shown) {
                write(typed);
            } else if let Some(erased) = shown.strip_prefix(&*whole) {
                write(&"\u{8} \u{8}".repeat(width(erased)));
            } else {
                write(&format!("\n{}{whole}", self.look.pointer()));
            }
            if before != whole {
                // A cursor inside the text cannot be shown: continue at the end.
                editor.press(&Key::End);
            }
            shown = whole;
        };
        self.is_typing = false;
        write("\n");
        Ok(entered)
    }

    /// Writes the text above an entry on a plain terminal; who asks is written only once.
    pub(super) fn announce(&mut self, scene: &Scene, prompt: &Prompt) {
        let columns = self.columns();
        let mut lines = Vec::new();
        if !self.announced {
            lines.extend(scene.header_lines());
            lines.extend(self.look.behind_bar(&scene.message, columns));
            self.announced = true;
        }
        if let Some(error) = &prompt.error {
            lines.extend(self.look.error(error, columns));
        } else {
            lines.push(ScreenLine::default());
            lines.extend(prompt.title.iter().flat_map(|title| super::layout::title_lines(title, columns)));
            lines.extend(self.look.behind_bar(&prompt.about, columns));
            lines.extend(prompt.note_lines(columns));
            lines.extend(hint_lines(&prompt.hints, columns));
        }
        for line in lines {
            write(&format!("{}\n", line.render(usize::MAX, false)));
        }
        self.appear();
    }
}

fn entered(key: &Key) -> Option<Entered> {
    match key {
        Key::Enter => Some(Entered::Done),
        Key::Escape | Key::BackTab => Some(Entered::Back),
        Key::External => Some(Entered::External),
        Key::Restore => Some(Entered::Restore),
        _ => None,
    }
}

/// As much of the text around the cursor as fits into `columns`: the part before the cursor, and the whole. Characters
/// that move, hide or reorder others are shown escaped.
pub(super) fn window(editor: &Editor, mask: Option<&str>, columns: usize) -> (String, String) {
    let (clusters, cursor) = editor.clusters();
    let shown: Vec<String> = clusters.iter().map(|cluster| show(cluster, mask)).collect();
    let widths: Vec<usize> = shown.iter().map(|text| width(text)).collect();
    // The cursor itself needs a column at the end.
    let room = columns.saturating_sub(1).max(1);
    let total: usize = widths.iter().sum();
    if total <= room {
        return (shown[..cursor].concat(), shown.concat());
    }
    let mut start = cursor;
    let mut used = 0;
    // Two thirds are before the cursor if there is more on both sides.
    let after: usize = widths[cursor..].iter().sum();
    let before_room = if after > room / 3 { room - room / 3 } else { room - after };
    while start > 0 && used + widths[start - 1] < before_room {
        start -= 1;
        used += widths[start];
    }
    let mut end = cursor;
    let lead = usize::from(start > 0);
    while end < shown.len() && used + lead + widths[end] < room {
        used += widths[end];
        end += 1;
    }
    let lead = if start > 0 { "…" } else { "" };
    let tail = if end < shown.len() { "…" } else { "" };
    let before = format!("{lead}{}", shown[start..cursor].concat());
    let whole = format!("{before}{}{tail}", shown[cursor..end].concat());
    (before, whole)
}

fn show(cluster: &str, mask: Option<&str>) -> String {
    if let Some(mask) = mask {
        return mask.to_owned();
    }
    match cluster {
        "\n" | "\r\n" | "\r" => "⏎".to_owned(),
        "\t" => "⇥".to_owned(),
        cluster => safe_line(cluster).into_owned(),
    }
}

/// Decodes `bytes` and types the keys into a line: see [`crate::fuzzing::key_strokes`].
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzzed_keys(bytes: &[u8]) {
    let mut rest = bytes.iter().copied();
    let mut editor = Editor::default();
    while let Some(first) = rest.next() {
        let key = Key::decode(first, &mut || rest.next());
        editor.press(&key);
        let (before, after) = editor.parts();
        assert_eq!(editor.text().len(), before.len() + after.len());
        for columns in [1, 2, 9, 80] {
            let (before, whole) = window(&editor, None, columns);
            assert!(width(&whole) <= columns.max(12), "{whole:?} in {columns}");
            assert!(whole.starts_with(&before));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, left: usize, columns: usize) -> (String, String) {
        let mut editor = Editor::new(text);
        for _ in 0..left {
            editor.press(&Key::Left);
        }
        window(&editor, None, columns)
    }

    #[test]
    fn short_text_is_shown_whole() {
        assert_eq!(at("漢字", 1, 10), ("漢".into(), "漢字".into()));
        assert_eq!(at("a\nb\u{202e}", 0, 20), ("a⏎b\\u{202e}".into(), "a⏎b\\u{202e}".into()));
    }

    #[test]
    fn long_text_is_shown_around_the_cursor() {
        assert_eq!(at("0123456789", 0, 8), ("…456789".into(), "…456789".into()));
        for left in 0..=40 {
            let (before, whole) = at("漢字かなabcdefghijklmnopqrstuvwxyz0123456789", left, 12);
            assert!(width(&whole) < 12, "{whole:?}");
            assert!(whole.starts_with(&before));
        }
    }
}
