use std::collections::HashSet;

use serde_json::Value;

use super::{Choice, keywords::Keywords, resolve::resolve, value::canonical_text};

/// The most members of unions that are considered for one field.
const MOST_CHOICES: usize = 10_000;

/// The choices of a schema.
pub(super) struct FoundChoices {
    pub(super) choices: Vec<Choice>,
    /// Whether the schema has more rules for the value than being one of the choices.
    pub(super) partial: bool,
}

/// The choices of `schema`: `enum`, with `enumNames` if present, or `oneOf`/`anyOf` of fixed values. `None` if it is
/// not a choice. Values that the schema's own `type` excludes are left out.
pub(super) fn choices(root: &Value, schema: &Keywords<'_>) -> Option<FoundChoices> {
    let listed = schema.get("enum").and_then(Value::as_array).map(|values| from_enum(schema, values));
    let mut union = None;
    let mut partial = false;
    for key in ["oneOf", "anyOf"] {
        let Some(members) = schema.get(key) else { continue };
        match members.as_array().and_then(|members| from_union(root, members, 0)) {
            Some(found) if union.is_none() => union = Some(found),
            _ => partial = true,
        }
    }
    let mut choices = match (listed, union) {
        (None, None) => return None,
        (Some(one), None) | (None, Some(one)) => one,
        (Some(listed), Some(mut titled)) => {
            let listed: HashSet<String> = listed.iter().map(|choice| canonical_text(&choice.value)).collect();
            titled.retain(|choice| listed.contains(&canonical_text(&choice.value)));
            titled
        }
    };
    if let Some(kind) = schema.get("type").and_then(Value::as_str)
        && choices.iter().any(|choice| is_of_type(&choice.value, kind))
    {
        choices.retain(|choice| choice.value.is_null() || is_of_type(&choice.value, kind));
    }
    let mut unique: Vec<Choice> = Vec::with_capacity(choices.len());
    let mut seen = HashSet::new();
    for choice in choices {
        if seen.insert(choice.value.to_string()) {
            unique.push(choice);
        }
    }
    if unique.is_empty() {
        return None;
    }
    Some(FoundChoices { choices: unique, partial })
}

/// How many choices a list's `items` has.
pub(super) fn item_count(root: &Value, items: Option<&Value>) -> usize {
    let Some(Value::Object(items)) = items else { return 0 };
    let resolved = resolve(root, items);
    ["enum", "oneOf", "anyOf"].iter().filter_map(|key| resolved.schema.get(key)?.as_array()).map(Vec::len).sum()
}

/// The choices of a list's `items`.
pub(super) fn item_choices(root: &Value, items: Option<&Value>) -> Option<FoundChoices> {
    let resolved = resolve(root, items?.as_object()?);
    if let Some(value) = resolved.schema.get("const") {
        let choice = titled(value, &resolved.schema);
        return Some(FoundChoices { choices: vec![choice], partial: resolved.partial });
    }
    let mut found = choices(root, &resolved.schema)?;
    found.partial |= resolved.partial || resolved.schema.contains_key("not");
    Some(found)
}

fn from_enum(schema: &Keywords<'_>, values: &[Value]) -> Vec<Choice> {
    let text_at = |keys: &[&str], index: usize| {
        let list = keys.iter().find_map(|key| schema.get(key)?.as_array())?;
        list.get(index)?.as_str().map(str::to_owned)
    };
    let choice = |(index, value): (usize, &Value)| Choice {
        value: value.clone(),
        title: text_at(&["enumNames", "x-enumNames"], index),
        description: text_at(&["enumDescriptions"], index),
    };
    values.iter().enumerate().map(choice).collect()
}

/// The fixed values in a union, or `None` if one of its members is something else.
fn from_union(root: &Value, members: &[Value], depth: usize) -> Option<Vec<Choice>> {
    if members.is_empty() || depth > 4 {
        return None;
    }
    let mut choices = Vec::new();
    for member in members {
        let resolved = resolve(root, member.as_object()?);
        let schema = &resolved.schema;
        if let Some(value) = schema.get("const") {
            choices.push(titled(value, schema));
        } else if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            match values.as_slice() {
                [only] => choices.push(titled(only, schema)),
                many => choices.extend(from_enum(schema, many)),
            }
        } else {
            let nested = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
            choices.extend(from_union(root, nested, depth + 1)?);
        }
        if choices.len() > MOST_CHOICES {
            return None;
        }
    }
    Some(choices)
}

fn titled(value: &Value, schema: &Keywords<'_>) -> Choice {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
    Choice { value: value.clone(), title: text("title"), description: text("description") }
}

fn is_of_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" | "integer" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}
