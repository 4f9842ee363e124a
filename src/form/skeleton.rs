use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Field, Form};

/// The longest comment, in characters.
const LONGEST: usize = 200;

impl Form {
    /// The fields as a JSON object to fill in, with comments that describe each one: fields with a value have it, and
    /// fields that may be left out are commented out. `values` may have keys that are not fields. `note` is safe text
    /// for the top. Ends with a line end.
    pub fn skeleton(&self, values: &Map<String, Value>, note: &str) -> String {
        let mut text = String::new();
        for line in note.lines() {
            _ = writeln!(text, "// {}", one_line(line));
        }
        text.push_str("{\n");
        for field in &self.fields {
            push(&mut text, field, values.get(&field.key));
        }
        for (key, value) in values.iter().filter(|(key, _)| self.fields.iter().all(|field| field.key != **key)) {
            push_pair(&mut text, "  ", key, value);
        }
        text.push_str("}\n");
        text
    }
}

fn push(text: &mut String, field: &Field, value: Option<&Value>) {
    let name = field.title.as_deref().filter(|title| *title != field.key).map(|title| format!("{}: ", one_line(title)));
    _ = writeln!(text, "  // {}{}", name.unwrap_or_default(), one_line(&field.summary()));
    for line in field.description.iter().flat_map(|words| words.lines()).take(3) {
        _ = writeln!(text, "  // {}", one_line(line));
    }
    let template = || field.template().and_then(|text| serde_json::from_str(&text).ok());
    if let Some(value) = value {
        push_pair(text, "  ", &field.key, value);
    } else {
        let value = field.default.clone().or_else(template).unwrap_or(Value::Null);
        push_pair(text, if field.required { "  " } else { "  // " }, &field.key, &value);
    }
}

/// A key and its value, each line indented by `indent`.
fn push_pair(text: &mut String, indent: &str, key: &str, value: &Value) {
    let value = serde_json::to_string_pretty(value).unwrap_or_default();
    let pair = format!("{}: {value},", Value::from(key));
    for line in pair.lines() {
        _ = writeln!(text, "{indent}{line}");
    }
}

/// Other people's words on one line, shortened, so that a comment stays one line.
fn one_line(words: &str) -> String {
    let line: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_stand_ready_with_what_they_are() {
        let schema = json!({"type": "object", "required": ["q"], "properties": {
            "q": {"type": "string", "description": "What to\nlook \u{2028}for"},
            "limit": {"type": "integer", "default": 10, "maximum": 50},
            "where": {"type": "object", "properties": {"path": {"type": "string"}}},
        }});
        let values = json!({"limit": 5, "other": true});
        let text = Form::from_schema(&schema).skeleton(values.as_object().expect("an object"), "files, search");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["// files, search", "{"]);
        assert!(text.contains("  // What to\n  // look"), "{text}");
        assert!(text.contains("  \"q\": null,\n") && text.contains("  \"limit\": 5,\n"), "{text}");
        assert!(text.contains("  // \"where\": {\n  //   \"path\": null\n  // },\n"), "{text}");
        assert!(text.ends_with("  \"other\": true,\n}\n"), "{text}");
    }
}
