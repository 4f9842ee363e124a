use super::{
    line::{Ink, ScreenLine},
    scene::{Prompt, Scene, Title},
};
use crate::text::{width, wrap};

/// The terminal's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// The drawing of one prompt: the lines above the entry, the rows of the entry, and the lines below it. Together they
/// fit into the terminal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) above: Vec<ScreenLine>,
    pub(super) rows: usize,
    pub(super) below: Vec<ScreenLine>,
    /// How many lines of text did not fit.
    pub(super) hidden: usize,
    /// Whether lines of the message are among them.
    pub(super) cuts_message: bool,
}

/// A part of the screen, which shrinks if there are too few rows.
struct LayoutPart {
    lines: Vec<ScreenLine>,
    /// How many lines were removed.
    taken: usize,
    /// Whether the last remaining line says how many are missing.
    counts: bool,
}

/// The parts from top to bottom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LayoutPlace {
    Header,
    Message,
    Gap,
    Answers,
    Space,
    Title,
    About,
    Notes,
    Entry,
    Error,
    Hints,
}

/// Which part shrinks to how many rows, in this order, until everything fits.
const SHRINKING: [(LayoutPlace, usize); 20] = [
    (LayoutPlace::Answers, 3),
    (LayoutPlace::Entry, 10),
    (LayoutPlace::Message, 6),
    (LayoutPlace::Answers, 0),
    (LayoutPlace::Space, 0),
    (LayoutPlace::Gap, 0),
    (LayoutPlace::About, 2),
    (LayoutPlace::Entry, 6),
    (LayoutPlace::Message, 2),
    (LayoutPlace::Entry, 3),
    (LayoutPlace::Hints, 1),
    (LayoutPlace::Message, 0),
    (LayoutPlace::About, 0),
    (LayoutPlace::Entry, 1),
    (LayoutPlace::Hints, 0),
    (LayoutPlace::Notes, 1),
    (LayoutPlace::Header, 0),
    (LayoutPlace::Notes, 0),
    (LayoutPlace::Error, 1),
    (LayoutPlace::Title, 1),
];

impl Layout {
    /// Lays out `prompt` in `scene` for an entry that takes `rows` rows, or as many as there are.
    pub(super) fn new(scene: &Scene, prompt: &Prompt, rows: usize, size: Size, look: Look) -> Self {
        let layout = Self::lay(scene, prompt, rows, size, look);
        if layout.hidden == 0 || look.plain {
            return layout;
        }
        let mut prompt = prompt.clone();
        prompt.hints.insert(0, "Ctrl-T shows all the text".to_owned());
        Self::lay(scene, &prompt, rows, size, look)
    }

    fn lay(scene: &Scene, prompt: &Prompt, rows: usize, size: Size, look: Look) -> Self {
        let columns = size.columns.saturating_sub(1).max(1);
        let bars = |text: &str| look.behind_bar(text, columns);
        let gap = |wanted: bool| if wanted { vec![ScreenLine::default()] } else { Vec::new() };
        let answers = scene.answer_lines(columns);
        let whole = |lines| LayoutPart { lines, taken: 0, counts: false };
        let counted = |lines| LayoutPart { lines, taken: 0, counts: true };
        let mut parts = [
            whole(scene.header_lines()),
            counted(bars(&scene.message)),
            whole(gap(true)),
            whole(answers.clone()),
            whole(gap(!answers.is_empty())),
            whole(prompt.title.as_ref().map_or_else(Vec::new, |title| title_lines(title, columns))),
            counted(bars(&prompt.about)),
            counted(prompt.note_lines(columns)),
            whole(vec![ScreenLine::default(); rows]),
            whole(prompt.error.as_deref().map_or_else(Vec::new, |error| look.error(error, columns))),
            whole(hint_lines(&prompt.hints, columns)),
        ];
        let (mut hidden, mut cuts_message) = (0, false);
        for (place, keep) in SHRINKING {
            let total: usize = parts.iter().map(|part| part.lines.len()).sum();
            let part = &mut parts[place as usize];
            let excess = total.saturating_sub(size.rows).min(part.lines.len().saturating_sub(keep));
            if part.counts && excess > 0 {
                hidden += excess;
                cuts_message |= place == LayoutPlace::Message;
            }
            part.shrink(excess, place == LayoutPlace::Answers);
        }
        let mut parts = parts.into_iter().map(|part| part.lines);
        let above = parts.by_ref().take(LayoutPlace::Entry as usize).flatten().collect();
        let rows = parts.next().map_or(0, |lines| lines.len());
        Self { above, rows, below: parts.flatten().collect(), hidden, cuts_message }
    }
}

