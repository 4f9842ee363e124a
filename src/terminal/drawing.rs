use std::{cell::RefCell, fmt};

use dialoguer::theme::Theme;

use super::{
    AlarmCause, Key, Ready,
    gate::write,
    layout::{Layout, Look, Size},
    line::{Ink, ScreenLine},
    list::{Choosing, Item, Pressed},
    painter::{Caret, up},
    scene::{Prompt, Scene, label_column},
    stage::{DialogEnd, Stage},
};
use crate::text::{fit, width};

/// The kind of a list.
pub(super) enum Many<'a> {
    /// Choose one.
    One,
    /// Mark any number; the marks.
    Any(&'a RefCell<Vec<bool>>),
}

/// One drawing of a list: its content and its layout.
pub(super) struct List<'a> {
    items: &'a [Item],
    /// Which of them are shown.
    shown: &'a [usize],
    many: &'a Many<'a>,
    /// The items for dialoguer: their indices.
    pub(super) names: Vec<String>,
    above: Vec<ScreenLine>,
    below: Vec<ScreenLine>,
    /// How many items are shown at a time.
    pub(super) page: usize,
    /// How many rows below the items are for the active one's description.
    details: usize,
    /// How many lines of text did not fit.
    pub(super) hidden: usize,
    size: Size,
    look: Look,
}

/// Why a drawing is stopped: to start again, or for good.
#[derive(Debug)]
enum Stopped {
    Pressed(Pressed),
    Redraw,
    Suspend,
    End(DialogEnd),
}

/// What happened while dialoguer was drawing.
#[derive(Debug, Default)]
pub(super) struct DrawState {
    /// How many items are drawn above the cursor.
    drawn: usize,
    /// Why the drawing was stopped.
    stopped: Option<Stopped>,
}

/// dialoguer calls this for each line that it draws. Before it would read a key, this reads one, so that a paste
/// presses no keys and other events are not missed: then the drawing fails and dialoguer returns.
pub(super) struct ListDrawing<'a, 'c> {
    list: &'a List<'a>,
    stage: &'a Stage,
    choosing: &'a RefCell<Choosing<'c>>,
    pub(super) state: RefCell<DrawState>,
}

impl<'a> List<'a> {
    pub(super) fn new(
        stage: &mut Stage,
        scene: &Scene,
        prompt: &Prompt,
        items: &'a [Item],
        shown: &'a [usize],
        many: &'a Many<'a>,
    ) -> Result<Self, DialogEnd> {
        let rows = stage.size().map_or(0, |size| size.rows);
        let details = if rows < 12 { 0 } else { detail_rows(items, matches!(many, Many::Any(_)), stage) };
        // Extra rows do no harm: they are the first to be given up.
        let (layout, size) = stage.layout(scene, prompt, shown.len() + details)?;
        let names = (0..shown.len()).map(|index| index.to_string()).collect();
        let details = if layout.rows < details + shown.len().min(3) { 0 } else { details };
        let mut page = (layout.rows - details).clamp(1, size.rows - 2);
        let Layout { above, mut below, hidden, .. } = layout;
        let facts = matches!(many, Many::Any(_)) || page < shown.len();
        let columns = size.columns.saturating_sub(1).max(1);
        if facts && page > 1 && place_of_facts(&below, FACTS, columns).is_none() {
            // The marks and the page number are always shown.
            below.push(ScreenLine::default());
            page = if page < shown.len() || above.len() + page + details + below.len() > size.rows {
                page - 1
            } else {
                page
            };
        }
        Ok(Self { items, shown, many, names, above, below, page, details, hidden, size, look: stage.look })
    }

    /// Draws everything but the items, and leaves the cursor where they begin.
    pub(super) fn open(&self, stage: &mut Stage) {
        let room = vec![ScreenLine::default(); self.page + self.details];
        let lines: Vec<ScreenLine> = self.above.iter().chain(&room).chain(&self.below).cloned().collect();
        stage.draw(&lines, &Caret::Hidden(self.above.len()));
    }

    pub(super) fn theme<'b, 'c>(
        &'b self,
        stage: &'b Stage,
        choosing: &'b RefCell<Choosing<'c>>,
    ) -> ListDrawing<'b, 'c> {
        ListDrawing { list: self, stage, choosing, state: RefCell::default() }
    }

    /// The key that was pressed; `None` if the list has to be redrawn, [`Pressed::Nothing`] if it was hidden meanwhile.
    pub(super) fn close(
        &self,
        stage: &mut Stage,
        seen: DrawState,
        drawn: dialoguer::Result<Option<usize>>,
    ) -> Result<Option<Pressed>, DialogEnd> {
        let begin = self.above.len();
        match (drawn, seen.stopped) {
            (_, Some(stopped)) => {
                stage.painter.moved_to(0);
                match stopped {
                    Stopped::Pressed(pressed) => Ok(Some(pressed)),
                    Stopped::Redraw => Ok(None),
                    Stopped::Suspend => stage.suspend().map(|()| Some(Pressed::Nothing)),
                    Stopped::End(end) => Err(end),
                }
            }
            (Err(dialoguer::Error::IO(error)), None) => {
                stage.painter.moved_to(begin + seen.drawn);
                Err(DialogEnd::Gone(error))
            }
            // It never gets to read a key.
            (Ok(_), None) => Ok(Some(Pressed::Back)),
        }
    }

