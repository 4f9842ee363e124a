use serde_json::{Value, json};

use crate::form::{Field, FieldKind, Form, Format, Keywords, bare, resolve};

/// How deeply an example is nested.
const DEEPEST: usize = 4;
/// How many arguments an example has.
const MOST: usize = 12;

/// The words `key=value` of a call with each required argument, or the first argument if none is required: with the
/// schema's own examples, defaults and choices if there are any. Not yet safe for a terminal.
pub(super) fn example_words(schema: &Value) -> Vec<String> {
    let form = Form::from_schema(schema);
    let all_optional = form.fields.iter().all(|field| !field.required);
    let shown = form.fields.iter().filter(|field| field.required || all_optional);
    let most = if all_optional { 1 } else { MOST };
    shown.take(most).map(|field| word(schema, field)).collect()
}

fn word(root: &Value, field: &Field) -> String {
    let value = value_of(root, field);
    let key = field.key.replace('.', "\\.");
    match &value {
        Value::Array(_) | Value::Object(_) => format!("{key}:={value}"),
        Value::String(text) if text.starts_with('@') => format!("{key}=@{text}"),
        _ => format!("{key}={}", bare(&value)),
    }
}

fn value_of(root: &Value, field: &Field) -> Value {
    let given = field.schema.get("examples").and_then(Value::as_array).and_then(|values| values.first());
    if let Some(value) = given.filter(|value| field.check(value).is_ok()).or(field.default.as_ref()) {
        return value.clone();
    }
    match &field.kind {
        FieldKind::Text(rules) => match &rules.format {
            Some(Format::Email) => json!("name@example.com"),
            Some(Format::Uri) => json!("https://example.com/"),
            Some(Format::Date) => json!("2026-01-31"),
            Some(Format::DateTime) => json!("2026-01-31T12:00:00Z"),
            _ => json!("TEXT"),
        },
        FieldKind::Number(rules) => {
            let low = rules.minimum.clone().or_else(|| rules.maximum.clone());
            low.map_or(json!(1), Value::Number)
        }
        FieldKind::Boolean => json!(true),
        FieldKind::Choice(rules) => rules.choices.first().map_or(Value::Null, |choice| choice.value.clone()),
        FieldKind::List(rules) => json!(rules.choices.first().map(|choice| choice.value.clone())),
        FieldKind::Const(value) => value.clone(),
        FieldKind::Json => sample(root, &field.schema, 0),
    }
}

/// A value that fits `schema`.
fn sample(root: &Value, schema: &Value, depth: usize) -> Value {
    let Value::Object(map) = schema else { return json!({}) };
    let resolved = resolve(root, map).schema;
    let given = resolved.get("default").or_else(|| resolved.get("const"));
    let first = |key: &str| resolved.get(key).and_then(Value::as_array).and_then(|values| values.first());
    if let Some(value) = first("examples").or(given).or(first("enum")) {
        return value.clone();
    }
    if let Some(member) = first("anyOf").or(first("oneOf")) {
        return if depth < DEEPEST { sample(root, member, depth + 1) } else { Value::Null };
    }
    let name = match resolved.get("type") {
        Some(Value::Array(names)) => names.first().and_then(Value::as_str),
        Some(name) => name.as_str(),
        None if resolved.contains_key("items") => Some("array"),
        None => Some("object"),
    };
    match name.unwrap_or_default() {
        "string" => json!("TEXT"),
        "integer" | "number" => resolved.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        "array" => match resolved.get("items") {
            Some(items) if depth < DEEPEST => json!([sample(root, items, depth + 1)]),
            _ => json!([]),
        },
        _ if depth < DEEPEST => sample_object(root, &resolved, depth),
        _ => json!({}),
    }
}

fn sample_object(root: &Value, schema: &Keywords<'_>, depth: usize) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let wanted = properties.filter(|(key, _)| super::shape::required(schema, key)).take(MOST);
    Value::Object(wanted.map(|(key, part)| (key.clone(), sample(root, part, depth + 1))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_is_given() {
        let schema = json!({"type": "object", "required": ["q", "n", "kind", "items", "on"], "properties": {
            "q": {"type": "string"}, "n": {"type": "integer", "minimum": 3}, "kind": {"enum": ["file", "folder"]},
            "on": {"type": "boolean"}, "rest": {"type": "string"},
            "items": {"type": "array", "items": {"type": "object", "required": ["sku"],
                "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}}}}}});
        let expected = ["q=TEXT", "n=3", "kind=file", "on=true", r#"items:=[{"sku":"TEXT"}]"#];
        let mut words = example_words(&schema);
        words.sort_by_key(|word| expected.iter().position(|other| other == word));
        assert_eq!(words, expected);
    }

    #[test]
    fn examples_and_defaults_are_taken_and_one_optional_argument_is_shown() {
        let schema = json!({"properties": {"a": {"type": "string", "examples": ["rust"]}, "b": {"type": "string"}}});
        assert_eq!(example_words(&schema), ["a=rust"]);
        assert!(example_words(&json!({})).is_empty());
        let nested = json!({"required": ["a"], "properties": {"a": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/n"}}}}});
        assert_eq!(example_words(&nested), [r#"a:={"n":{"n":{"n":{"n":{}}}}}"#]);
    }
}