impl LayoutPart {
    /// Removes `excess` lines, at the start or at the end.
    fn shrink(&mut self, excess: usize, at_start: bool) {
        if excess == 0 {
            return;
        }
        if at_start {
            self.lines.drain(..excess);
            return;
        }
        let all = self.lines.len();
        self.lines.truncate(all - excess);
        self.taken += excess;
        let hidden = self.taken + 1;
        if let (true, Some(last)) = (self.counts, self.lines.last_mut()) {
            *last = ScreenLine::new(Ink::Faint, format!("… {hidden} more lines, Ctrl-T shows them"));
        }
    }
}

/// The style in this terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// No cursor movement, and ASCII signs.
    pub(super) plain: bool,
    /// Colours.
    pub(super) colour: bool,
}

impl Look {
    /// The sign in front of what is being entered or chosen.
    pub(super) fn pointer(self) -> &'static str {
        if self.plain { "> " } else { "› " }
    }

    /// The sign for success.
    pub(super) fn tick(self) -> &'static str {
        if self.plain { "" } else { "✓ " }
    }

    /// Shown instead of each character of a secret.
    pub(super) fn mask(self, masked: bool) -> Option<&'static str> {
        masked.then_some(if self.plain { "*" } else { "•" })
    }

    /// Server text, which must not look like ours.
    pub(super) fn behind_bar(self, text: &str, columns: usize) -> Vec<ScreenLine> {
        let bar = if self.plain { "| " } else { "│ " };
        if text.is_empty() {
            return Vec::new();
        }
        let lines = wrap(text, columns.saturating_sub(2));
        lines.into_iter().map(|line| ScreenLine::new(Ink::Faint, bar).and(Ink::Plain, line)).collect()
    }

    pub(super) fn error(self, text: &str, columns: usize) -> Vec<ScreenLine> {
        let sign = if self.plain { "x " } else { "✗ " };
        signed(sign, text, Ink::Bad, columns)
    }
}

/// `text` after a sign, with its other lines aligned below.
pub(super) fn signed(sign: &str, text: &str, ink: Ink, columns: usize) -> Vec<ScreenLine> {
    let lines = wrap(text, columns.saturating_sub(width(sign)));
    let sign_of = |row| if row == 0 { sign.to_owned() } else { " ".repeat(width(sign)) };
    lines.into_iter().enumerate().map(|(row, line)| ScreenLine::new(ink, sign_of(row)).and(ink, line)).collect()
}

/// Label, rules and counter: on one line if they fit.
pub(super) fn title_lines(title: &Title, columns: usize) -> Vec<ScreenLine> {
    const RULES_AT: usize = 28;
    let columns = columns.min(76);
    let label = title.label_line(columns);
    let counter = width(&title.counter);
    let rules = width(&title.rules);
    let at = RULES_AT.max(label.width() + 2);
    let with_counter = |line: ScreenLine| match counter {
        0 => line,
        _ => line.pad(columns.saturating_sub(counter)).and(Ink::Faint, &*title.counter),
    };
    if at + rules + 2 + counter <= columns {
        let line = if rules == 0 { label } else { label.pad(at).and(Ink::Faint, &*title.rules) };
        return vec![with_counter(line)];
    }
    let rules = wrap(&title.rules, columns.saturating_sub(2));
    let rules = rules.into_iter().map(|line| ScreenLine::new(Ink::Faint, format!("  {line}")));
    [with_counter(label)].into_iter().chain(rules).collect()
}

/// The hints, as many on a line as fit.
pub(super) fn hint_lines(hints: &[String], columns: usize) -> Vec<ScreenLine> {
    let mut lines: Vec<String> = Vec::new();
    for hint in hints {
        let hint = if columns < 60 { hint.trim_end_matches(" the question") } else { hint };
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(hint) <= columns => {
                line.push_str(" · ");
                line.push_str(hint);
            }
            _ => lines.push(hint.to_owned()),
        }
    }
    lines.into_iter().map(|line| ScreenLine::new(Ink::Faint, line)).collect()
}