    fn line(&self, index: usize, active: bool, marked: Option<bool>) -> ScreenLine {
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
        let line = ScreenLine::new(ink, format!("{pointer}{mark}"));
        if item.detail.is_empty() {
            return line.and(ink, &*item.label);
        }
        let line = line.and(ink, fit(&item.label, column));
        line.pad(column + width(pointer) + width(mark) + 3).and(Ink::Faint, &*item.detail)
    }

    /// The text below the items: the active one's description if it did not fit, and the facts.
    fn status(&self, active: Option<usize>) -> Vec<ScreenLine> {
        let columns = self.columns();
        let mut lines = match (self.details, active) {
            (0, _) | (_, None) => Vec::new(),
            (_, Some(active)) => self.look.behind_bar(&self.items[self.shown[active]].detail, columns),
        };
        lines.resize(self.details, ScreenLine::default());
        let mut below = self.below.clone();
        let mut facts = Vec::new();
        if let Many::Any(marked) = self.many {
            facts.push(format!("{} chosen", marked.borrow().iter().filter(|marked| **marked).count()));
        }
        let pages = self.shown.len().div_ceil(self.page);
        if pages > 1 {
            facts.push(format!("PgDn page {}/{pages}", active.unwrap_or(0) / self.page + 1));
        }
        let facts = facts.join(" · ");
        if let (Some((row, at)), false) = (place_of_facts(&below, width(&facts), columns), facts.is_empty()) {
            below[row] = below[row].clone().pad(at).and(Ink::Plain, facts);
        }
        lines.extend(below);
        lines
    }

    fn columns(&self) -> usize {
        self.size.columns.saturating_sub(1).max(1)
    }
}

/// How many rows the longest description needs that does not fit after its label, at most three; 0 if all fit.
fn detail_rows(items: &[Item], with_marks: bool, stage: &Stage) -> usize {
    let columns = stage.columns();
    let before = label_column(items.iter().map(|item| &*item.label), columns) + if with_marks { 9 } else { 5 };
    let rows = |item: &Item| match before + width(&item.detail) {
        total if total <= columns => 0,
        _ => stage.look.behind_bar(&item.detail, columns).len(),
    };
    items.iter().map(rows).max().unwrap_or(0).min(3)
}

/// How much room the facts need: the marks, and the page.
const FACTS: usize = 28;

/// The last of the lines below a list with room for facts of this width, and the column; the first column of an empty
/// line.
fn place_of_facts(below: &[ScreenLine], facts: usize, columns: usize) -> Option<(usize, usize)> {
    let at = columns.min(78).saturating_sub(facts);
    let row = below.iter().rposition(|line| line.width() + 3 <= at || line.width() == 0)?;
    Some((row, if below[row].width() == 0 { 0 } else { at }))
}

impl ListDrawing<'_, '_> {
    fn item(&self, f: &mut dyn fmt::Write, name: &str, active: bool) -> fmt::Result {
        let list = self.list;
        let place: usize = name.parse().map_err(|_| fmt::Error)?;
        let index = list.shown[place];
        let marked = match list.many {
            Many::One => None,
            Many::Any(marked) => Some(marked.borrow()[index]),
        };
        let columns = list.columns();
        let line = list.line(index, active, marked).render(columns, list.look.colour);
        let position = place % list.page;
        self.state.borrow_mut().drawn = position + 1;
        if position + 1 == list.page || place + 1 == list.shown.len() {
            self.wait(&line, columns)?;
        }
        write!(f, "{line}\x1b[K")
    }

    /// Writes the last line and the text below it, and waits for a key.
    fn wait(&self, line: &str, columns: usize) -> fmt::Result {
        let mut out = format!("{line}\x1b[K");
        let below = self.list.status(self.choosing.borrow().active);
        // The last page may be shorter: the rest of the previous page is erased line by line.
        let left = self.list.page - self.state.borrow().drawn.min(self.list.page);
        for line in below.iter().chain(&vec![ScreenLine::default(); left]) {
            out.push_str("\r\n");
            out.push_str(&line.render(columns, self.list.look.colour));
            out.push_str("\x1b[K");
        }
        // The hidden cursor waits in the first row: a terminal that becomes shorter moves what is above the cursor into
        // its scrollback, and cuts off what is below.
        out.push('\r');
        out.push_str(&up(self.list.above.len() + self.list.page - 1 + below.len()));
        write(&out);
        let stopped = loop {
            match self.next() {
                Ok(Some(Key::Interrupt)) => break Stopped::End(DialogEnd::Interrupted),
                Ok(Some(key)) => match self.choosing.borrow_mut().press(&key, self.list.page, self.list.many) {
                    Pressed::Nothing => {}
                    pressed => break Stopped::Pressed(pressed),
                },
                Ok(None) => break Stopped::Redraw,
                Err(stopped) => break stopped,
            }
        };
        self.state.borrow_mut().stopped = Some(stopped);
        Err(fmt::Error)
    }

    /// The next key, or `None` if what is shown has changed.
    fn next(&self) -> Result<Option<Key>, Stopped> {
        match self.stage.wait(None).map_err(Stopped::End)? {
            Ready::Input => self.stage.tty.key().map(Some).map_err(|error| Stopped::End(error.into())),
            Ready::Alarm(AlarmCause::Suspended) => Err(Stopped::Suspend),
            _ => Ok(None),
        }
    }
}

impl Theme for ListDrawing<'_, '_> {
    fn format_select_prompt_item(&self, f: &mut dyn fmt::Write, text: &str, active: bool) -> fmt::Result {
        self.item(f, text, active)
    }
}
