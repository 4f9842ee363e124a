use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::Value;

use super::{
    budget::Budget,
    checker::{Unreadable, build},
    cost::{self, LISTS, MAPS, REFERENCES},
    dialect,
};

/// How many faults of a schema are removed, one after the other.
const MOST: usize = 8;
/// The keywords whose value is a schema.
const SCHEMAS: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// A schema without the keywords that cannot be read.
pub(super) struct Mended {
    pub(super) schema: Value,
    pub(super) validator: Validator,
    /// What was removed: where, and what is wrong with it.
    pub(super) unread: Vec<String>,
}

/// Removes what cannot be read from `schema`, so that the rest can be checked. `None` if the fault is everywhere, or
/// cannot be located.
pub(super) fn mended(schema: &Value) -> Option<Mended> {
    if !Budget::of_one().spend_on(schema) {
        return None;
    }
    let mut schema = dialect::plain(schema).into_owned();
    let mut unread = Vec::new();
    let lost = lost_references(&schema);
    for path in lost.into_iter().take(MOST) {
        let reference = schema.pointer(&path).cloned().unwrap_or_default();
        unread.push(format!("{path}: it refers to {}, which is not in the schema", super::words::quote(&reference)));
        take_out(&mut schema, &path);
    }
    for _ in 0..MOST {
        cost::bound(&schema, &schema, &Budget::of(&schema)).ok()?;
        match build(&schema) {
            Ok(validator) => return (!unread.is_empty()).then_some(Mended { schema, validator, unread }),
            Err(Unreadable { path, reason }) => {
                unread.push(format!("{path}: {reason}"));
                take_out(&mut schema, &path).then_some(())?;
            }
        }
    }
    None
}

/// The places of references that lead nowhere in `schema`.
fn lost_references(schema: &Value) -> Vec<String> {
    let anchors: HashMap<&str, &Value> = cost::anchors(schema).unwrap_or_default();
    let mut lost = Vec::new();
    let mut open = vec![(schema, String::new())];
    while let Some((value, path)) = open.pop() {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let path = format!("{path}/{}", escaped(key));
                    match inner.as_str().filter(|_| REFERENCES.contains(&key.as_str())) {
                        Some(to) if cost::target(schema, &anchors, to).is_none() => lost.push(path),
                        _ => open.push((inner, path)),
                    }
                }
            }
            Value::Array(list) => {
                open.extend(list.iter().enumerate().map(|(index, inner)| (inner, format!("{path}/{index}"))));
            }
            _ => {}
        }
    }
    lost.sort();
    lost
}

/// Removes the keyword at the end of `path` from the innermost schema on the way there. Returns whether there was one.
fn take_out(schema: &mut Value, path: &str) -> bool {
    let steps: Vec<String> = path.split('/').skip(1).map(unescaped).collect();
    let mut here = schema;
    let mut rest = steps.as_slice();
    loop {
        let Some((keyword, more)) = rest.split_first() else { return false };
        let key = keyword.as_str();
        let inner = match here.get(key) {
            Some(Value::Object(_)) if MAPS.contains(&key) && more.len() > 1 => 2,
            Some(Value::Array(_)) if LISTS.contains(&key) && more.len() > 1 => 2,
            Some(Value::Object(_)) if SCHEMAS.contains(&key) && !more.is_empty() => 1,
            // A subschema that is not a schema at all is replaced by one that allows anything.
            Some(Value::Object(_)) if MAPS.contains(&key) && more.len() == 1 => {
                return here[key]
                    .as_object_mut()
                    .is_some_and(|map| map.insert(more[0].clone(), Value::Bool(true)).is_some());
            }
            _ => return here.as_object_mut().is_some_and(|map| map.shift_remove(key).is_some()),
        };
        let (way, after) = rest.split_at(inner);
        let Some(next) = way.iter().try_fold(here, |here, step| match here {
            Value::Object(map) => map.get_mut(step),
            Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        }) else {
            return false;
        };
        (here, rest) = (next, after);
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_named_and_the_rest_is_checked() {
        let good = || json!({"type": "integer", "minimum": 3});
        for (bad, place) in [
            (json!({"type": "strin"}), "/properties/b/type: "),
            (json!({"type": "string", "minLength": "two"}), "/properties/b/minLength: "),
            (json!({"required": "a"}), "/properties/b/required: "),
            (json!({"$ref": "#/$defs/nowhere"}), "/properties/b/$ref: it refers to \"#/$defs/nowhere\""),
            (json!({"$ref": "https://a.example/s"}), "/properties/b/$ref: it refers to"),
            (json!({"items": {"anyOf": [{"type": 7}]}}), "/properties/b/items/anyOf/0/type: "),
            (json!({"pattern": "("}), "/properties/b/pattern: "),
            (json!(7), "/properties/b: "),
        ] {
            let schema = json!({"type": "object", "properties": {"a": good(), "b": bad}});
            let mended = mended(&schema).unwrap_or_else(|| panic!("{schema}"));
            assert_eq!(mended.unread.len(), 1, "{:?}", mended.unread);
            assert!(mended.unread[0].starts_with(place), "{:?}", mended.unread);
            assert!(mended.validator.is_valid(&json!({"a": 3, "b": "x"})), "{schema}");
            assert!(!mended.validator.is_valid(&json!({"a": 2})), "{schema}");
        }
    }

    #[test]
    fn several_faults_are_told_and_what_is_whole_is_not_mended() {
        let schema = json!({"properties": {"a": {"type": "x"}, "b": {"type": "y"}, "c": {"type": "integer"}}});
        let mended = super::mended(&schema).expect("mended");
        assert_eq!(mended.unread.len(), 2, "{:?}", mended.unread);
        assert!(!mended.validator.is_valid(&json!({"c": "x"})));
        assert!(super::mended(&json!({"type": "object"})).is_none());
        assert!(super::mended(&json!({"$schema": "https://example.com/own"})).is_none());
        assert!(super::mended(&json!({"$ref": "#"})).is_none());
    }
}
