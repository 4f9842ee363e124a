use serde_json::Value;

use super::shape::{Shapes, literal, required};
use crate::text::{cut, safe_line, safe_name};
use crate::{form::resolve, protocol::Tool};

/// The longest signature, in characters.
const LONGEST: usize = 400;
/// The longest sentence, in characters.
const LONGEST_SENTENCE: usize = 1_000;

/// A tool on one line, safe for a terminal: `search(query, limit?=10, kind?: file|folder)`. `?` marks optional
/// arguments; text has no type.
pub(super) fn signature(tool: &Tool) -> String {
    let nothing = Value::Null;
    let schema = tool.raw.get("inputSchema").unwrap_or(&nothing);
    let resolved = schema.as_object().map(|map| resolve(schema, map).schema).unwrap_or_default();
    let mut shapes = Shapes::of(schema);
    let mut arguments = Vec::new();
    let mut length = 0;
    for (key, part) in resolved.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if length > LONGEST {
            arguments.push("…".to_owned());
            break;
        }
        let argument = argument(&mut shapes, key, part, required(&resolved, key));
        length += argument.chars().count();
        arguments.push(argument);
    }
    safe_line(&format!("{}({})", safe_name(&tool.name), arguments.join(", "))).into_owned()
}

fn argument(shapes: &mut Shapes<'_>, key: &str, part: &Value, required: bool) -> String {
    let mark = if required { "" } else { "?" };
    let key = cut(key, 60);
    let shape = shapes.shape(part);
    let default = part.get("default").filter(|value| !value.is_null()).map(literal);
    match default {
        // A default implies the type, unless there is a choice.
        Some(default) if !shape.contains('|') => format!("{key}{mark}={default}"),
        Some(default) => format!("{key}{mark}: {shape} = {default}"),
        None if shape == "text" => format!("{key}{mark}"),
        None => format!("{key}{mark}: {shape}"),
    }
}

/// The first sentence of the tool's description, safe for a terminal and on one line.
pub(super) fn first_sentence(tool: &Tool) -> String {
    let about = tool.description().filter(|about| !about.trim().is_empty()).or(tool.title()).unwrap_or_default();
    sentence_of(about)
}

/// The first sentence of `about`, safe for a terminal and on one line.
pub(super) fn sentence_of(about: &str) -> String {
    let paragraph: Vec<&str> = about.trim().lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.char_indices().find(|(at, c)| {
        let rest = &paragraph[at + c.len_utf8()..];
        let starts = rest.trim_start().chars().next().is_some_and(|next| !next.is_lowercase());
        let abbreviates = paragraph[..*at].ends_with("e.g") || paragraph[..*at].ends_with("i.e");
        matches!(c, '.' | '!' | '?') && rest.starts_with(' ') && starts && !abbreviates
    });
    let sentence = end.map_or(paragraph.as_str(), |(at, c)| &paragraph[..at + c.len_utf8()]);
    cut(&safe_line(sentence), LONGEST_SENTENCE).into_owned()
}

/// What the tool says about the harm that it can do (2025-11-25, *server/tools*, annotations): `read-only`,
/// `destructive`. It is only a claim, and may be false.
pub(super) fn marks(tool: &Tool) -> Vec<&'static str> {
    let hint = |key: &str| tool.raw.get("annotations").and_then(|hints| hints.get(key)).and_then(Value::as_bool);
    let read_only = hint("readOnlyHint") == Some(true);
    let marks = [("read-only", read_only), ("destructive", !read_only && hint("destructiveHint") == Some(true))];
    marks.into_iter().filter(|(_, holds)| *holds).map(|(mark, _)| mark).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(value: Value) -> Tool {
        Tool::from_value(value).expect("a tool")
    }

    #[test]
    fn arguments_are_told_as_one_writes_them() {
        let search =
            tool(json!({"name": "search", "inputSchema": {"type": "object", "required": ["query"], "properties": {
            "query": {"type": "string"}, "limit": {"type": "integer", "default": 10},
            "kind": {"enum": ["file", "folder"]}, "deep": {"type": "boolean", "default": false},
            "tags": {"type": "array", "items": {"type": "string"}}}}}));
        let expected = "search(query, limit?=10, kind?: file|folder, deep?: true|false = false, tags?: [text])";
        assert_eq!(signature(&search), expected);
        assert_eq!(signature(&tool(json!({"name": "x\u{1b}[2J"}))), "x\\u{1b}[2J()");
        assert_eq!(signature(&tool(json!({"name": "odd", "inputSchema": [7]}))), "odd()");
    }

    #[test]
    fn arguments_behind_references_are_told_too() {
        let tool = tool(json!({"name": "t", "inputSchema": {"$ref": "#/$defs/a", "$defs": {
            "a": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}}}));
        assert_eq!(signature(&tool), "t(n: whole number)");
    }

    #[test]
    fn the_first_sentence_ends_where_it_ends() {
        let about = |text: &str| first_sentence(&tool(json!({"name": "t", "description": text, "title": "Title"})));
        assert_eq!(about("\n  Finds files,\n  e.g. Rust ones. And more.\n\nMore."), "Finds files, e.g. Rust ones.");
        assert_eq!(about("Version 1.2 of it"), "Version 1.2 of it");
        assert_eq!(about("Reads a.txt. then b"), "Reads a.txt. then b");
        assert_eq!(about(""), "Title");
    }

    #[test]
    fn marks_are_what_the_tool_says() {
        let told = |hints: Value| marks(&tool(json!({"name": "t", "annotations": hints})));
        assert_eq!(told(json!({"readOnlyHint": true, "destructiveHint": true})), ["read-only"]);
        assert_eq!(told(json!({"destructiveHint": true})), ["destructive"]);
        assert!(told(json!({"readOnlyHint": "yes"})).is_empty() && told(json!(null)).is_empty());
    }
}
