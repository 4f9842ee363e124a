use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    protocol::Frame,
    text::with_causes,
    transport::{Incoming, Junk},
};

/// How many bytes of a line that is not a message are shown.
const PREVIEW: usize = 200;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The content of one line of a server's output: a message, the messages of a batch (2025-03-26, *basic*), junk, or
/// nothing for a blank line. A byte order mark and a carriage return are ignored, and if the encoding is not UTF-8,
/// only the affected letters are lost.
pub(super) fn messages(mut line: Vec<u8>) -> Vec<Incoming> {
    if let Cow::Owned(readable) = String::from_utf8_lossy(&line) {
        line = readable.into_bytes();
    }
    line.truncate(line.trim_ascii_end().len());
    let start = line.strip_prefix(BOM).unwrap_or(&line).trim_ascii_start();
    match start.first() {
        None => Vec::new(),
        Some(b'[') => batch(start),
        Some(_) => {
            let blank = line.len() - start.len();
            vec![message(if blank == 0 { line } else { line.split_off(blank) })]
        }
    }
}

/// How a first line shows that the server speaks another protocol, as the end of a sentence about the server.
pub(super) fn foreign(line: &[u8]) -> Option<&'static str> {
    let line = &line[..line.len().min(PREVIEW)];
    let nulls = line.iter().filter(|byte| **byte == 0).count();
    if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") || (line.len() >= 8 && nulls * 3 >= line.len()) {
        return Some("does not write UTF-8: it looks like UTF-16");
    }
    let text = line.trim_ascii().to_ascii_lowercase();
    if text.strip_prefix(b"data:").is_some_and(|data| Frame::parse(data.to_vec()).is_ok()) {
        return Some(
            "writes server-sent events, as servers at web addresses do; MCP over stdio has one message per line",
        );
    }
    let length = text.strip_prefix(b"content-length:")?.trim_ascii();
    let is_length = !length.is_empty() && length.iter().all(u8::is_ascii_digit);
    is_length.then_some("writes Content-Length frames, as language servers do; MCP has one message per line")
}

/// What must be true for any line: see [`crate::fuzzing::stdio_frames`].
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzzed_line(line: &[u8]) {
    let _ = foreign(line);
    for incoming in messages(line.to_vec()) {
        match incoming {
            Incoming::Frame(frame) => {
                let again = Frame::parse(frame.bytes().to_vec()).expect("a frame is one again");
                assert_eq!((frame.kind(), frame.bytes()), (again.kind(), again.bytes()));
                let _ = (frame.body_value(), frame.method(), frame.id());
            }
            Incoming::Junk(junk) => assert!(junk.preview.len() <= PREVIEW * 3),
            _ => unreachable!("a line is neither the end nor a wish"),
        }
    }
}

fn message(bytes: Vec<u8>) -> Incoming {
    let preview = preview(&bytes);
    match Frame::parse(bytes) {
        Ok(frame) => Incoming::Frame(frame),
        Err(error) => Incoming::Junk(Junk { preview, reason: with_causes(&error) }),
    }
}

fn batch(bytes: &[u8]) -> Vec<Incoming> {
    match serde_json::from_slice::<Vec<&RawValue>>(bytes) {
        Ok(messages) => messages.into_iter().map(|raw| message(raw.get().as_bytes().to_vec())).collect(),
        Err(error) => {
            vec![Incoming::Junk(Junk { preview: preview(bytes), reason: format!("it is not JSON: {error}") })]
        }
    }
}

fn preview(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(PREVIEW)];
    String::from_utf8_lossy(cut).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(line: &[u8]) -> String {
        let kind = |incoming: &Incoming| match incoming {
            Incoming::Frame(_) => 'f',
            Incoming::Junk(_) => 'j',
            _ => '?',
        };
        messages(line.to_vec()).iter().map(kind).collect()
    }

    #[test]
    fn other_ways_to_speak_are_known_by_their_first_line() {
        let wide: Vec<u8> = "{\"jsonrpc\":\"2.0\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(foreign(&wide).is_some_and(|words| words.contains("UTF-16")));
        assert!(foreign(b"\xff\xfe{\x00").is_some_and(|words| words.contains("UTF-16")));
        assert!(foreign(b"Content-Length: 120\r").is_some_and(|words| words.contains("Content-Length")));
        assert!(foreign(b"data: {\"method\":\"a\"}\r").is_some_and(|words| words.contains("events")));
        for line in [
            b"{\"method\":\"a\"}".as_slice(),
            b"data: {}",
            b"data: none",
            b"",
            b"Content-Length: soon",
            b"content-length",
            b"\0",
        ] {
            assert_eq!(foreign(line), None);
        }
    }

    #[test]
    fn frames_are_found_in_odd_lines() {
        let cases: [(&[u8], &str); 12] = [
            (b"{\"method\":\"a\"}", "f"),
            (b"  {\"method\":\"a\"}\r", "f"),
            (b"\xef\xbb\xbf{\"method\":\"a\"}", "f"),
            (b"", ""),
            (b" \r", ""),
            (b"Ready on stdio", "j"),
            (b"{\"method\":\"\xff\"}", "f"),
            (b"\xff\xfe{\"method\":\"a\"}", "j"),
            (b"[{\"method\":\"a\"},{\"id\":1,\"result\":{}},7]", "ffj"),
            (b"[]", ""),
            (b"[info] started", "j"),
            (b"{}", "j"),
        ];
        for (line, expected) in cases {
            assert_eq!(kinds(line), expected, "{}", String::from_utf8_lossy(line));
        }
    }
}
