use super::{
    Editor, Key,
    entry::{Entered, window},
    layout::Look,
    line::{Ink, ScreenLine},
    painter::Caret,
    plain::with_hint,
    scene::{Prompt, Scene},
    stage::{DialogEnd, DialogEvent, Stage},
};

/// A few words side by side, one of which is chosen with the arrows or by typing it.
pub(super) struct Switch<'a> {
    /// The words.
    pub(super) words: &'a [&'a str],
    /// The chosen one; `None` if there is no default and nothing was typed yet.
    pub(super) active: Option<usize>,
    /// The server's default.
    pub(super) default: Option<usize>,
    /// The meaning of typed text.
    pub(super) parse: &'a dyn Fn(&str) -> Result<usize, String>,
}

impl Stage {
    /// Lets a person choose a word; `None` is Escape.
    pub(super) fn switch(
        &mut self,
        scene: &Scene,
        prompt: &Prompt,
        switch: &Switch,
    ) -> Result<Option<usize>, DialogEnd> {
        if self.look.plain {
            return self.switch_plainly(scene, prompt, switch);
        }
        let mut prompt = prompt.clone();
        let mut active = switch.active;
        let mut typed = Editor::default();
        let mut guard = prompt.guard();
        self.take_pastes(true);
        let chosen = loop {
            let (layout, _) = self.layout(scene, &prompt, 1)?;
            let columns = self.columns().saturating_sub(2).max(1);
            let row = layout.above.len();
            let mut lines = layout.above;
            let caret = if typed.text().is_empty() {
                lines.push(words(switch.words, active, self.look));
                Caret::Hidden(row)
            } else {
                let (before, whole) = window(&typed, None, columns);
                let pointer = || ScreenLine::new(Ink::Accent, self.look.pointer());
                lines.push(pointer().and(Ink::Plain, whole));
                Caret::After(row, pointer().and(Ink::Plain, before))
            };
            lines.extend(layout.below);
            self.draw(&lines, &caret);
            let DialogEvent::Key(key) = self.event(None)? else { continue };
            if !guard.takes(&key) {
                continue;
            }
            prompt.error = None;
            if key == Key::Unfold {
                self.unfold(scene, &prompt)?;
                guard = prompt.guard();
                continue;
            }
            if !typed.text().is_empty() && typed.press(&key) {
                continue;
            }
            let count = switch.words.len();
            match key {
                Key::Escape | Key::BackTab => break None,
                Key::Enter if !typed.text().is_empty() => match (switch.parse)(typed.text()) {
                    Ok(index) => break Some(index),
                    Err(error) => {
                        prompt.error = Some(error);
                        (typed, guard) = (Editor::default(), prompt.guard());
                    }
                },
                Key::Enter => match active {
                    Some(index) => break Some(index),
                    None => prompt.error = Some(format!("choose {}", switch.words.join(" or "))),
                },
                Key::Right | Key::Down | Key::Tab => active = Some(active.map_or(0, |index| (index + 1) % count)),
                Key::Left | Key::Up => active = Some(active.map_or(count - 1, |index| (index + count - 1) % count)),
                Key::Restore => active = switch.default.or(active),
                Key::Char(' ') => {}
                Key::Char(_) => drop(typed.press(&key)),
                _ => {}
            }
        };
        self.take_pastes(false);
        Ok(chosen)
    }

    fn switch_plainly(&mut self, scene: &Scene, prompt: &Prompt, switch: &Switch) -> Result<Option<usize>, DialogEnd> {
        let taken = switch.active.map(|index| format!("; Enter alone takes {}", switch.words[index]));
        let hint = format!("type {}{}", switch.words.join(" or "), taken.unwrap_or_default());
        let mut prompt = with_hint(prompt, hint);
        loop {
            let mut editor = Editor::default();
            if self.enter(scene, &prompt, &mut editor, false)? != Entered::Done {
                return Ok(None);
            }
            let typed = editor.text().trim();
            let named = switch.words.iter().position(|word| *word == typed);
            match (typed, named, switch.active) {
                ("", _, Some(active)) => return Ok(Some(active)),
                (_, Some(index), _) => return Ok(Some(index)),
                _ => match (switch.parse)(typed) {
                    Ok(index) => return Ok(Some(index)),
                    Err(error) => prompt.error = Some(error),
                },
            }
        }
    }
}

/// The words in a line, the active one after the pointer.
pub(super) fn words(words: &[&str], active: Option<usize>, look: Look) -> ScreenLine {
    let mut line = ScreenLine::default();
    for (index, word) in words.iter().enumerate() {
        let is_active = active == Some(index);
        let (ink, pointer) = if is_active { (Ink::Accent, look.pointer()) } else { (Ink::Plain, "  ") };
        line = line.and(ink, format!("{pointer}{word}  "));
    }
    line
}
