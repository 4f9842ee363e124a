use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// How many columns `text`, which is one safe line, takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text`, or as much of its start as fits into `columns` with an ellipsis.
pub(crate) fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    match columns {
        0 => Cow::Borrowed(""),
        1 => Cow::Borrowed("…"),
        _ => Cow::Owned(format!("{}…", &text[..prefix(text, columns - 1)])),
    }
}

/// `text` as lines of at most `columns`, broken between words if possible, and at its own line ends.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for paragraph in text.trim_end().split('\n') {
        let mut rest = paragraph.trim_end();
        loop {
            let end = prefix(rest, columns);
            if end == rest.len() {
                lines.push(rest.replace('\t', " "));
                break;
            }
            // Breaks after the last space that fits, or else anywhere after the first character.
            let space = rest[..end].rfind(' ').filter(|at| *at > 0 && !rest[end..].starts_with(' '));
            let end = space.unwrap_or(end);
            lines.push(rest[..end].trim_end().replace('\t', " "));
            rest = rest[end..].trim_start();
        }
    }
    lines
}

/// `text` as lines of exactly `columns`, except for the last: for addresses.
pub(crate) fn chop(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_at(prefix(rest, columns.max(1)));
        lines.push(line.to_owned());
        rest = after;
    }
    lines
}

/// The length in bytes of the longest start of `text` that fits into `columns`; at least one cluster.
fn prefix(text: &str, columns: usize) -> usize {
    let mut end = 0;
    let mut used = 0;
    for cluster in text.graphemes(true) {
        used += width(cluster);
        if used > columns && end > 0 {
            break;
        }
        end += cluster.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_fitted_by_columns_not_characters() {
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abcd", 3), "ab…");
        assert_eq!(fit("漢字漢字", 5), "漢字…");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("one\n\nabcdefghij", 4), ["one", "", "abcd", "efgh", "ij"]);
        assert_eq!(wrap("漢字漢字", 4), ["漢字", "漢字"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("  indented", 80), ["  indented"]);
    }

    #[test]
    fn addresses_break_anywhere() {
        assert_eq!(chop("https://a.example/", 10), ["https://a.", "example/"]);
    }
}
