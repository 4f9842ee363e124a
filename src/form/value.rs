use serde_json::{Number, Value};

use super::decimal::Decimal;

/// Whether two JSON values are equal according to JSON Schema: `1` and `1.0` are.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => Decimal::from_number(one) == Decimal::from_number(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// A text that is the same for two values exactly if they are [`same`].
pub(super) fn canonical_text(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(&mut text, value);
    text
}

fn write_canonical(text: &mut String, value: &Value) {
    match value {
        Value::Number(number) => text.push_str(&format!("{:?}", Decimal::from_number(number))),
        Value::Array(values) => {
            text.push('[');
            for value in values {
                write_canonical(text, value);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            text.push('{');
            for key in keys {
                text.push_str(&format!("{key:?}:"));
                write_canonical(text, &map[key]);
                text.push(',');
            }
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

/// A number in `value` that receivers cannot be expected to read, like `1e999`.
pub(crate) fn unsendable(value: &Value) -> Option<&Number> {
    match value {
        Value::Number(number) => Some(number).filter(|number| !Decimal::from_number(number).is_finite()),
        Value::Array(values) => values.iter().find_map(unsendable),
        Value::Object(map) => map.values().find_map(unsendable),
        _ => None,
    }
}
