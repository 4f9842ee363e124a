use serde_json::{Value, json};

use crate::form::{Keywords, resolve};

/// The most values that are offered for one argument.
const MOST: usize = 100;

/// The values that an argument, or an entry of one that is a list, may have; none where any will do. `part` is its schema,
/// whose references count from `root`.
pub(crate) fn choices(root: &Value, part: &Value) -> Vec<Value> {
    let Value::Object(map) = part else { return Vec::new() };
    let schema = resolve(root, map).schema;
    let found = fixed(&schema);
    if !found.is_empty() {
        return found;
    }
    match schema.get("items") {
        Some(Value::Object(items)) => fixed(&resolve(root, items).schema),
        _ => Vec::new(),
    }
}

fn fixed(schema: &Keywords<'_>) -> Vec<Value> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    let members = list("oneOf").chain(list("anyOf")).filter_map(|member| member.get("const"));
    let mut values: Vec<Value> = list("enum").chain(members).take(MOST).cloned().collect();
    if values.is_empty() && schema.get("type").is_some_and(|name| name == "boolean") {
        values = vec![json!(true), json!(false)];
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_chosen_is_found_wherever_it_stands() {
        let root = json!({"$defs": {"color": {"enum": ["red", "green"]}}});
        for (part, expected) in [
            (json!({"enum": ["a", 1]}), json!(["a", 1])),
            (json!({"$ref": "#/$defs/color"}), json!(["red", "green"])),
            (json!({"anyOf": [{"$ref": "#/$defs/color"}, {"type": "null"}]}), json!(["red", "green"])),
            (json!({"type": "array", "items": {"enum": ["work", "home"]}}), json!(["work", "home"])),
            (json!({"oneOf": [{"const": "x", "title": "X"}, {"const": "y"}]}), json!(["x", "y"])),
            (json!({"type": "boolean"}), json!([true, false])),
            (json!({"type": "string"}), json!([])),
            (json!(true), json!([])),
        ] {
            assert_eq!(Value::Array(choices(&root, &part)), expected, "{part}");
        }
        assert_eq!(choices(&root, &json!({"enum": (0..1_000).collect::<Vec<_>>()})).len(), MOST);
    }
}
