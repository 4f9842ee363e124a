use serde_json::Value;

use crate::form::{Keywords, bare, cut, quoted, resolve};

/// How many schemas one drawing visits: deep nesting and repeated references must not cost more than they are worth.
const MOST_STEPS: usize = 300;
/// The depth of a drawing.
const DEEPEST: usize = 5;
/// The most values, keys or alternatives that are drawn in one place.
const MOST: usize = 12;
/// The longest value that is drawn, in characters.
const LONGEST: usize = 40;

/// Shows the schemas of one document as short types: `text`, `whole number`, `a|b`, `[{sku: text, qty?: whole number =
/// 1}]`. Not yet safe for a terminal.
pub(super) struct Shapes<'a> {
    root: &'a Value,
    steps: usize,
}

impl<'a> Shapes<'a> {
    /// For schemas whose references are relative to `root`.
    pub(super) fn of(root: &'a Value) -> Self {
        Self { root, steps: 0 }
    }

    /// The type that `schema` describes.
    pub(super) fn shape(&mut self, schema: &Value) -> String {
        self.at(schema, 0)
    }

    fn at(&mut self, schema: &Value, depth: usize) -> String {
        self.steps += 1;
        let Value::Object(map) = schema else { return "JSON".to_owned() };
        if depth > DEEPEST || self.steps > MOST_STEPS {
            return "…".to_owned();
        }
        let resolved = resolve(self.root, map);
        let shape = self.kind(&resolved.schema, depth);
        if resolved.nullable { format!("{shape} or null") } else { shape }
    }

    fn kind(&mut self, schema: &Keywords<'_>, depth: usize) -> String {
        if let Some(value) = schema.get("const") {
            return literal(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return some(values.iter().map(literal), values.len(), "|");
        }
        if let Some(members) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array()) {
            return self.union(members, depth);
        }
        match schema.get("type") {
            Some(Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                some(names.iter().map(|name| self.named(name, schema, depth)), names.len(), " or ")
            }
            Some(name) => self.named(name.as_str().unwrap_or_default(), schema, depth),
            None if schema.contains_key("properties") => self.named("object", schema, depth),
            None if ["items", "prefixItems"].iter().any(|key| schema.contains_key(key)) => {
                self.named("array", schema, depth)
            }
            None => "JSON".to_owned(),
        }
    }

    fn union(&mut self, members: &[Value], depth: usize) -> String {
        let all_fixed = members.iter().all(|member| member.get("const").is_some());
        let mut shapes: Vec<String> = Vec::new();
        for member in members.iter().take(MOST + 1) {
            let shape = self.at(member, depth + 1);
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        let count = if members.len() > MOST { members.len() } else { shapes.len() };
        some(shapes.into_iter(), count, if all_fixed { "|" } else { " or " })
    }

    fn named(&mut self, name: &str, schema: &Keywords<'_>, depth: usize) -> String {
        match name {
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            "number" => "number".to_owned(),
            "boolean" => "true|false".to_owned(),
            "null" => "null".to_owned(),
            "array" => self.list(schema, depth),
            "object" => self.object(schema, depth),
            _ => "JSON".to_owned(),
        }
    }

    fn list(&mut self, schema: &Keywords<'_>, depth: usize) -> String {
        // `items` as a list is how draft 7 wrote `prefixItems`.
        let prefix = schema.get("prefixItems").or_else(|| schema.get("items").filter(|items| items.is_array()));
        if let Some(members) = prefix.and_then(Value::as_array) {
            let shapes = members.iter().take(MOST).map(|member| self.at(member, depth + 1)).collect::<Vec<_>>();
            return format!("[{}]", some(shapes.into_iter(), members.len(), ", "));
        }
        match schema.get("items") {
            Some(items) => format!("[{}]", self.at(items, depth + 1)),
            None => "[JSON]".to_owned(),
        }
    }

    fn object(&mut self, schema: &Keywords<'_>, depth: usize) -> String {
        let properties = schema.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty());
        let Some(properties) = properties else {
            return match schema.get("additionalProperties") {
                Some(part @ Value::Object(_)) => format!("{{KEY: {}}}", self.at(part, depth + 1)),
                _ => "object".to_owned(),
            };
        };
        let is_required = |key: &str| required(schema, key);
        let mut entries = Vec::new();
        for (key, part) in properties.iter().take(MOST) {
            let mark = if is_required(key) { "" } else { "?" };
            let shape = self.at(part, depth + 1);
            let default = part.get("default").filter(|value| !value.is_null());
            let default = default.map(|value| format!(" = {}", literal(value))).unwrap_or_default();
            entries.push(format!("{}{mark}: {shape}{default}", cut(key, LONGEST)));
        }
        format!("{{{}}}", some(entries.into_iter(), properties.len(), ", "))
    }
}

