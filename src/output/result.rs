use std::fmt::Write as _;

use serde_json::Value;

use super::{pretty, safe_json};
use crate::protocol::{CallToolResult, ContentBlock};
use crate::text::{cut, safe_line, safe_name, safe_piped, safe_text};

/// The longest address that is shown, in characters.
const ADDRESS: usize = 2_000;

/// A result as text for people: its blocks one below the other, or its structured content where there are none.
///
/// The server's text is made safe, for a terminal or for a pipe that may end on one. Ends with a line end, unless
/// there is nothing to print. `raw` is the result's JSON text, shown when it holds neither.
pub(super) fn result_text(result: &CallToolResult, raw: &str, on_terminal: bool) -> String {
    let mut text = String::new();
    for block in &result.content {
        push_block(&mut text, block, on_terminal);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    if result.content.is_empty() {
        let json = result.structured.as_deref().or_else(|| unusual(raw));
        if let Some(json) = json {
            let json = pretty(json);
            text.push_str(&safe_json(&json));
            text.push('\n');
        }
    }
    text
}

/// `raw`, when it is a result of a shape that has no `content` at all and still says something.
fn unusual(raw: &str) -> Option<&str> {
    let keys: Vec<String> = match serde_json::from_str::<Value>(raw) {
        Ok(Value::Object(object)) => object.into_iter().map(|(key, _)| key).collect(),
        _ => return Some(raw),
    };
    let usual =
        |key: &String| matches!(key.as_str(), "content" | "structuredContent" | "isError" | "resultType" | "_meta");
    if keys.iter().all(usual) { None } else { Some(raw) }
}

fn push_block(text: &mut String, block: &ContentBlock, on_terminal: bool) {
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
            _ = writeln!(text, "[{}]", cut(&safe_line(uri), ADDRESS));
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
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    let bytes = (data.len() / 4 * 3 + (data.len() % 4).saturating_sub(1)).saturating_sub(padding);
    _ = write!(
        text,
        "[{}: {}, {bytes} bytes; -o json has the data]",
        cut(&safe_line(what), ADDRESS),
        safe_name(mime_type)
    );
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn text(json: &str, on_terminal: bool) -> String {
        let raw = RawValue::from_string(json.to_owned()).expect("JSON");
        result_text(&CallToolResult::from_raw(&raw), json, on_terminal)
    }

    #[test]
    fn blocks_stand_one_below_the_other() {
        let json = r#"{"content":[{"type":"text","text":"done"},{"type":"resource_link","uri":"https://cdn.example/a.png","name":"a.png"},
            {"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"video"},
            {"type":"resource","resource":{"uri":"file:///a","text":"b"}}],"structuredContent":{"n":1}}"#;
        assert_eq!(
            text(json, true),
            "done\na.png: https://cdn.example/a.png\n[image: image/png, 3 bytes; -o json has the data]\n\
             [a block of type video; -o json shows it]\n[file:///a]\nb\n"
        );
    }

    #[test]
    fn structured_content_alone_is_printed() {
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
}
