use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{
    guard::Guard,
    layout::signed,
    line::{Ink, ScreenLine},
};
use crate::text::{fit, width};

/// The text above all prompts of one question. All of it is safe for a terminal.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    /// Who asks, and during what.
    pub(super) header: String,
    /// The server's message.
    pub(super) message: String,
    /// How many other questions are waiting for the terminal.
    pub(super) waiting: Arc<AtomicUsize>,
    /// The answers so far: label and value.
    pub(super) answers: Vec<(String, String)>,
}

/// One thing to enter or to choose.
#[derive(Clone, Debug, Default)]
pub(super) struct Prompt {
    /// Its title.
    pub(super) title: Option<Title>,
    /// The server's description.
    pub(super) about: String,
    /// Our notes: a sign and a text.
    pub(super) notes: Vec<Note>,
    /// Why the last attempt was refused.
    pub(super) error: Option<String>,
    /// The keys.
    pub(super) hints: Vec<String>,
    /// Whether Enter sends, without a review.
    pub(super) sends: bool,
}

/// A note of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// Something to know.
    Info(String),
    /// A warning.
    Warning(String),
    /// A complete address, however long it is.
    Address(String),
}

/// The title of a prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Title {
    /// The field's label.
    pub(super) label: String,
    /// The field's key, unless it is the label.
    pub(super) key: Option<String>,
    /// The rules.
    pub(super) rules: String,
    /// `1 of 4`, or empty.
    pub(super) counter: String,
}

impl Scene {
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Who asks, and how many others are waiting; empty if that has been said.
    pub(super) fn header_lines(&self) -> Vec<ScreenLine> {
        let line = ScreenLine::new(Ink::Strong, &*self.header);
        match self.waiting() {
            0 if self.header.is_empty() => Vec::new(),
            0 => vec![line],
            count => vec![line.and(Ink::Warning, format!("   {count} more waiting"))],
        }
    }

    /// The answers so far, values in one column.
    pub(super) fn answer_lines(&self, columns: usize) -> Vec<ScreenLine> {
        let column = label_column(self.answers.iter().map(|(label, _)| &**label), columns);
        let line = |(label, value): &(String, String)| {
            let label = fit(label, column).into_owned();
            ScreenLine::new(Ink::Faint, format!("  {label}")).pad(column + 4).and(Ink::Faint, &**value)
        };
        self.answers.iter().map(line).collect()
    }
}

/// The width of a column of labels: that of the widest, but at most half of the terminal.
pub(super) fn label_column<'a>(labels: impl Iterator<Item = &'a str>, columns: usize) -> usize {
    labels.map(width).max().unwrap_or(0).min(columns / 2)
}

impl Prompt {
    /// Which keys count at first.
    pub(super) fn guard(&self) -> Guard {
        if self.sends { Guard::of_sending() } else { Guard::of_entry() }
    }

    /// The notes; an address is separated from the choices.
    pub(super) fn note_lines(&self, columns: usize) -> Vec<ScreenLine> {
        let mut lines: Vec<ScreenLine> = self.notes.iter().flat_map(|note| note.lines(columns)).collect();
        if self.notes.iter().any(|note| matches!(note, Note::Address(_))) {
            lines.push(ScreenLine::default());
        }
        lines
    }
}

impl Note {
    pub(super) fn lines(&self, columns: usize) -> Vec<ScreenLine> {
        match self {
            Self::Info(text) => signed("", text, Ink::Faint, columns),
            Self::Warning(text) => signed("! ", text, Ink::Warning, columns),
            Self::Address(text) => {
                crate::text::chop(text, columns).into_iter().map(|line| ScreenLine::new(Ink::Accent, line)).collect()
            }
        }
    }
}

impl Title {
    pub(super) fn label_line(&self, columns: usize) -> ScreenLine {
        let room = columns.saturating_sub(width(&self.counter) + 2);
        let line = ScreenLine::new(Ink::Strong, fit(&self.label, room));
        match &self.key {
            Some(key) if line.width() + width(key) + 3 <= room => line.and(Ink::Faint, format!(" ({key})")),
            _ => line,
        }
    }
}
