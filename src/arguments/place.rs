use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value};

use crate::form::{Keywords, Pattern, nearest, pattern_size, pointer, resolve};

/// How many levels of nested unions are followed.
const DEEPEST: usize = 8;
/// How many schemas of one place are considered.
const MOST: usize = 16;

/// The total size of all patterns that names are checked against.
const MOST_PATTERNS: u64 = 40_000;

/// The patterns of a tool's property names, each compiled once.
#[derive(Clone, Debug, Default)]
pub(super) struct NamePatterns(Arc<Mutex<(HashMap<String, Pattern>, u64)>>);

impl NamePatterns {
    /// Whether `name` matches the pattern `source`; a pattern that is too large to compile never matches.
    fn fits(&self, source: &str, name: &str) -> bool {
        // After a panic elsewhere the map is still valid.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pattern) = known.0.get(source) {
            return pattern.fits(name);
        }
        let size = 100 + pattern_size(source);
        if known.1 + size > MOST_PATTERNS {
            return false;
        }
        known.1 += size;
        known.0.entry(source.to_owned()).or_insert_with(|| Pattern::new(source)).fits(name)
    }
}

/// What the schema says about the value at a path.
pub(super) enum ArgumentPlace {
    /// It has one of these schemas; several if it is in a union.
    Known(Vec<Value>),
    /// Nothing is known; perhaps there is a property with a similar name.
    Unknown {
        /// The property that was probably meant.
        near: Option<String>,
    },
    /// A property of that name is not allowed.
    Closed {
        /// The property that was probably meant.
        near: Option<String>,
    },
}

/// What `schema`, which is part of the document `root`, says about the value at the end of `path`.
pub(super) fn place(root: &Value, schema: &Value, path: &[String], patterns: &NamePatterns) -> ArgumentPlace {
    let Some((step, rest)) = path.split_first() else { return ArgumentPlace::Known(vec![schema.clone()]) };
    let Value::Object(map) = schema else { return ArgumentPlace::Unknown { near: None } };
    let found = conjuncts(root, map).iter().map(|part| property(root, part, step, patterns, 0)).reduce(either);
    match found {
        Some(ArgumentPlace::Known(parts)) => parts.iter().map(|part| place(root, part, rest, patterns)).reduce(either),
        other => other,
    }
    .unwrap_or(ArgumentPlace::Unknown { near: None })
}

/// The schema, and those of its `allOf`, in which more properties may stand: of two lists of properties that meet, the first
/// hides the second.
fn conjuncts<'a>(root: &'a Value, map: &'a Map<String, Value>) -> Vec<Keywords<'a>> {
    let (mut all, mut open) = (Vec::new(), vec![map]);
    while let Some(map) = open.pop().filter(|_| all.len() < MOST) {
        all.push(resolve(root, map).schema);
        let members = map.get("allOf").and_then(Value::as_array).into_iter().flatten();
        let target = map.get("$ref").and_then(Value::as_str).and_then(|reference| pointer(root, reference));
        open.extend(members.chain(target).filter_map(Value::as_object).rev());
    }
    all
}

/// Whether `schema` has a property of exactly this name.
pub(super) fn has_property(root: &Value, schema: &Value, name: &str) -> bool {
    let Value::Object(map) = schema else { return false };
    conjuncts(root, map).iter().any(|part| has_name(root, part, name, 0))
}

fn has_name(root: &Value, schema: &Keywords<'_>, name: &str, depth: usize) -> bool {
    let own = schema.get("properties").and_then(Value::as_object).is_some_and(|own| own.contains_key(name));
    own || (depth < 2 && members(root, schema, depth).iter().any(|member| has_name(root, member, name, depth + 1)))
}

/// Whether `schema` may forbid some names.
pub(super) fn may_be_closed(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return false };
    let resolved = resolve(schema, map).schema;
    let is_closed = |schema: &Keywords<'_>| schema.get("additionalProperties") == Some(&Value::Bool(false));
    is_closed(&resolved) || !members(schema, &resolved, 0).is_empty()
}

/// What is known if either of two places may be meant.
fn either(one: ArgumentPlace, other: ArgumentPlace) -> ArgumentPlace {
    match (one, other) {
        (ArgumentPlace::Known(mut parts), ArgumentPlace::Known(others)) => {
            for part in others {
                if parts.len() < MOST && !parts.contains(&part) {
                    parts.push(part);
                }
            }
            ArgumentPlace::Known(parts)
        }
        (known @ ArgumentPlace::Known(_), _) | (_, known @ ArgumentPlace::Known(_)) => known,
        (open @ ArgumentPlace::Unknown { .. }, _) | (_, open @ ArgumentPlace::Unknown { .. }) => open,
        (closed, _) => closed,
    }
}

fn property(root: &Value, schema: &Keywords<'_>, name: &str, known: &NamePatterns, depth: usize) -> ArgumentPlace {
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some(part) = properties.and_then(|properties| properties.get(name)) {
        return ArgumentPlace::Known(vec![part.clone()]);
    }
    if let Some(item) = item(schema, name) {
        return ArgumentPlace::Known(vec![item.clone()]);
    }
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    if let Some((_, part)) = patterns.into_iter().flatten().find(|(pattern, _)| known.fits(pattern, name)) {
        return ArgumentPlace::Known(vec![part.clone()]);
    }
    let inner = members(root, schema, depth);
    let found = inner.iter().map(|member| property(root, member, name, known, depth + 1)).reduce(either);
    if let Some(ArgumentPlace::Known(parts)) = found {
        return ArgumentPlace::Known(parts);
    }
    let names = names(root, schema, 0);
    let near = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => ArgumentPlace::Closed { near },
        Some(part @ Value::Object(_)) => ArgumentPlace::Known(vec![part.clone()]),
        _ if !inner.is_empty() && matches!(found, Some(ArgumentPlace::Closed { .. })) => ArgumentPlace::Closed { near },
        _ => ArgumentPlace::Unknown { near },
    }
}

/// The schema of the entry `name` of a list, if that is a number.
fn item<'a>(schema: &'a Keywords<'_>, name: &str) -> Option<&'a Value> {
    let index: usize = name.parse().ok()?;
    let prefix = schema.get("prefixItems").or_else(|| schema.get("items").filter(|items| items.is_array()));
    let prefix = prefix.and_then(Value::as_array);
    prefix.and_then(|prefix| prefix.get(index)).or_else(|| schema.get("items").filter(|items| items.is_object()))
}

/// The alternatives that may declare more properties.
fn members<'a>(root: &'a Value, schema: &'a Keywords<'_>, depth: usize) -> Vec<Keywords<'a>> {
    if depth >= DEEPEST {
        return Vec::new();
    }
    let unions = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let branches = ["then", "else"].iter().filter_map(|key| schema.get(key));
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten();
    let branches = branches.chain(dependent.map(|(_, member)| member));
    let objects = unions.chain(branches).filter_map(Value::as_object).take(MOST);
    objects.map(|member| resolve(root, member).schema).collect()
}

/// The names of all properties, including those of alternatives.
fn names(root: &Value, schema: &Keywords<'_>, depth: usize) -> Vec<String> {
    let own = schema.get("properties").and_then(Value::as_object);
    let mut names: Vec<String> = own.into_iter().flat_map(Map::keys).cloned().collect();
    if depth < 2 {
        names.extend(members(root, schema, depth).iter().flat_map(|member| self::names(root, member, depth + 1)));
    }
    names
}
