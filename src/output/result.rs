use std::{fmt::Write as _, path::PathBuf};

use serde_json::Value;

use super::{Pictures, Saved, pretty, safe_json, save::decoded};
use crate::{
    form::same,
    protocol::{CallToolResult, ContentBlock, parse_lenient},
    text::{ADDRESS, cut, safe_address, safe_line, safe_name, safe_piped, safe_text},
};

/// The longest structured content that is printed below a text, in bytes.
const LONGEST_BELOW: usize = 64 << 10;

/// How a result is shown to people.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultLook<'a> {
    /// The file of each block; empty if none is saved.
    pub saved: &'a [Saved],
    /// How images are shown, if they are.
    pub pictures: Option<Pictures>,
    /// The words before and after a resource's URI, in a command that reads it, if there is one.
    pub reads: Option<&'a (String, String)>,
}

/// A result as text for people: its blocks one below the other, and its structured content if no block says the same.
///
/// The server's text is made safe, for a terminal or for a pipe that may end at one. Ends with a line end, unless there
/// is nothing to print. `raw` is the result's JSON text, shown if it has neither. At a terminal, blocks that are not
/// meant for the user are one line each, if there are others.
pub(super) fn result_text(result: &CallToolResult, raw: &str, look: ResultLook<'_>, on_terminal: bool) -> String {
    let mut text = String::new();
    let folds = on_terminal && result.asides.contains(&false);
    for (index, block) in result.content.iter().enumerate() {
        match look.saved.get(index) {
            Some(Some(saved)) => push_saved(&mut text, block, saved),
            _ if folds && result.asides.get(index) == Some(&true) && is_words(block) => push_aside(&mut text, block),
            _ => push_block(&mut text, block, on_terminal),
        }
        if let Some(pictures) = look.pictures {
            push_picture(&mut text, block, pictures);
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    if on_terminal && let Some(reads) = look.reads {
        push_reading(&mut text, &result.content, reads);
    }
    let json = match &result.structured {
        Some(structured) if result.content.is_empty() || !is_told(structured, &result.content) => {
            Some(structured.as_str())
        }
        None if result.content.is_empty() => unusual(raw),
        _ => None,
    };
    if let Some(json) = json {
        if !result.content.is_empty() && json.len() > LONGEST_BELOW {
            _ = writeln!(text, "[structured content, {} bytes; -o data shows it]", json.len());
        } else {
            text.push_str(&safe_json(&pretty(json)));
            text.push('\n');
        }
    }
    text
}

/// Whether a text block says the same as the structured content: the same JSON, or the one value that is wrapped in it.
fn is_told(structured: &str, blocks: &[ContentBlock]) -> bool {
    let Ok(structured) = parse_lenient::<Value>(structured) else { return false };
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    // Many servers wrap a value that is not an object as `{"result": …}`.
    let inner = structured.as_object().filter(|map| map.len() == 1).and_then(|map| map.values().next());
    let says = |value: &Value, text: &str| {
        value.as_str().is_some_and(|words| words == text)
            || parse_lenient::<Value>(text).is_ok_and(|told| same(&told, value))
    };
    let each = inner.unwrap_or(&structured).as_array().is_some_and(|values| {
        values.len() == texts.len()
            && !texts.is_empty()
            && values.iter().zip(&texts).all(|(value, text)| says(value, text))
    });
    each || texts.iter().any(|text| says(&structured, text) || inner.is_some_and(|inner| says(inner, text)))
}

/// Whether a block is shown as text.
fn is_words(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text(_) => true,
        ContentBlock::Resource(resource) => resource.get("text").is_some_and(Value::is_string),
        _ => false,
    }
}

fn push_aside(text: &mut String, block: &ContentBlock) {
    let words = match block {
        ContentBlock::Text(words) => words.as_str(),
        ContentBlock::Resource(resource) => resource.get("text").and_then(Value::as_str).unwrap_or_default(),
        _ => "",
    };
    _ = write!(text, "[text that is not meant for you, {} characters; -o json shows it]", words.chars().count());
}

/// Shows a block that is an image, or an image embedded as a resource.
fn push_picture(text: &mut String, block: &ContentBlock, pictures: Pictures) {
    let data = match block {
        ContentBlock::Image { data, .. } => Some(data.as_str()),
        ContentBlock::Resource(resource) => {
            let kind = resource.get("mimeType").and_then(Value::as_str).unwrap_or_default();
            resource.get("blob").and_then(Value::as_str).filter(|_| kind.starts_with("image/"))
        }
        _ => None,
    };
    let Some(data) = data else { return };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let columns = usize::from(console::Term::stdout().size().1).max(1);
    match decoded(data).and_then(|image| pictures.draw(&image, columns)) {
        Ok(drawn) => text.push_str(&drawn),
        Err(reason) => _ = writeln!(text, "[not shown: {}]", safe_line(&reason)),
    }
}

/// How to read the linked resources: those at web addresses are opened like other links.
fn push_reading(text: &mut String, blocks: &[ContentBlock], (before, after): &(String, String)) {
    let links = blocks.iter().filter_map(|block| match block {
        ContentBlock::ResourceLink { uri, .. } if !uri.starts_with("http:") && !uri.starts_with("https:") => Some(uri),
        _ => None,
    });
    let links: Vec<&String> = links.collect();
    let Some(first) = links.first().filter(|uri| uri.len() <= ADDRESS) else { return };
    let what = if links.len() == 1 { "reads it" } else { "reads the first" };
    _ = writeln!(text, "[`{before} {}{after}` {what}]", safe_line(&shell_words::quote(first)));
}

fn push_saved(text: &mut String, block: &ContentBlock, saved: &Result<PathBuf, String>) {
    let what = match block {
        ContentBlock::Image { .. } => "image",
        ContentBlock::Audio { .. } => "audio",
        _ => "resource",
    };
    match saved {
        Ok(path) => _ = write!(text, "[{what} saved: {}]", safe_line(&path.to_string_lossy())),
        Err(reason) => _ = write!(text, "[{what}: {}]", safe_line(reason)),
    }
}

/// `raw`, if it is a result without `content` that still says something.
fn unusual(raw: &str) -> Option<&str> {
    let keys: Vec<String> = match serde_json::from_str::<Value>(raw) {
        Ok(Value::Object(object)) => object.into_iter().map(|(key, _)| key).collect(),
        _ => return Some(raw),
    };
    let usual =
        |key: &String| matches!(key.as_str(), "content" | "structuredContent" | "isError" | "resultType" | "_meta");
    if keys.iter().all(usual) { None } else { Some(raw) }
}

pub(super) fn push_block(text: &mut String, block: &ContentBlock, on_terminal: bool) {
    match block {
        ContentBlock::Text(words) => push_words(text, words, on_terminal),
        ContentBlock::Image { mime_type, data } => push_note(text, "image", mime_type, data),
        ContentBlock::Audio { mime_type, data } => push_note(text, "audio", mime_type, data),
        ContentBlock::ResourceLink { uri, name, description } => {
            let name = name.as_ref().map(|name| format!("{}: ", cut(name, ADDRESS))).unwrap_or_default();
            let uri = cut(uri, ADDRESS);
            let description = description.as_ref().map(|words| format!("\n  {words}")).unwrap_or_default();
            push_words(text, &format!("{name}{uri}{description}"), on_terminal);
        }
        ContentBlock::Resource(resource) => push_resource(text, resource, on_terminal),
        ContentBlock::Unknown(value) => {
            let kind = value.get("type").and_then(Value::as_str).unwrap_or("unknown");
            _ = write!(text, "[a block of type {}; -o json shows it]", safe_name(kind));
        }
    }
}

fn push_words(text: &mut String, words: &str, on_terminal: bool) {
    text.push_str(&if on_terminal { safe_text(words) } else { safe_piped(words) });
}

fn push_resource(text: &mut String, resource: &Value, on_terminal: bool) {
    let part = |key: &str| resource.get(key).and_then(Value::as_str);
    let uri = part("uri").unwrap_or_default();
    match (part("text"), part("blob")) {
        (Some(words), _) => {
            _ = writeln!(text, "[{}]", safe_address(uri));
            push_words(text, words, on_terminal);
        }
        (None, Some(data)) => {
            let kind = part("mimeType").unwrap_or("application/octet-stream");
            push_note(text, &format!("resource {uri}"), kind, data);
        }
        (None, None) => push_words(text, &cut(uri, ADDRESS), on_terminal),
    }
}

fn push_note(text: &mut String, what: &str, mime_type: &str, data: &str) {
    text.push_str(&media_note(what, mime_type, data));
}

/// Shown instead of base64 data in a text.
pub(super) fn media_note(what: &str, mime_type: &str, data: &str) -> String {
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    let bytes = (data.len() / 4 * 3 + (data.len() % 4).saturating_sub(1)).saturating_sub(padding);
    format!("[{}: {}, {bytes} bytes; --save DIR saves it]", safe_address(what), safe_name(mime_type))
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn text(json: &str, on_terminal: bool) -> String {
        let raw = RawValue::from_string(json.to_owned()).expect("JSON");
        result_text(&CallToolResult::from_raw(&raw), json, ResultLook::default(), on_terminal)
    }

    #[test]
    fn blocks_stand_one_below_the_other() {
        let json = r#"{"content":[{"type":"text","text":"done"},{"type":"resource_link","uri":"https://cdn.example/a.png","name":"a.png"},
            {"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"video"},
            {"type":"resource","resource":{"uri":"file:///a","text":"b"}}],"structuredContent":{"n":1}}"#;
        assert_eq!(
            text(json, true),
            "done\na.png: https://cdn.example/a.png\n[image: image/png, 3 bytes; --save DIR saves it]\n\
             [a block of type video; -o json shows it]\n[file:///a]\nb\n{\n  \"n\": 1\n}\n"
        );
    }

    #[test]
    fn structured_content_is_printed_unless_a_text_says_the_same() {
        let shown = |content: &str, structured: &str| {
            text(&format!(r#"{{"content":[{content}],"structuredContent":{structured}}}"#), true)
        };
        let words = |words: &str| serde_json::json!({"type": "text", "text": words}).to_string();
        assert_eq!(shown(&words("Found 2 items."), "[1]"), "Found 2 items.\n[\n  1\n]\n");
        for (told, structured) in [
            ("{\"a\": 1, \"b\": [1.0]}", r#"{"b":[1],"a":1}"#),
            ("7", r#"{"result":7}"#),
            ("seven", r#"{"result":"seven"}"#),
            ("[1,2]", "[1,2]"),
        ] {
            assert_eq!(shown(&words(told), structured), format!("{told}\n"), "{structured}");
        }
        let each = [words("1"), words("two")].join(",");
        assert_eq!(shown(&each, r#"{"result":[1,"two"]}"#), "1\ntwo\n");
        let long = format!("\"{}\"", "x".repeat(LONGEST_BELOW));
        assert!(shown(&words("short"), &long).ends_with("bytes; -o data shows it]\n"));
    }

    #[test]
    fn blocks_that_were_saved_say_where() {
        let json = r#"{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"audio","data":"*"}]}"#;
        let raw = RawValue::from_string(json.to_owned()).expect("JSON");
        let saved = [Some(Ok("out/image.png".into())), Some(Err("audio.bin was not saved: why".to_owned()))];
        assert_eq!(
            result_text(
                &CallToolResult::from_raw(&raw),
                json,
                ResultLook { saved: &saved, ..ResultLook::default() },
                true
            ),
            "[image saved: out/image.png]\n[audio: audio.bin was not saved: why]\n"
        );
    }

    #[test]
    fn structured_content_without_blocks_is_printed() {
        assert_eq!(
            text(r#"{"content":[],"structuredContent":{"rows":[7]}}"#, true),
            "{\n  \"rows\": [\n    7\n  ]\n}\n"
        );
        assert_eq!(text(r#"{"structuredContent":7}"#, true), "7\n");
        assert_eq!(text(r#"{"toolResult":"old"}"#, true), "{\n  \"toolResult\": \"old\"\n}\n");
        assert_eq!(text(r#"{"content":[],"_meta":{}}"#, true), "");
    }

    #[test]
    fn controls_are_shown_everywhere_and_a_pipe_keeps_the_rest() {
        let json = r#"{"content":[{"type":"text","text":"50%\r\u001b[2J\u200c\r\n"}]}"#;
        assert_eq!(text(json, true), "50%\\r\\u{1b}[2J\\u{200c}\n");
        assert_eq!(text(json, false), "50%\\r\\u{1b}[2J\u{200c}\r\n");
    }

    #[test]
    fn what_is_not_for_the_user_is_folded_on_a_terminal_and_links_say_how_they_are_read() {
        let json = r#"{"content":[{"type":"text","text":"for you"},
            {"type":"text","text":"for it","annotations":{"audience":["assistant"],"priority":0.3}},
            {"type":"text","text":"nothing","annotations":{"priority":0}},
            {"type":"resource_link","uri":"demo://a b","name":"a"},{"type":"resource_link","uri":"https://a.example/"}]}"#;
        let raw = RawValue::from_string(json.to_owned()).expect("JSON");
        let reads = ("toolnexus read s".to_owned(), String::new());
        let look = ResultLook { reads: Some(&reads), ..ResultLook::default() };
        let shown = |on_terminal| result_text(&CallToolResult::from_raw(&raw), json, look, on_terminal);
        let folded = |count: usize| format!("[text that is not meant for you, {count} characters; -o json shows it]\n");
        assert_eq!(
            shown(true),
            format!(
                "for you\n{}{}a: demo://a b\nhttps://a.example/\n[`toolnexus read s 'demo://a b'` reads it]\n",
                folded(6),
                folded(7)
            )
        );
        assert_eq!(shown(false), "for you\nfor it\nnothing\na: demo://a b\nhttps://a.example/\n");
        // If there is nothing else, it is shown anyway.
        let alone = r#"{"content":[{"type":"text","text":"for it","annotations":{"audience":["assistant"]}}]}"#;
        assert_eq!(text(alone, true), "for it\n");
    }
}
