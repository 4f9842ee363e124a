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
}
