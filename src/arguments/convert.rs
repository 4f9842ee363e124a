use base64::{Engine, engine::general_purpose};
use serde_json::Value;

use super::{admits::Admits, word::WordValue};
use crate::form::{Choice, Choices, Field, FieldKind, Keywords, bare, cut, field, resolve, type_of, unsendable};

/// The value of the argument `key`, whose schema is `part` of the document `root`, from the text that was written for
/// it. The error is the reason why it is refused.
pub(super) fn convert(root: &Value, key: &str, part: &Value, input: WordValue) -> Result<Value, String> {
    let Value::Object(map) = part else { return text(input).map(Value::String) };
    let resolved = resolve(root, map);
    let admits = Admits::of(root, &resolved.schema, resolved.nullable);
    let field = field(root, key, part, false);
    match &field.kind {
        FieldKind::Choice(rules) => return choose(&field, &rules.choices, &text(input)?),
        FieldKind::Const(value) => return choose(&field, &constant(value), &text(input)?),
        FieldKind::List(_) if !(field.nullable && input.as_str() == Some("null")) => {
            return list(root, key, &resolved.schema, input);
        }
        FieldKind::Number(_) | FieldKind::Boolean => {
            return field.parse(&text(input)?).map_err(|error| error.reason);
        }
        FieldKind::Text(_) | FieldKind::List(_) | FieldKind::Json => {}
    }
    if admits.takes("string") {
        return match structured(&admits, &input) {
            Some(value) => Ok(value),
            None => encode(&resolved.schema, input),
        };
    }
    if admits.takes("array") {
        return list_or_scalar(root, key, &resolved.schema, &admits, input);
    }
    scalar(&admits, &text(input)?)
}

/// JSON as it was written after `:=`.
pub(super) fn json(input: WordValue) -> Result<Value, String> {
    let text = text(input)?;
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("{} is not JSON: {error}", cut(text.trim(), 40)))?;
    sendable(value)
}

/// A value for a tool without a known schema: JSON if the text looks like it.
pub(super) fn guessed(input: WordValue) -> Result<Value, String> {
    let text = text(input)?;
    let read = serde_json::from_str(&text).ok().filter(|value| unsendable(value).is_none());
    Ok(read.unwrap_or(Value::String(text)))
}

/// The text in `input`.
pub(super) fn text(input: WordValue) -> Result<String, String> {
    match input {
        WordValue::Text(text) => Ok(text),
        WordValue::Bytes(bytes) => String::from_utf8(bytes).map_err(|_| "the file is not UTF-8 text".to_owned()),
    }
}

fn sendable(value: Value) -> Result<Value, String> {
    match unsendable(&value) {
        Some(number) => Err(format!("{number} is not a number that can be sent")),
        None => Ok(value),
    }
}

/// Text, or a file's bytes in base64 if `contentEncoding` says so.
fn encode(schema: &Keywords<'_>, input: WordValue) -> Result<Value, String> {
    let encoding = schema.get("contentEncoding").and_then(Value::as_str).unwrap_or_default();
    match input {
        WordValue::Bytes(bytes) if encoding.eq_ignore_ascii_case("base64") => {
            Ok(general_purpose::STANDARD.encode(bytes).into())
        }
        WordValue::Bytes(bytes) if encoding.eq_ignore_ascii_case("base64url") => {
            Ok(general_purpose::URL_SAFE.encode(bytes).into())
        }
        input => text(input).map(Value::String),
    }
}

/// The list or object that `input` is, if text would be valid, too.
fn structured(admits: &Admits, input: &WordValue) -> Option<Value> {
    let text = input
        .as_str()
        .map(|text| text.trim_start_matches('\u{feff}'))
        .filter(|text| text.trim_start().starts_with(['[', '{']))?;
    let value: Value = serde_json::from_str(text).ok()?;
    let taken = (value.is_array() && admits.takes("array")) || (value.is_object() && admits.takes("object"));
    Some(value).filter(|value| taken && unsendable(value).is_none())
}

/// The choice whose value is `text`.
fn choose(field: &Field, choices: &Choices, text: &str) -> Result<Value, String> {
    let as_text = choices.iter().find(|choice| bare(&choice.value) == text);
    let found = as_text.or_else(|| {
        let value: Value = serde_json::from_str(text).ok()?;
        choices.of_value(&value)
    });
    match found {
        Some(choice) => Ok(choice.value.clone()),
        None if field.nullable && text == "null" => Ok(Value::Null),
        None => {
            let value = Value::from(text);
            field.check(&value).map(|()| value).map_err(|error| error.reason)
        }
    }
}

fn constant(value: &Value) -> Choices {
    vec![Choice { value: value.clone(), title: None, description: None }].into()
}

/// A list: JSON, or one value, which is wrapped in a list.
fn list(root: &Value, key: &str, schema: &Keywords<'_>, input: WordValue) -> Result<Value, String> {
    let items = schema.get("items").cloned().unwrap_or(Value::Bool(true));
    let trimmed = input.as_str().unwrap_or_default().trim_start_matches('\u{feff}').trim();
    match serde_json::from_str::<Value>(trimmed) {
        Ok(value @ Value::Array(_)) => return sendable(value),
        Err(error) if trimmed.starts_with("[\"") || (trimmed.starts_with('[') && trimmed.ends_with(']')) => {
            return Err(format!("{} is not JSON: {error}", cut(trimmed, 40)));
        }
        _ => {}
    }
    let places = schema.get("prefixItems").or_else(|| schema.get("items").filter(|items| items.is_array()));
    if places.and_then(Value::as_array).is_some_and(|places| !places.is_empty()) {
        return Err(format!("each entry has its own type: write {key}.0=… {key}.1=…, or {key}:=[…]"));
    }
    let has_commas = trimmed.contains(',');
    let one = convert(root, key, &items, input).map_err(|reason| {
        if has_commas {
            format!("{reason}; for several values repeat {key}=…, or write {key}:=[…]")
        } else {
            reason
        }
    })?;
    Ok(Value::Array(vec![one]))
}

/// A list, if a value of another type than text would be valid, too.
fn list_or_scalar(
    root: &Value,
    key: &str,
    schema: &Keywords<'_>,
    admits: &Admits,
    input: WordValue,
) -> Result<Value, String> {
    let others = ["null", "boolean", "integer", "object"].iter().any(|name| admits.takes(name));
    if others
        && let Some(text) = input.as_str()
        && let Ok(value) = scalar(admits, text)
    {
        return Ok(value);
    }
    // In a union, the list is one of the members.
    let member = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten().find_map(|member| {
        let resolved = resolve(root, member.as_object()?).schema;
        resolved.get("type").is_some_and(|name| *name == "array").then_some(resolved)
    });
    list(root, key, member.as_ref().unwrap_or(schema), input)
}

/// A JSON value of one of the admitted types.
fn scalar(admits: &Admits, text: &str) -> Result<Value, String> {
    let wanted = || {
        let names =
            [("integer", "a number"), ("boolean", "true or false"), ("object", "a JSON object"), ("null", "null")];
        let wanted: Vec<_> = names.iter().filter(|(name, _)| admits.takes(name)).map(|(_, words)| *words).collect();
        wanted.join(" or ")
    };
    let shown = cut(text.trim(), 40);
    let value: Value = serde_json::from_str(text).map_err(|_| format!("{shown} is not {}", wanted()))?;
    let name = match &value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !admits.takes(name) {
        return Err(format!("{shown} is {}, not {}", type_of(&value), wanted()));
    }
    sendable(value)
}
