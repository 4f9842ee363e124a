use serde::Deserialize;
use serde_json::value::RawValue;

use super::result::{media_note, push_block};
use crate::{
    protocol::{ContentBlock, StringPieces},
    text::safe_piped,
};

/// The approximate size of a piece of text, in bytes.
const PIECE: usize = 64 << 10;

/// The parts of a content block that may be long, in the server's own bytes.
#[derive(Deserialize)]
struct LongBlock<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(rename = "mimeType", default)]
    mime_type: String,
}

/// A content block as text for a pipe, piece by piece: its long parts are never copied as a whole.
pub(super) fn block_pieces(block: &RawValue) -> Box<dyn Iterator<Item = String> + '_> {
    let long = serde_json::from_str::<LongBlock<'_>>(block.get()).ok();
    let pieces = long.and_then(|long| match (long.kind.as_str(), long.text, long.data) {
        ("text", Some(text), _) => text_pieces(text.get()),
        (kind @ ("image" | "audio"), _, Some(data)) => {
            // Base64 has nothing to escape, but some servers escape its slashes.
            let data = data.get().trim().strip_prefix('"')?.strip_suffix('"').filter(|data| !data.contains('\\'))?;
            Some(Box::new(std::iter::once(media_note(kind, &long.mime_type, data))) as Box<dyn Iterator<Item = String>>)
        }
        _ => None,
    });
    pieces.unwrap_or_else(|| {
        let mut text = String::new();
        push_block(&mut text, &ContentBlock::from_raw(block), false);
        Box::new(Some(text).filter(|text| !text.is_empty()).into_iter())
    })
}

/// `None` if it is not a string, or not a complete one.
fn text_pieces(literal: &str) -> Option<Box<dyn Iterator<Item = String> + '_>> {
    let mut pieces = StringPieces::of(literal, PIECE)?.peekable();
    let mut before = "";
    Some(Box::new(std::iter::from_fn(move || {
        let piece = pieces.next()?.unwrap_or_else(|_| "\u{fffd}".to_owned());
        let mut text = format!("{before}{piece}");
        before = "";
        // The line feed of a CR LF is in the next piece.
        if text.ends_with('\r') && pieces.peek().is_some() {
            text.pop();
            before = "\r";
        }
        Some(safe_piped(&text).into_owned())
    })))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn whole(block: &serde_json::Value) -> (String, String) {
        let raw = RawValue::from_string(block.to_string()).expect("JSON");
        let mut text = String::new();
        push_block(&mut text, &ContentBlock::from_raw(&raw), false);
        (block_pieces(&raw).collect(), text)
    }

    #[test]
    fn pieces_of_a_block_are_the_block() {
        let line = "x".repeat(PIECE - 1);
        let text = format!("{line}\r\n\u{1b}[31m{line}\r{line}ž\"\\{line}\r");
        for block in [
            json!({"type": "text", "text": text}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text", "text": 7}),
            json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
            json!({"type": "audio", "data": "AA\\=="}),
            json!({"type": "resource", "resource": {"uri": "a:b", "text": "c"}}),
            json!("bare"),
            json!(null),
        ] {
            let (pieces, whole) = whole(&block);
            assert_eq!(pieces, whole);
        }
    }
}
