use serde_json::{Map, Value};

use super::Field;

/// How deep a template goes, and how many keys of one object it has.
const DEPTH: usize = 4;
const KEYS: usize = 64;

impl Field {
    /// JSON to start from for an object or a list: its keys, with their defaults, and null for what has to be filled
    /// in. `None` if the schema does not say what is inside.
    pub fn template(&self) -> Option<String> {
        let value = self.default.clone().unwrap_or_else(|| template(&self.schema, DEPTH));
        let says_something = match &value {
            Value::Object(keys) => !keys.is_empty(),
            Value::Array(items) => items.iter().any(|item| !item.is_null()),
            _ => false,
        };
        says_something.then(|| serde_json::to_string_pretty(&value).unwrap_or_default())
    }
}

fn template(schema: &Value, depth: usize) -> Value {
    if let Some(value) = schema.get("default").or_else(|| schema.get("const")) {
        return value.clone();
    }
    if depth == 0 {
        return Value::Null;
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let keys = properties.iter().take(KEYS).map(|(key, part)| (key.clone(), template(part, depth - 1)));
        return Value::Object(keys.collect::<Map<_, _>>());
    }
    match schema.get("items") {
        Some(items) if items.is_object() => Value::Array(vec![template(items, depth - 1)]),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_stand_ready_and_what_is_missing_is_null() {
        let schema = json!({"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"}, "size": {"type": "integer", "default": 3},
            "tags": {"type": "array", "items": {"type": "string"}}}}});
        assert_eq!(template(&schema, DEPTH), json!([{"name": null, "size": 3, "tags": [null]}]));
        assert_eq!(template(&json!({"type": "object"}), DEPTH), Value::Null);
    }
}
