use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Parses JSON from servers: like `serde_json`, but a lone surrogate in a string (`"\ud83d"`) becomes U+FFFD instead of
/// an error, as in languages whose strings are UTF-16.
///
/// # Errors
/// For anything else that is not JSON of this type, and for values nested deeper than 128.
pub fn parse_lenient<T: DeserializeOwned>(json: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(json).or_else(|error| match mend_surrogates(json) {
        Cow::Borrowed(_) => Err(error),
        Cow::Owned(mended) => serde_json::from_str(&mended),
    })
}

/// `json` with every lone surrogate escape replaced by `\ufffd`.
fn mend_surrogates(json: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json[at..].find('\\') {
        let start = at + found;
        let unit = code_unit(json, start);
        at = match unit {
            None => start + json[start..].chars().take(2).map(char::len_utf8).sum::<usize>(),
            Some(0xD800..=0xDBFF) if matches!(code_unit(json, start + 6), Some(0xDC00..=0xDFFF)) => start + 12,
            Some(0xD800..=0xDFFF) => {
                mended.push_str(&json[copied..start]);
                mended.push_str("\\ufffd");
                copied = start + 6;
                copied
            }
            Some(_) => start + 6,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[copied..]);
    Cow::Owned(mended)
}

/// The UTF-16 code unit of the escape `\uXXXX` at `start`, if there is one.
pub(super) fn code_unit(json: &str, start: usize) -> Option<u32> {
    let digits = json.get(start..)?.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn half_a_pair_is_replaced_and_whole_ones_stay() {
        let parsed = |json: &str| parse_lenient::<String>(json).expect("a string");
        assert_eq!(parsed(r#""a\ud83dz""#), "a\u{fffd}z");
        assert_eq!(parsed(r#""\ud83d\ude00 \udc00\\ud83d""#), "\u{1f600} \u{fffd}\\ud83d");
        assert_eq!(parsed(r#""\ud83d\ud83d\ude00""#), "\u{fffd}\u{1f600}");
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for json in ["", "{", r#""\ud8"#, r#""\ud83dé"#, "\"\\", r#""\u12é4""#] {
            assert!(parse_lenient::<Value>(json).is_err(), "{json}");
        }
    }
}
