//! Parts of a `tools/call` that are mirrored into HTTP headers (2026-07-28, *Streamable HTTP*, Custom Headers from Tool
//! Parameters).

use std::collections::HashSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Number, Value};

use super::Tool;

const ANNOTATION: &str = "x-mcp-header";
const MAX_DEPTH: usize = 64;
/// Keywords whose value is one schema or a list of them, none of which `properties` alone can reach.
const APPLICATORS: [&str; 17] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependencies",
];
/// Keywords whose value is an object of schemas.
const SCHEMA_MAPS: [&str; 4] = ["patternProperties", "$defs", "definitions", "dependentSchemas"];

/// One annotated parameter: the name after `Mcp-Param-`, and the keys that lead to its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mirror {
    header: String,
    path: Vec<String>,
}

/// Checks the `x-mcp-header` annotations of a tool. A tool that fails must be left out of `tools/list` over HTTP.
///
/// # Errors
/// What is wrong, as a fragment such as `x-mcp-header "My Region" is not a valid header name`.
pub fn check_headers(tool: &Tool) -> Result<(), String> {
    mirrors(tool).map(drop)
}

/// The headers `(Mcp-Param-NAME, encoded value)` for a call of `tool` with `arguments`, in the schema's order.
/// Parameters that are absent, `null` or not primitive are left out; a tool with invalid annotations has no such
/// headers.
pub fn param_headers(tool: &Tool, arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let mirrors = mirrors(tool).unwrap_or_default();
    let header = |mirror: Mirror| {
        let (last, parents) = mirror.path.split_last()?;
        let holder = parents.iter().try_fold(arguments, |object, key| object.get(key)?.as_object())?;
        let text = match holder.get(last)? {
            Value::String(text) => text.clone(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => decimal(number),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((format!("Mcp-Param-{}", mirror.header), header_value(&text)))
    };
    mirrors.into_iter().filter_map(header).collect()
}

/// `text` as the value of an `Mcp-Name` or `Mcp-Param-*` header: unchanged if that is safe, otherwise `=?base64?...?=`.
pub fn header_value(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let padded = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let marked = text.starts_with("=?base64?") && text.ends_with("?=");
    if plain && !padded && !marked { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

/// The text that [`header_value`] encoded as `value`; `None` if its base64 is invalid.
pub fn header_text(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// A whole number in decimal digits, however it was written; anything else unchanged.
fn decimal(number: &Number) -> String {
    let text = number.to_string();
    match number.as_f64() {
        Some(value)
            if text.contains(['.', 'e', 'E']) && value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 =>
        {
            format!("{value:.0}")
        }
        _ => text,
    }
}

fn mirrors(tool: &Tool) -> Result<Vec<Mirror>, String> {
    let mut found = Vec::new();
    if let Some(schema) = tool.raw.get("inputSchema") {
        visit(schema, Some(&mut Vec::new()), &mut found, 0)?;
    }
    let mut names = HashSet::new();
    match found.iter().find(|mirror| !names.insert(mirror.header.to_ascii_lowercase())) {
        Some(twice) => Err(format!("x-mcp-header {:?} is used twice", twice.header)),
        None => Ok(found),
    }
}

/// Collects the annotations below `schema`; `path` is `None` where they are not allowed.
fn visit(schema: &Value, path: Option<&mut Vec<String>>, found: &mut Vec<Mirror>, depth: usize) -> Result<(), String> {
    let Some(object) = schema.as_object() else { return Ok(()) };
    if depth > MAX_DEPTH {
        return Err("the schema is nested too deeply".into());
    }
    if let Some(annotation) = object.get(ANNOTATION) {
        let header = header_name(annotation)?;
        match path.as_deref() {
            Some(path) if !path.is_empty() => {
                if !object.get("type").is_some_and(is_mirrored_type) {
                    return Err(format!(
                        "x-mcp-header {header:?} is on a parameter that is neither a string, an integer nor a boolean"
                    ));
                }
                found.push(Mirror { header, path: path.clone() });
            }
            _ => {
                return Err(format!(
                    "x-mcp-header {header:?} is on a parameter that cannot be reached through properties alone"
                ));
            }
        }
    }
    for key in APPLICATORS {
        for inner in object.get(key).into_iter().flat_map(each) {
            visit(inner, None, found, depth + 1)?;
        }
    }
    for inner in SCHEMA_MAPS.into_iter().filter_map(|key| object.get(key)?.as_object()).flat_map(Map::values) {
        visit(inner, None, found, depth + 1)?;
    }
    let Some(properties) = object.get("properties").and_then(Value::as_object) else { return Ok(()) };
    match path {
        None => properties.values().try_for_each(|inner| visit(inner, None, found, depth + 1)),
        Some(path) => properties.iter().try_for_each(|(key, inner)| {
            path.push(key.clone());
            let visited = visit(inner, Some(path), found, depth + 1);
            path.pop();
            visited
        }),
    }
}

fn each(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter()
}

/// `string`, `integer` or `boolean`, or a union of one of them with `null`.
fn is_mirrored_type(kind: &Value) -> bool {
    let allowed = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Value::Array(kinds) => {
            let mut named = kinds.iter().filter(|kind| kind.as_str() != Some("null")).peekable();
            named.peek().is_some() && named.all(allowed)
        }
        kind => allowed(kind),
    }
}

fn header_name(annotation: &Value) -> Result<String, String> {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match annotation.as_str() {
        Some(name) if !name.is_empty() && name.bytes().all(is_tchar) => Ok(name.to_owned()),
        _ => Err(format!("x-mcp-header {annotation} is not a valid header name")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(schema: &Value) -> Tool {
        Tool::from_value(json!({"name": "t", "inputSchema": schema})).expect("a tool")
    }

    fn headers(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
        param_headers(&tool(schema), arguments.as_object().expect("an object"))
    }

    #[test]
    fn values_are_encoded_as_the_specification_says() {
        for (text, expected) in [
            ("us-west1", "us-west1"),
            ("us west 1", "us west 1"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
            ("\tindented", "=?base64?CWluZGVudGVk?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"),
        ] {
            assert_eq!(header_value(text), expected, "{text:?}");
            assert_eq!(header_text(expected).as_deref(), Some(text));
        }
        assert_eq!(header_text("=?base64?SGVsbG8?="), None);
        assert_eq!(header_text("=?BASE64?SGVsbG8=?=").as_deref(), Some("=?BASE64?SGVsbG8=?="));
    }

    #[test]
    fn annotated_parameters_are_mirrored_and_absent_ones_left_out() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "query": {"type": "string"},
            "limits": {"type": "object", "properties": {
                "rows": {"type": "integer", "x-mcp-header": "Rows"},
                "deep": {"type": ["boolean", "null"], "x-mcp-header": "Deep"}}}}});
        let all = json!({"region": "us-west1", "query": "q", "limits": {"rows": 42.0, "deep": false}});
        let expected = [("Mcp-Param-Region", "us-west1"), ("Mcp-Param-Rows", "42"), ("Mcp-Param-Deep", "false")];
        assert_eq!(headers(&schema, &all), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(headers(&schema, &json!({"region": null, "limits": {"deep": null}})), []);
        assert_eq!(headers(&schema, &json!({"limits": "none"})), []);
    }

    #[test]
    fn invalid_annotations_are_refused() {
        let string = |header: Value| json!({"type": "string", "x-mcp-header": header});
        for properties in [
            json!({"a": string(json!(""))}),
            json!({"a": string(json!("My Region"))}),
            json!({"a": string(json!("Region:Primary"))}),
            json!({"a": string(json!("Région"))}),
            json!({"a": string(json!("Region\t1"))}),
            json!({"a": string(json!(7))}),
            json!({"a": string(json!("Region")), "b": string(json!("REGION"))}),
            json!({"a": {"type": "number", "x-mcp-header": "A"}}),
            json!({"a": {"type": "array", "x-mcp-header": "A"}}),
            json!({"a": {"type": "null", "x-mcp-header": "A"}}),
            json!({"a": {"x-mcp-header": "A"}}),
            json!({"a": {"type": "array", "items": string(json!("A"))}}),
            json!({"a": {"anyOf": [string(json!("A"))]}}),
        ] {
            let schema = json!({"type": "object", "properties": properties});
            assert!(check_headers(&tool(&schema)).is_err(), "{schema}");
        }
        let defined = json!({"$defs": {"r": string(json!("A"))}, "properties": {"a": {"$ref": "#/$defs/r"}}});
        assert!(check_headers(&tool(&defined)).is_err());
        assert!(check_headers(&tool(&json!({"x-mcp-header": "A", "type": "object"}))).is_err());
    }

    #[test]
    fn a_similar_key_is_not_an_annotation() {
        let schema = json!({"type": "object", "properties": {
            "x-mcp-header": {"type": "string"},
            "a": {"type": "object", "default": {"x-mcp-header": "A B"}, "x-mcp-other": {"x-mcp-header": ""}}}});
        assert_eq!(check_headers(&tool(&schema)), Ok(()));
        assert_eq!(
            check_headers(&tool(&json!({"properties": {"m": {"type": "string", "x-mcp-header": "Method"}}}))),
            Ok(())
        );
    }
}
