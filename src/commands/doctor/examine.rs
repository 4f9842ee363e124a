//! Finds what is wrong, or causes problems for some clients, in what a server lists. Works on values, without I/O.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::{
    form::Checker,
    text::{NAME, cut},
};

/// Something that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The tool, resource or prompt.
    pub(crate) about: Option<String>,
    /// The problem, and what to do.
    pub(crate) message: String,
}

/// How many findings one listing may have; more are not useful.
const MOST: usize = 200;
/// How deep a schema is followed, and how many of its parts are checked.
const DEEPEST: usize = 64;
const PARTS: usize = 20_000;

impl Finding {
    /// A finding about the server as a whole.
    pub(crate) fn warning(message: String) -> Self {
        Self { about: None, message }
    }

    fn of(kind: &str, name: &str, what: impl std::fmt::Display) -> Self {
        Self { about: Some(name.to_owned()), message: format!("{kind} {:?}: {what}", cut(name, NAME)) }
    }

    /// For programs.
    pub(crate) fn to_value(&self) -> Value {
        json!({"about": self.about, "message": self.message})
    }
}

/// Checks a listing of `tools`, `resources` or `prompts`.
pub(crate) fn examine(kind: &str, entries: &[Value]) -> Vec<Finding> {
    let one = kind.trim_end_matches('s');
    let key = if kind == "resources" { "uri" } else { "name" };
    let mut findings = Vec::new();
    let mut seen = HashSet::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some(name) = entry[key].as_str().filter(|name| !name.is_empty()) else {
            findings.push(Finding::warning(format!("{one} number {} has no {key}", index + 1)));
            continue;
        };
        if !seen.insert(name) {
            findings.push(Finding::of(
                one,
                name,
                format!("another {one} has the same {key}; only one of them can be used"),
            ));
        }
        if kind == "tools" {
            tool(&mut findings, name, entry);
        } else if kind == "prompts" && entry["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
            findings.push(Finding::of(one, name, "it has no description"));
        }
        if findings.len() > MOST {
            findings.truncate(MOST);
            findings.push(Finding::warning(format!("more than {MOST} things look wrong; the others are not shown")));
            break;
        }
    }
    findings
}

fn tool(findings: &mut Vec<Finding>, name: &str, entry: &Value) {
    let mut say = |what: String| findings.push(Finding::of("tool", name, what));
    // 2025-11-25, *server/tools*, Tool Names.
    let is_spoken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.chars().all(is_spoken) {
        say("its name has characters other than letters, digits, `_`, `-` and `.`; some clients refuse it".to_owned());
    } else if name.contains('.') {
        say("its name has a dot, which the APIs of some models refuse".to_owned());
    }
    match name.chars().count() {
        129.. => say("its name is longer than 128 characters".to_owned()),
        65.. => say("its name is longer than 64 characters, which the APIs of some models refuse".to_owned()),
        _ => {}
    }
    if entry["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
        say("it has no description: a model cannot know what it is for".to_owned());
    }
    match entry.get("inputSchema") {
        None => say("it has no inputSchema; `{\"type\": \"object\"}` means that it takes no arguments".to_owned()),
        Some(schema) => schema_of(&mut say, "inputSchema", schema),
    }
    if let Some(schema) = entry.get("outputSchema").filter(|schema| !schema.is_null()) {
        schema_of(&mut say, "outputSchema", schema);
    }
}

fn schema_of(say: &mut impl FnMut(String), key: &str, schema: &Value) {
    let Some(object) = schema.as_object() else { return say(format!("its {key} is not an object")) };
    match object.get("type").and_then(Value::as_str) {
        Some("object") => {}
        Some(other) => say(format!("its {key} has the type {other:?}, not \"object\"")),
        None => say(format!("its {key} does not say \"type\": \"object\"")),
    }
    for keyword in ["anyOf", "oneOf", "allOf"].iter().filter(|keyword| object.contains_key(**keyword)) {
        say(format!("its {key} has {keyword} at the top, which the APIs of some models refuse"));
    }
    let properties = object.get("properties").and_then(Value::as_object);
    for required in object.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = required.as_str().unwrap_or_default();
        if properties.is_none_or(|properties| !properties.contains_key(name)) {
            say(format!("its {key} requires {name:?}, which is not one of its properties"));
        }
    }
    let mut walk = SchemaWalk { root: schema, parts: 0, dangling: Vec::new(), wrong: Vec::new() };
    walk.follow(schema, 0);
    let is_sound = walk.dangling.is_empty() && walk.wrong.is_empty();
    for reference in walk.dangling {
        say(format!("its {key} refers to {reference:?}, which does not exist"));
    }
    for what in &walk.wrong {
        say(format!("its {key} {what}"));
    }
    // What a client would find that checks values against it.
    match Checker::new(schema) {
        _ if !is_sound => {}
        Err(reason) => say(format!("its {key} cannot be used to check anything: {reason}")),
        Ok(checker) => {
            for part in checker.unread().iter().take(5) {
                say(format!("a part of its {key} cannot be used to check anything: {part}"));
            }
        }
    }
}

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// A walk through a schema.
struct SchemaWalk<'a> {
    root: &'a Value,
    parts: usize,
    dangling: Vec<&'a str>,
    wrong: Vec<String>,
}

