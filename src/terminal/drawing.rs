use std::{cell::RefCell, fmt};

use dialoguer::theme::Theme;

use super::{
    Key,
    alarm::Cause,
    gate::write,
    layout::{Layout, Look, Size},
    line::{Ink, Line},
    list::Item,
    painter::{Caret, up},
    scene::{Prompt, Scene, label_column},
    stage::{End, Stage},
    tty::Ready,
    width::{fit, width},
};

/// What a list of lines is for.
pub(super) enum Many<'a> {
    /// One of them.
    One,
    /// Any number; what is marked.
    Any(&'a RefCell<Vec<bool>>),
}

/// One drawing of a list: where it stands and how it looks.
pub(super) struct List<'a> {
    items: &'a [Item],
    many: &'a Many<'a>,
    /// What dialoguer calls the items: their indices.
    pub(super) names: Vec<String>,
    above: Vec<Line>,
    below: Vec<Line>,
    /// How many items are shown at a time.
    pub(super) page: usize,
    /// How many rows under the items are for the active one's words.
    details: usize,
    size: Size,
    look: Look,
}

/// Why a drawing is stopped: to begin anew, or for good.
#[derive(Debug)]
enum Stopped {
    Chosen,
    Back,
    Redraw,
    Suspend,
    End(End),
}

/// What happened while dialoguer drew.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) active: usize,
    /// How many items are drawn above the cursor.
    drawn: usize,
    /// Why the drawing was stopped.
    stopped: Option<Stopped>,
}

/// dialoguer asks this for each line that it draws. Before it would read a key this reads one, so that a paste presses
/// none and whatever happens meanwhile is not missed: then the drawing fails and dialoguer returns.
pub(super) struct Drawing<'a> {
    list: &'a List<'a>,
    stage: &'a Stage,
    pub(super) state: RefCell<State>,
}

impl<'a> List<'a> {
    pub(super) fn new(
        stage: &mut Stage,
        scene: &Scene,
        prompt: &Prompt,
        items: &'a [Item],
        many: &'a Many<'a>,
    ) -> Result<Self, End> {
        let rows = stage.size().map_or(0, |size| size.rows);
        let details = if rows < 12 { 0 } else { detail_rows(items, matches!(many, Many::Any(_)), stage) };
        // More rows than there are would be none too many: they are given away first.
        let (layout, size) = stage.layout(scene, prompt, items.len() + details)?;
        let names = (0..items.len()).map(|index| index.to_string()).collect();
        let details = if layout.rows < details + items.len().min(3) { 0 } else { details };
        let page = (layout.rows - details).clamp(1, size.rows - 2);
        let Layout { above, below, .. } = layout;
        Ok(Self { items, many, names, above, below, page, details, size, look: stage.look })
    }

    /// Draws everything but the items, and leaves the cursor where they begin.
    pub(super) fn open(&self, stage: &mut Stage) {
        let room = vec![Line::default(); self.page + self.details];
        let lines: Vec<Line> = self.above.iter().chain(&room).chain(&self.below).cloned().collect();
        stage.draw(&lines, &Caret::Hidden(self.above.len()));
    }

