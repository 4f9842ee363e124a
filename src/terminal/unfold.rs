use super::{
    Key,
    guard::Guard,
    layout::title_lines,
    line::ScreenLine,
    painter::Caret,
    scene::{Prompt, Scene},
    stage::{DialogEnd, DialogEvent, Stage},
};

impl Stage {
    /// Shows all the text of a prompt, page by page, until the person goes back.
    pub(super) fn unfold(&mut self, scene: &Scene, prompt: &Prompt) -> Result<(), DialogEnd> {
        let mut top: usize = 0;
        let mut guard = Guard::of_entry();
        loop {
            let lines = self.whole_text(scene, prompt);
            let page = self.rows().saturating_sub(2).max(1);
            let last = lines.len().saturating_sub(page);
            top = top.min(last);
            let end = (top + page).min(lines.len());
            self.has_read |= top == last;
            let next = if top == last { "Enter back" } else { "Enter next page" };
            let place = format!("lines {} to {end} of {}", top + 1, lines.len());
            let mut drawn = lines[top..end].to_vec();
            drawn.push(ScreenLine::faint(format!("{place} · {next} · ↑↓ PgUp PgDn move · Esc back")));
            self.draw(&drawn, &Caret::Hidden(drawn.len() - 1));
            let DialogEvent::Key(key) = self.event(None)? else { continue };
            if !guard.takes(&key) {
                continue;
            }
            match key {
                Key::Escape | Key::Unfold => return Ok(()),
                Key::Enter if top == last => return Ok(()),
                Key::Enter | Key::PageDown | Key::Char(' ') => top += page,
                Key::PageUp => top = top.saturating_sub(page),
                Key::Down => top += 1,
                Key::Up => top = top.saturating_sub(1),
                Key::Home => top = 0,
                Key::End => top = last,
                _ => {}
            }
        }
    }

    fn whole_text(&self, scene: &Scene, prompt: &Prompt) -> Vec<ScreenLine> {
        let columns = self.columns();
        let mut lines = scene.header_lines();
        lines.extend(self.look.behind_bar(&scene.message, columns));
        lines.extend(prompt.title.iter().flat_map(|title| title_lines(title, columns)));
        lines.extend(self.look.behind_bar(&prompt.about, columns));
        lines.extend(prompt.note_lines(columns));
        lines
    }
}
