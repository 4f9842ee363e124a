use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::cost::{DATA, LISTS, MAPS};

/// The names that `type` may have.
const TYPES: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];

/// The type that `name` means: generators for Google's APIs write `STRING`.
pub(super) fn type_name(name: &str) -> &str {
    TYPES.iter().find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(&name)
}

/// Whether `schema` admits null in the way of OpenAPI 3.0: `nullable: true` next to a type.
pub(super) fn is_nullable(schema: &Map<String, Value>) -> bool {
    schema.get("nullable") == Some(&Value::Bool(true)) && schema.get("type").is_some_and(Value::is_string)
}

/// `schema` in plain JSON Schema: the spellings above are replaced wherever a schema stands. The depth of `schema` is
/// bounded already.
pub(crate) fn plain(schema: &Value) -> Cow<'_, Value> {
    if is_plain(schema) {
        return Cow::Borrowed(schema);
    }
    let mut plain = schema.clone();
    rewrite(&mut plain);
    Cow::Owned(plain)
}

/// Whether there is no such spelling anywhere, not even in data.
fn is_plain(value: &Value) -> bool {
    let is_name = |value: &Value| value.as_str().is_none_or(|name| type_name(name) == name);
    match value {
        Value::Object(map) => {
            !map.contains_key("nullable")
                && !map.values().any(Value::is_null)
                && map.get("type").is_none_or(is_name)
                && map.values().all(is_plain)
        }
        Value::Array(values) => values.iter().all(|value| !value.is_null() && is_name(value) && is_plain(value)),
        _ => true,
    }
}

fn rewrite(value: &mut Value) {
    let map = match value {
        Value::Object(map) => map,
        Value::Array(members) => return members.iter_mut().for_each(rewrite),
        _ => return,
    };
    // Generators write null where they mean that there is no such keyword.
    map.retain(|key, value| !value.is_null() || matches!(key.as_str(), "const" | "default"));
    if let Some(Value::Array(required)) = map.get_mut("required") {
        required.retain(|name| !name.is_null());
    }
    let nullable = is_nullable(map);
    match map.get_mut("type") {
        Some(Value::String(name)) => *name = type_name(name).to_owned(),
        Some(Value::Array(names)) => {
            for name in names {
                match name {
                    Value::String(name) => *name = type_name(name).to_owned(),
                    Value::Null => *name = json!("null"),
                    _ => {}
                }
            }
        }
        _ => {}
    }
    for (key, inner) in map.iter_mut().filter(|(key, _)| !DATA.contains(&key.as_str())) {
        match inner {
            Value::Object(named) if MAPS.contains(&key.as_str()) => {
                for schema in named.values_mut() {
                    if schema.is_null() {
                        *schema = json!({});
                    }
                    rewrite(schema);
                }
            }
            Value::Array(members) if LISTS.contains(&key.as_str()) => {
                for schema in members {
                    if schema.is_null() {
                        *schema =
                            if matches!(key.as_str(), "anyOf" | "oneOf") { json!({"type": "null"}) } else { json!({}) };
                    }
                    rewrite(schema);
                }
            }
            _ => rewrite(inner),
        }
    }
    if nullable {
        admit_null(map);
    }
}

fn admit_null(map: &mut Map<String, Value>) {
    map.remove("nullable");
    if let Some(name) = map.get_mut("type").filter(|name| **name != "null") {
        *name = json!([name.take(), "null"]);
    }
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_become_plain_schemas() {
        let schema = json!({"type": "OBJECT", "properties": {
            "type": {"type": "STRING", "nullable": true, "enum": ["STRING"]},
            "nullable": {"type": ["Integer", "NULL"], "default": {"type": "STRING"}},
            "list": {"type": "array", "items": {"type": "NUMBER"}},
        }});
        let expected = json!({"type": "object", "properties": {
            "type": {"type": ["string", "null"], "enum": ["STRING", null]},
            "nullable": {"type": ["integer", "null"], "default": {"type": "STRING"}},
            "list": {"type": "array", "items": {"type": "number"}},
        }});
        assert_eq!(*plain(&schema), expected);
        assert!(matches!(plain(&expected["properties"]["list"]), Cow::Borrowed(_)));
        assert_eq!(*plain(&json!({"nullable": true})), json!({"nullable": true}));
        assert_eq!(*plain(&json!({"type": "STRIN"})), json!({"type": "STRIN"}));
        let nulls = json!({"type": "object", "required": null, "additionalProperties": null, "description": null,
            "properties": {"a": {"type": "string", "enum": ["x", null], "default": null, "minLength": null}, "b": null,
                "c": {"type": ["integer", null], "enum": null, "examples": null, "required": [null, "d"]},
                "e": {"anyOf": [null, {"type": "integer"}]}, "f": {"prefixItems": [null, {"minItems": null}]}}});
        let without = json!({"type": "object",
            "properties": {"a": {"type": "string", "enum": ["x", null], "default": null}, "b": {},
                "c": {"type": ["integer", "null"], "required": ["d"]},
                "e": {"anyOf": [{"type": "null"}, {"type": "integer"}]}, "f": {"prefixItems": [{}, {}]}}});
        assert_eq!(*plain(&nulls), without);
    }
}
