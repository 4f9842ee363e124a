use crate::text::{fit, width};

/// The style of a piece of a line, if the terminal has colours. The words say the same without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Strong,
    Faint,
    Accent,
    Good,
    Bad,
    Warning,
}

/// One line on the screen: safe text, in pieces with one style each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScreenLine(Vec<(Ink, String)>);

impl ScreenLine {
    pub(super) fn new(ink: Ink, text: impl Into<String>) -> Self {
        Self::default().and(ink, text)
    }

    /// A line with a sign for success.
    pub(super) fn good(sign: &str, text: &str) -> Self {
        Self::new(Ink::Good, format!("{sign}{text}"))
    }

    pub(super) fn faint(text: impl Into<String>) -> Self {
        Self::new(Ink::Faint, text)
    }

    pub(super) fn accent(text: &str) -> Self {
        Self::new(Ink::Accent, text)
    }

    pub(super) fn and(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.0.push((ink, text.into()));
        self
    }

    /// Spaces up to `column`, at least one.
    pub(super) fn pad(self, column: usize) -> Self {
        let gap = column.saturating_sub(self.width()).max(1);
        self.and(Ink::Plain, " ".repeat(gap))
    }

    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    /// The line, cut to `columns`.
    pub(super) fn cut(&self, columns: usize) -> Self {
        let mut cut = Self::default();
        let mut room = columns;
        for (ink, text) in &self.0 {
            let text = fit(text, room);
            room -= width(&text).min(room);
            cut.0.push((*ink, text.into_owned()));
        }
        cut
    }

    /// The line as written to the terminal, cut to `columns`.
    pub(super) fn render(&self, columns: usize, colour: bool) -> String {
        let mut out = String::new();
        for (ink, text) in &self.cut(columns).0 {
            match code(*ink).filter(|_| colour && !text.is_empty()) {
                Some(code) => out.extend(["\x1b[", code, "m", text, "\x1b[0m"]),
                None => out.push_str(text),
            }
        }
        out
    }
}

fn code(ink: Ink) -> Option<&'static str> {
    match ink {
        Ink::Plain => None,
        Ink::Strong => Some("1"),
        Ink::Faint => Some("2"),
        Ink::Accent => Some("36"),
        Ink::Good => Some("32"),
        Ink::Bad => Some("31"),
        Ink::Warning => Some("33"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_as_a_whole() {
        let line = ScreenLine::new(Ink::Strong, "Name").pad(8).and(Ink::Faint, "required");
        assert_eq!(line.width(), 16);
        assert_eq!(line.render(12, false), "Name    req…");
        assert_eq!(line.render(80, true), "\u{1b}[1mName\u{1b}[0m    \u{1b}[2mrequired\u{1b}[0m");
        assert_eq!(line.render(4, false), "Name");
    }
}