impl<'a> SchemaWalk<'a> {
    fn follow(&mut self, schema: &'a Value, depth: usize) {
        self.parts += 1;
        let Some(object) = schema.as_object() else { return };
        if depth > DEEPEST || self.parts > PARTS {
            return;
        }
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let is_there = match reference.strip_prefix('#') {
                Some("") => true,
                Some(pointer) if pointer.starts_with('/') => self.root.pointer(pointer).is_some(),
                // An anchor may be anywhere; other documents are never fetched.
                Some(_) => true,
                None => false,
            };
            // More of them are not useful.
            if !is_there && self.dangling.len() < MOST && !self.dangling.contains(&reference) {
                self.dangling.push(reference);
            }
        }
        let types = match object.get("type") {
            Some(Value::Array(types)) => types.iter().collect(),
            Some(one) => vec![one],
            None => Vec::new(),
        };
        for kind in types.into_iter().filter(|kind| kind.as_str().is_none_or(|kind| !TYPES.contains(&kind))) {
            let shown: String = kind.to_string().chars().take(40).collect();
            if self.wrong.len() < 5 {
                self.wrong.push(format!("has the type {shown}, which is not a type of JSON Schema"));
            }
        }
        for key in ["properties", "$defs", "definitions", "patternProperties"] {
            for inner in object.get(key).and_then(Value::as_object).into_iter().flat_map(|inner| inner.values()) {
                self.follow(inner, depth + 1);
            }
        }
        for key in ["items", "additionalProperties", "not", "if", "then", "else", "contains"] {
            if let Some(inner) = object.get(key) {
                self.follow(inner, depth + 1);
            }
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            for inner in object.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.follow(inner, depth + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(entry: Value) -> Vec<String> {
        examine("tools", &[entry]).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_good_tool_has_no_findings() {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"],
            "$defs": {"a": {"type": ["string", "null"]}}});
        let tool = json!({"name": "find_all", "description": "Finds.", "inputSchema": schema});
        assert_eq!(messages(tool), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_named() {
        let tool = |key: &str, value: Value| {
            let mut tool = json!({"name": "a", "description": "A.", "inputSchema": {"type": "object"}});
            tool[key] = value;
            messages(tool).join("\n")
        };
        assert!(tool("name", json!("a b")).contains("some clients refuse it"));
        assert!(tool("name", json!("a.b")).contains("a dot"));
        assert!(tool("name", json!("a".repeat(65))).contains("64 characters"));
        assert!(tool("name", json!(7)).contains("has no name"));
        assert!(tool("description", json!(" ")).contains("no description"));
        assert!(tool("inputSchema", json!(true)).contains("not an object"));
        assert!(tool("inputSchema", json!({"type": "array"})).contains("\"array\""));
        assert!(tool("inputSchema", json!({})).contains("does not say"));
        assert!(tool("inputSchema", json!({"type": "object", "oneOf": []})).contains("oneOf at the top"));
        assert!(tool("inputSchema", json!({"type": "object", "required": ["x"]})).contains("requires \"x\""));
        let dangling = json!({"type": "object", "properties": {"a": {"items": {"$ref": "#/$defs/x"}}}});
        assert!(tool("inputSchema", dangling).contains("#/$defs/x"));
        let unknown = json!({"type": "object", "properties": {"a": {"type": "text"}}});
        assert!(tool("outputSchema", unknown).contains("not a type of JSON Schema"));
        let wrong = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": "two"}}});
        assert!(tool("outputSchema", wrong.clone()).contains("its outputSchema cannot be used to check anything: "));
        assert!(tool("inputSchema", wrong).contains("its inputSchema cannot be used to check anything: "));
        let twice = json!({"name": "a", "description": "A.", "inputSchema": {"type": "object"}});
        assert!(examine("tools", &[twice.clone(), twice])[0].message.contains("another tool has the same name"));
    }
}
