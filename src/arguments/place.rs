use serde_json::{Map, Value};

use crate::form::{Pattern, nearest, resolve};

/// What the schema says about the value at a path.
pub(super) enum Place {
    /// It has this schema.
    Known(Value),
    /// Nothing; a property of a name much like it, where there is one.
    Unknown {
        /// The property that may have been meant.
        near: Option<String>,
    },
    /// No property of that name may be there.
    Closed {
        /// The property that may have been meant.
        near: Option<String>,
    },
}

/// What `schema`, part of the document `root`, says about the value at the end of `path`.
pub(super) fn place(root: &Value, schema: &Value, path: &[String]) -> Place {
    let Some((step, rest)) = path.split_first() else { return Place::Known(schema.clone()) };
    let Value::Object(map) = schema else { return Place::Unknown { near: None } };
    let resolved = resolve(root, map).schema;
    match property(&resolved, step) {
        Place::Known(part) => place(root, &part, rest),
        other => other,
    }
}

/// Whether `schema` has a property of exactly this name.
pub(super) fn has_property(root: &Value, schema: &Value, name: &str) -> bool {
    let Value::Object(map) = schema else { return false };
    resolve(root, map).schema.get("properties").and_then(|properties| properties.get(name)).is_some()
}

fn property(schema: &Map<String, Value>, name: &str) -> Place {
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some(part) = properties.and_then(|properties| properties.get(name)) {
        return Place::Known(part.clone());
    }
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    if let Some((_, part)) = patterns.into_iter().flatten().find(|(pattern, _)| Pattern::new(pattern).fits(name)) {
        return Place::Known(part.clone());
    }
    let near = nearest(name, properties.into_iter().flat_map(Map::keys).map(String::as_str)).map(str::to_owned);
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => Place::Closed { near },
        Some(part @ Value::Object(_)) => Place::Known(part.clone()),
        _ => Place::Unknown { near },
    }
}