    pub(super) fn theme(&'a self, stage: &'a Stage, active: usize) -> Drawing<'a> {
        let seen = State { active, ..State::default() };
        Drawing { list: self, stage, state: RefCell::new(seen) }
    }

    /// Whether the active item is chosen; `None` when the list is to be drawn again.
    pub(super) fn close(
        &self,
        stage: &mut Stage,
        seen: State,
        drawn: dialoguer::Result<Option<usize>>,
    ) -> Result<Option<bool>, End> {
        let begin = self.above.len();
        match (drawn, seen.stopped) {
            (_, Some(stopped)) => {
                stage.painter.moved_to(begin + seen.drawn.saturating_sub(1));
                match stopped {
                    Stopped::Chosen => Ok(Some(true)),
                    Stopped::Back => Ok(Some(false)),
                    Stopped::Redraw => Ok(None),
                    Stopped::Suspend => stage.suspend().map(|()| None),
                    Stopped::End(end) => Err(end),
                }
            }
            (Err(dialoguer::Error::IO(error)), None) => {
                stage.painter.moved_to(begin + seen.drawn);
                Err(End::Gone(error))
            }
            // It never comes to read a key.
            (Ok(_), None) => Ok(Some(false)),
        }
    }

    /// What `key` does to the list, where it does anything.
    fn press(&self, key: &Key, active: &mut usize) -> Option<Stopped> {
        let (count, pages, page) = (self.items.len(), self.items.len().div_ceil(self.page), *active / self.page);
        match (key, self.many) {
            (Key::Down | Key::Tab | Key::Char('j'), _) => *active = (*active + 1) % count,
            (Key::Up | Key::BackTab | Key::Char('k'), _) => *active = (*active + count - 1) % count,
            (Key::Right | Key::Char('l'), _) if pages > 1 => *active = (page + 1) % pages * self.page,
            (Key::Left | Key::Char('h'), _) if pages > 1 => *active = (page + pages - 1) % pages * self.page,
            (Key::Home, _) => *active = 0,
            (Key::End, _) => *active = count - 1,
            (Key::Char(' '), Many::Any(marked)) => {
                let mut marked = marked.borrow_mut();
                marked[*active] = !marked[*active];
            }
            (Key::Char('a'), Many::Any(marked)) => {
                let mut marked = marked.borrow_mut();
                let all = marked.iter().all(|marked| *marked);
                marked.fill(!all);
            }
            (Key::Enter, _) | (Key::Char(' '), Many::One) => return Some(Stopped::Chosen),
            (Key::Escape | Key::Char('q'), _) => return Some(Stopped::Back),
            (Key::Interrupt, _) => return Some(Stopped::End(End::Interrupted)),
            _ => return None,
        }
        Some(Stopped::Redraw)
    }

    fn line(&self, index: usize, active: bool, marked: Option<bool>) -> Line {
        let item = &self.items[index];
        let columns = self.columns();
        let column = label_column(self.items.iter().map(|item| &*item.label), columns);
        let ink = if active { Ink::Accent } else { Ink::Plain };
        let pointer = if active { self.look.pointer() } else { "  " };
        let mark = match marked {
            None => "",
            Some(true) => "[x] ",
            Some(false) => "[ ] ",
        };
        let line = Line::new(ink, format!("{pointer}{mark}"));
        if item.detail.is_empty() {
            return line.and(ink, &*item.label);
        }
        let line = line.and(ink, fit(&item.label, column));
        line.pad(column + width(pointer) + width(mark) + 3).and(Ink::Faint, &*item.detail)
    }

    /// What stands under the items: the active one's words where they did not fit, and what changes.
    fn status(&self, active: usize) -> Vec<Line> {
        let columns = self.columns();
        let mut lines = match self.details {
            0 => Vec::new(),
            _ => self.look.behind_bar(&self.items[active].detail, columns),
        };
        lines.resize(self.details, Line::default());
        lines.extend(self.below.iter().cloned());
        let mut facts = Vec::new();
        if let Many::Any(marked) = self.many {
            facts.push(format!("{} chosen", marked.borrow().iter().filter(|marked| **marked).count()));
        }
        let pages = self.items.len().div_ceil(self.page);
        if pages > 1 {
            facts.push(format!("←→ page {}/{pages}", active / self.page + 1));
        }
        let facts = facts.join(" · ");
        // The last line has room for them, or the one before.
        let at = columns.min(78).saturating_sub(width(&facts));
        let line = lines.iter_mut().skip(self.details).rev().find(|line| line.width() + 3 <= at);
        if let (Some(line), false) = (line, facts.is_empty()) {
            *line = line.clone().pad(at).and(Ink::Plain, facts);
        }
        lines
    }

    fn columns(&self) -> usize {
        self.size.columns.saturating_sub(1).max(1)
    }
}

/// How many rows the longest words need that do not fit behind their label, at most three; 0 when all fit.
fn detail_rows(items: &[Item], with_marks: bool, stage: &Stage) -> usize {
    let columns = stage.columns();
    let before = label_column(items.iter().map(|item| &*item.label), columns) + if with_marks { 9 } else { 5 };
    let rows = |item: &Item| match before + width(&item.detail) {
        total if total <= columns => 0,
        _ => stage.look.behind_bar(&item.detail, columns).len(),
    };
    items.iter().map(rows).max().unwrap_or(0).min(3)
}

impl Drawing<'_> {
    fn item(&self, f: &mut dyn fmt::Write, name: &str, active: bool) -> fmt::Result {
        let list = self.list;
        let index: usize = name.parse().map_err(|_| fmt::Error)?;
        let marked = match list.many {
            Many::One => None,
            Many::Any(marked) => Some(marked.borrow()[index]),
        };
        let columns = list.columns();
        let line = list.line(index, active, marked).render(columns, list.look.colour);
        let position = index % list.page;
        {
            let mut state = self.state.borrow_mut();
            state.drawn = position + 1;
            if active {
                state.active = index;
            }
        }
        if position + 1 == list.page || index + 1 == list.items.len() {
            self.wait(&line, columns)?;
        }
        write!(f, "{line}\x1b[K")
    }

    /// Writes the last line and what stands below it, and waits for a key.
    fn wait(&self, line: &str, columns: usize) -> fmt::Result {
        let mut out = format!("{line}\x1b[K");
        let below = self.list.status(self.state.borrow().active);
        for line in &below {
            out.push_str("\r\n");
            out.push_str(&line.render(columns, self.list.look.colour));
            out.push_str("\x1b[K");
        }
        out.push_str("\x1b[J\r");
        out.push_str(&up(below.len()));
        write(&out);
        let mut state = self.state.borrow_mut();
        state.stopped = Some(loop {
            match self.next() {
                Ok(Some(key)) => {
                    if let Some(stopped) = self.list.press(&key, &mut state.active) {
                        break stopped;
                    }
                }
                Ok(None) => break Stopped::Redraw,
                Err(stopped) => break stopped,
            }
        });
        Err(fmt::Error)
    }

    /// The next key, or `None` when what is shown has changed.
    fn next(&self) -> Result<Option<Key>, Stopped> {
        match self.stage.wait(None).map_err(Stopped::End)? {
            Ready::Input => self.stage.tty.key().map(Some).map_err(|error| Stopped::End(error.into())),
            Ready::Alarm(Cause::Suspended) => Err(Stopped::Suspend),
            _ => Ok(None),
        }
    }
}

impl Theme for Drawing<'_> {
    fn format_select_prompt_item(&self, f: &mut dyn fmt::Write, text: &str, active: bool) -> fmt::Result {
        self.item(f, text, active)
    }
}
