use serde_json::{Map, Value};

/// Keywords of the whole object that [`fits_plainly`] understands, or that exclude nothing.
const OF_OBJECT: [&str; 9] = [
    "$schema",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
    "$comment",
    "examples",
];

/// The same for one property.
const OF_PROPERTY: [&str; 8] =
    ["type", "enum", "title", "description", "default", "$comment", "examples", "deprecated"];

/// Dialects in which all of these keywords mean the same.
const DIALECTS: [&str; 2] = ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema"];

/// Whether `values` certainly fit `schema`, if it is a simple one: names, single types, text choices. `false` means
/// that nothing is known. Most tools have such schemas, and a full check costs more than the call.
pub(crate) fn fits_plainly(schema: &Value, values: &Map<String, Value>) -> bool {
    let Value::Object(schema) = schema else { return false };
    let is_known = match schema.get("$schema") {
        None => true,
        Some(dialect) => dialect.as_str().is_some_and(|dialect| DIALECTS.contains(&dialect.trim_end_matches('#'))),
    };
    let nothing = Map::new();
    let properties = match schema.get("properties") {
        None => &nothing,
        Some(Value::Object(properties)) => properties,
        Some(_) => return false,
    };
    let has_required = match schema.get("required") {
        None => true,
        Some(Value::Array(names)) => {
            names.iter().all(|name| name.as_str().is_some_and(|name| values.contains_key(name)))
        }
        Some(_) => false,
    };
    let is_open = !matches!(schema.get("additionalProperties"), Some(rule) if *rule != true);
    is_known
        && has_required
        && schema.keys().all(|key| OF_OBJECT.contains(&key.as_str()))
        && schema.get("type").is_none_or(|name| name == "object")
        && values.iter().all(|(key, value)| match properties.get(key) {
            Some(property) => fits(property, value),
            None => is_open,
        })
}

fn fits(property: &Value, value: &Value) -> bool {
    let Value::Object(property) = property else { return false };
    let fits_type = match (property.get("type"), value) {
        (None, _) => true,
        (Some(Value::String(name)), value) => match (name.as_str(), value) {
            ("string", Value::String(_))
            | ("boolean", Value::Bool(_))
            | ("number", Value::Number(_))
            | ("array", Value::Array(_))
            | ("object", Value::Object(_))
            | ("null", Value::Null) => true,
            ("integer", Value::Number(number)) => number.is_i64() || number.is_u64(),
            _ => false,
        },
        (Some(_), _) => false,
    };
    let fits_choices = match property.get("enum") {
        None => true,
        Some(Value::Array(choices)) => value.is_string() && choices.contains(value),
        Some(_) => false,
    };
    fits_type && fits_choices && property.keys().all(|key| OF_PROPERTY.contains(&key.as_str()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plainly(schema: &Value, values: &Value) -> bool {
        fits_plainly(schema, values.as_object().expect("an object"))
    }

    #[test]
    fn what_certainly_fits_does() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["code"],
            "properties": {"code": {"type": "string", "title": "Code"}, "qty": {"type": "integer"},
                "to": {"type": "array"}, "size": {"type": "string", "enum": ["s", "m"]}, "any": {}},
        });
        assert!(plainly(&schema, &json!({"code": "007", "qty": 2, "to": [], "size": "m", "any": null, "more": 1})));
        assert!(plainly(&json!({"type": "object"}), &json!({})));
        for values in
            [json!({}), json!({"code": 7}), json!({"code": "7", "qty": 2.5}), json!({"code": "7", "size": "l"})]
        {
            assert!(!plainly(&schema, &values), "{values}");
        }
    }

    #[test]
    fn what_says_more_is_left_to_the_full_check() {
        for schema in [
            json!(true),
            json!({"$schema": "https://example.com/mine"}),
            json!({"anyOf": [{}]}),
            json!({"additionalProperties": false}),
            json!({"properties": {"a": {"type": ["string", "null"]}}}),
            json!({"properties": {"a": {"type": "string", "minLength": 1}}}),
            json!({"properties": {"a": {"$ref": "#/$defs/a"}}}),
            json!({"properties": {"a": {"type": "array", "items": {}}}}),
            json!({"properties": {"a": false}}),
        ] {
            assert!(!plainly(&schema, &json!({"a": "x"})), "{schema}");
        }
    }
}
