use super::{lenient::code_unit, parse_lenient};

/// The text of a long JSON string, piece by piece, so that it is never copied as a whole.
pub(crate) struct StringPieces<'a> {
    /// The rest, without the quotes.
    rest: &'a str,
    size: usize,
}

impl<'a> StringPieces<'a> {
    /// The pieces of `literal`, which includes its quotes, of about `size` bytes. `None` if it is not a string.
    pub(crate) fn of(literal: &'a str, size: usize) -> Option<Self> {
        let rest = literal.trim().strip_prefix('"')?.strip_suffix('"')?;
        Some(Self { rest, size })
    }

    /// Where the next piece ends: between two characters, and not inside an escape.
    fn end(&self) -> usize {
        if self.rest.len() <= self.size {
            return self.rest.len();
        }
        let mut most = self.size;
        while !self.rest.is_char_boundary(most) {
            most += 1;
        }
        let mut at = 0;
        while let Some(found) = self.rest[at..most].find('\\') {
            let start = at + found;
            at = start + escape(self.rest, start);
            if at >= most {
                return at.min(self.rest.len());
            }
        }
        most
    }
}

impl Iterator for StringPieces<'_> {
    type Item = Result<String, serde_json::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (piece, rest) = self.rest.split_at(self.end());
        self.rest = rest;
        Some(if piece.contains('\\') { parse_lenient(&format!("\"{piece}\"")) } else { Ok(piece.to_owned()) })
    }
}

/// The length of the escape at `start`; a surrogate pair counts as one.
fn escape(text: &str, start: usize) -> usize {
    match code_unit(text, start) {
        Some(0xD800..=0xDBFF) if matches!(code_unit(text, start + 6), Some(0xDC00..=0xDFFF)) => 12,
        Some(_) => 6,
        None => 1 + text[start + 1..].chars().next().map_or(0, char::len_utf8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_are_the_text() {
        let text = "a\n\"\\žluť\u{1f600}\r\n\u{0}end\t\\";
        let escaped = r#""a\n\"\\\u017Elu\u0165\ud83d\uDE00\r\n\u0000end\t\\""#;
        for literal in [serde_json::to_string(text).expect("JSON").as_str(), escaped] {
            for size in 1..=literal.len() + 1 {
                let pieces: Result<Vec<String>, _> = StringPieces::of(literal, size).expect("a string").collect();
                assert_eq!(pieces.expect("pieces").concat(), text, "{size}");
            }
        }
        assert_eq!(StringPieces::of(r#""""#, 9).expect("a string").count(), 0);
    }

    #[test]
    fn half_a_pair_is_replaced_and_what_is_no_string_has_no_pieces() {
        let pieces: Vec<String> = StringPieces::of(r#""\ud83d\n\udc00""#, 1).expect("a string").flatten().collect();
        assert_eq!(pieces, ["\u{fffd}", "\n", "\u{fffd}"]);
        assert!(["7", "null", "\"", "{}"].iter().all(|json| StringPieces::of(json, 1).is_none()));
    }
}
