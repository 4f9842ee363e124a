use std::borrow::Cow;

use super::safe_line;

/// The longest name from a server that is shown in front of other text, in characters.
pub(crate) const NAME: usize = 200;
/// The longest address, or other text that somebody may want to copy as a whole, in characters.
pub(crate) const ADDRESS: usize = 2_000;

/// A name from a server, on one line, safe, and shortened with its length mentioned.
pub(crate) fn safe_name(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(NAME) {
        None => safe_line(name),
        Some(_) => Cow::Owned(safe_line(&cut(name, NAME)).into_owned()),
    }
}

/// An address from a server, or other text that somebody may want to copy, on one line, safe, and shortened with its
/// length mentioned.
pub(crate) fn safe_address(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(ADDRESS) {
        None => safe_line(text),
        Some(_) => Cow::Owned(safe_line(&cut(text, ADDRESS)).into_owned()),
    }
}

/// The first `limit` characters of `text`, and the total number if some are left out.
pub(crate) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}… ({} characters)", &text[..end], text.chars().count())),
    }
}

/// The start of `text`, at most `limit` bytes, never in the middle of a character.
pub(crate) fn start_of(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_never_splits_a_character() {
        assert_eq!(["ab", "añb", "", "ü"].map(|text| start_of(text, 2)), ["ab", "a", "", "ü"]);
        assert_eq!(start_of("abc", 10), "abc");
    }

    #[test]
    fn long_text_is_cut_with_its_length_told() {
        assert_eq!(cut("žluťoučký", 3), "žlu… (9 characters)");
        assert_eq!(cut("abc", 3), "abc");
        let marks = format!("e{}", "\u{301}".repeat(100_000));
        assert!(safe_name(&marks).len() < 500 && safe_name(&marks).ends_with("(100001 characters)"));
        assert_eq!(safe_name("a\nb"), "a\\nb");
    }
}
