use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::Key;

/// One line of text that is being edited, in grapheme clusters. It contains line ends only if it came from elsewhere: a
/// program or a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Editor {
    text: String,
    /// A byte position between two clusters.
    cursor: usize,
    /// Whether the first typed character replaces the text.
    is_replaced: bool,
}

impl Editor {
    /// `text`, with the cursor at its end.
    pub(super) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { cursor: text.len(), text, is_replaced: false }
    }

    /// The cursor is between the two.
    pub(super) fn between(before: &str, after: &str) -> Self {
        Self { cursor: before.len(), text: format!("{before}{after}"), is_replaced: false }
    }

    /// The text before the cursor and after it.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.cursor)
    }

    /// The same, for a text that typing replaces, until it is changed in another way.
    pub(super) fn replaced_by_typing(text: impl Into<String>) -> Self {
        Self { is_replaced: true, ..Self::new(text) }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The clusters, and how many are before the cursor.
    pub(super) fn clusters(&self) -> (Vec<&str>, usize) {
        (self.text.graphemes(true).collect(), self.text[..self.cursor].graphemes(true).count())
    }

    /// Handles `key`; returns whether it was a key for an editor.
    pub(super) fn press(&mut self, key: &Key) -> bool {
        if std::mem::take(&mut self.is_replaced) && matches!(key, Key::Char(_) | Key::Paste(_)) {
            self.erase(0..self.text.len());
        }
        match key {
            Key::Char(character) => self.insert(character.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.insert(&one_line(text)),
            Key::Left => self.cursor = self.before(),
            Key::Right => self.cursor = self.after(),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.text.len(),
            Key::WordLeft => self.cursor = self.word_start(),
            Key::WordRight => self.cursor = self.word_end(),
            Key::Backspace => self.erase(self.before()..self.cursor),
            Key::Delete | Key::EndOfInput => self.erase(self.cursor..self.after()),
            Key::EraseWordLeft => self.erase(self.word_start()..self.cursor),
            Key::EraseWordRight => self.erase(self.cursor..self.word_end()),
            Key::EraseToStart => self.erase(0..self.cursor),
            Key::EraseToEnd => self.erase(self.cursor..self.text.len()),
            _ => return false,
        }
        true
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        // The typed text may have joined with the next cluster: step over the whole.
        let end = self.cursor + text.len();
        let boundaries = self.text.grapheme_indices(true).map(|(start, _)| start);
        self.cursor = boundaries.chain([self.text.len()]).find(|start| *start >= end).unwrap_or(end);
    }

    fn erase(&mut self, range: Range<usize>) {
        self.cursor = range.start;
        self.text.drain(range);
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(start, _)| start)
    }

    fn after(&self) -> usize {
        self.cursor + self.text[self.cursor..].graphemes(true).next().map_or(0, str::len)
    }

    fn word_start(&self) -> usize {
        let mut words = self.text[..self.cursor].split_word_bound_indices();
        words.rfind(|(_, word)| is_word(word)).map_or(0, |(start, _)| start)
    }

    fn word_end(&self) -> usize {
        let mut words = self.text[self.cursor..].split_word_bound_indices();
        let end = words.find(|(_, word)| is_word(word)).map(|(start, word)| start + word.len());
        end.map_or(self.text.len(), |end| self.cursor + end)
    }
}

fn is_word(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Pasted text as one line: each line end and each tab becomes a space; other control characters are dropped.
fn one_line(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end_matches(['\r', '\n']);
    let space = |c| if matches!(c, '\r' | '\n' | '\t') { ' ' } else { c };
    text.chars().map(space).filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, keys: &[Key]) -> Editor {
        let mut editor = Editor::new(text);
        for key in keys {
            assert!(editor.press(key), "{key:?}");
        }
        editor
    }

    #[test]
    fn clusters_are_erased_whole() {
        assert_eq!(typed("漢字", &[Key::Backspace]).text(), "漢");
        assert_eq!(typed("e\u{301}", &[Key::Backspace]).text(), "");
        assert_eq!(typed("x👩\u{200d}👧", &[Key::Backspace]).text(), "x");
        assert_eq!(typed("👍🏽y", &[Key::Home, Key::Delete]).text(), "y");
    }

    #[test]
    fn a_combining_character_joins_the_one_before() {
        let editor = typed("e", &[Key::Char('\u{301}'), Key::Left, Key::Char('x')]);
        assert_eq!(editor.text(), "xe\u{301}");
        assert_eq!(editor.clusters().1, 1);
    }

    #[test]
    fn words() {
        assert_eq!(typed("one two  three", &[Key::WordLeft, Key::EraseWordLeft]).text(), "one three");
        assert_eq!(typed("one two", &[Key::Home, Key::WordRight, Key::Char('!')]).text(), "one! two");
        assert_eq!(typed("one two", &[Key::WordLeft, Key::EraseToStart]).text(), "two");
        assert_eq!(typed("one two", &[Key::Home, Key::EraseWordRight, Key::EraseToEnd]).text(), "");
        assert_eq!(typed("", &[Key::WordLeft, Key::WordRight, Key::Delete, Key::Backspace]).text(), "");
    }

    #[test]
    fn a_paste_of_two_lines_is_one_line() {
        assert_eq!(typed("a", &[Key::Paste("b\r\nc\nd\te\u{1b}f\n".into())]).text(), "ab c d ef");
    }
}