/// Whether the object `schema` requires the property `key`.
pub(super) fn required(schema: &Keywords<'_>, key: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|name| name == key))
}

/// A value in its shortest form: plain text unquoted, everything else as JSON.
pub(super) fn literal(value: &Value) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '@' | ':' | '*' | '%');
    match value.as_str() {
        Some(text) if !text.is_empty() && text.chars().all(is_plain) => cut(&bare(value), LONGEST),
        _ => quoted(value, LONGEST),
    }
}

/// The first of `parts`, marked if there are more.
fn some(parts: impl Iterator<Item = String>, count: usize, between: &str) -> String {
    let mut shown: Vec<String> = parts.take(MOST).collect();
    if count > shown.len() {
        shown.push("…".to_owned());
    }
    shown.join(between)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn shape(schema: &Value) -> String {
        Shapes::of(schema).shape(schema)
    }

    #[test]
    fn types_are_drawn_short() {
        for (schema, expected) in [
            (json!({"type": "string"}), "text"),
            (json!({"type": ["string", "null"]}), "text or null"),
            (json!({"type": ["string", "integer"]}), "text or whole number"),
            (json!({"enum": ["a", "b c", 1, null]}), "a|\"b c\"|1|null"),
            (json!({"const": "a b ".repeat(20)}), "\"a b a b a b a b a b a b a b a b a b a b …\""),
            (json!({"const": "ab".repeat(40)}), "abababababababababababababababababababab…"),
            (json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}), "a|b"),
            (
                json!({"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "number"}}]}),
                "true|false or [number]",
            ),
            (json!({"type": "object", "additionalProperties": {"type": "integer"}}), "{KEY: whole number}"),
            (json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}), "[number, text]"),
            (json!({"type": "object"}), "object"),
            (json!({}), "JSON"),
            (json!(true), "JSON"),
        ] {
            assert_eq!(shape(&schema), expected, "{schema}");
        }
        let order = json!({"type": "array", "items": {"type": "object", "required": ["sku"], "properties": {
            "sku": {"type": "string"}, "qty": {"type": "integer", "default": 1}}}});
        assert_eq!(shape(&order), "[{sku: text, qty?: whole number = 1}]");
    }

    #[test]
    fn what_refers_to_itself_or_grows_ends() {
        let list = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert!(shape(&list).ends_with("…}}}}}}"), "{}", shape(&list));
        let mut definitions = Map::new();
        for step in 0..40 {
            let next = json!({"$ref": format!("#/$defs/{}", step + 1)});
            definitions
                .insert(step.to_string(), json!({"type": "object", "properties": {"a": next, "b": next, "c": next}}));
        }
        let wide = json!({"$defs": definitions, "$ref": "#/$defs/0"});
        assert!(shape(&wide).len() < 8_000);
        let many: Vec<usize> = (0..1_000).collect();
        assert_eq!(shape(&json!({"enum": many})), "0|1|2|3|4|5|6|7|8|9|10|11|…");
    }
}
