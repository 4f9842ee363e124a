use std::collections::HashMap;

use serde_json::Value;

use super::{budget::Budget, pattern, resolve::pointer};

/// The most schemas that one value may have to be checked against.
const MOST_STEPS: u64 = 20_000;
/// The longest chain of nested schemas.
const DEEPEST: usize = 200;
/// The most parts of a document.
const MOST_SCHEMAS: usize = 500_000;
/// The largest total size of all patterns of a document; see [`pattern::size`].
const MOST_PATTERNS: u64 = 40_000;
/// What a pattern counts in addition to its states.
const A_PATTERN: u64 = 100;
/// Why a document is not read.
const TOO_LARGE: &str = "the schema is too large";
const TOO_MANY: &str = "the schema has too many alternatives";
const PATTERNS: &str = "its patterns are too large";

/// Whether a document was refused because of its cost, not its content.
pub(super) fn is_about_cost(reason: &str) -> bool {
    [TOO_LARGE, TOO_MANY, PATTERNS].contains(&reason)
}

/// Keywords whose schemas apply to the same value.
pub(super) const IN_PLACE: [&str; 10] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "extends"];
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords whose value is a map from names to schemas.
pub(super) const MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords whose value is data.
pub(super) const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
/// The keywords whose value is a list of schemas.
pub(super) const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];

/// Whether checking values against `part` of the document `root` is bounded in time and depth: only local references,
/// no circle that never descends into the value, no exponential tree of alternatives.
pub(super) fn bound(root: &Value, part: &Value, budget: &Budget) -> Result<(), String> {
    let mut walk =
        CostWalk { root, costs: HashMap::new(), anchors: anchors(root)?, budget, inside: vec![part], patterns: 0 };
    // Schemas for what is inside the value are visited later: they may refer back to where they are.
    while let Some(schema) = walk.inside.pop() {
        walk.visit(schema, 0)?;
    }
    Ok(())
}

struct CostWalk<'a> {
    root: &'a Value,
    /// Schemas by their address in memory: how many steps each takes, or `None` while it is being visited.
    costs: HashMap<*const Value, Option<u64>>,
    anchors: HashMap<&'a str, &'a Value>,
    budget: &'a Budget,
    /// Schemas for what is inside the value, not visited yet.
    inside: Vec<&'a Value>,
    /// The total size of the patterns.
    patterns: u64,
}

impl<'a> CostWalk<'a> {
    /// The steps that `schema` takes for one value.
    fn visit(&mut self, schema: &'a Value, depth: usize) -> Result<u64, String> {
        if depth > DEEPEST {
            return Err("the schema is too deep".into());
        }
        let Value::Object(map) = schema else { return Ok(1) };
        let place = std::ptr::from_ref(schema);
        match self.costs.get(&place) {
            Some(Some(steps)) => return Ok(*steps),
            Some(None) => return Err("the schema refers to itself".into()),
            None => {}
        }
        if !self.budget.spend(1) {
            return Err(TOO_LARGE.into());
        }
        self.costs.insert(place, None);
        let mut steps: u64 = 1;
        for (key, value) in map {
            let key = key.as_str();
            if REFERENCES.contains(&key) {
                let reference = value.as_str().unwrap_or_default();
                let target = target(self.root, &self.anchors, reference)
                    .ok_or_else(|| format!("{reference} is not in the schema"))?;
                steps = steps.saturating_add(self.visit(target, depth + 1)?);
            } else if IN_PLACE.contains(&key) {
                for schema in subschemas(key, value) {
                    steps = steps.saturating_add(self.visit(schema, depth + 1)?);
                }
            } else if !DATA.contains(&key) {
                self.inside.extend(subschemas(key, value).filter(|schema| schema.is_object()));
                self.count_patterns(key, value)?;
            }
        }
        if steps > MOST_STEPS {
            return Err(TOO_MANY.into());
        }
        self.costs.insert(place, Some(steps));
        Ok(steps)
    }

    fn count_patterns(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let count = |source: &str| A_PATTERN + pattern::size(source);
        let size = match (key, value) {
            ("pattern", Value::String(source)) => count(source),
            ("patternProperties", Value::Object(map)) => map.keys().map(|source| count(source)).sum(),
            _ => return Ok(()),
        };
        self.patterns += size;
        // Parts that several documents share are charged to each.
        let is_affordable = self.budget.spend(size / 4) && self.patterns <= MOST_PATTERNS;
        if is_affordable { Ok(()) } else { Err(PATTERNS.into()) }
    }
}

/// The schema that `reference` points to in `root`, given its anchors.
pub(super) fn target<'a>(root: &'a Value, anchors: &HashMap<&'a str, &'a Value>, reference: &str) -> Option<&'a Value> {
    match reference.strip_prefix('#') {
        Some(fragment) if fragment.is_empty() || fragment.starts_with('/') => pointer(root, reference),
        Some(anchor) => anchors.get(anchor).copied(),
        None => anchors.get(reference).copied(),
    }
}

/// The schemas of a document that have names of their own.
///
/// # Errors
/// If the document is too large or too deep.
pub(super) fn anchors(root: &Value) -> Result<HashMap<&str, &Value>, String> {
    let (mut anchors, mut seen) = (HashMap::new(), 0);
    let mut open = vec![(root, 0)];
    while let Some((value, depth)) = open.pop() {
        seen += 1;
        if depth > DEEPEST || seen > MOST_SCHEMAS {
            return Err(TOO_LARGE.into());
        }
        match value {
            Value::Object(map) => {
                if depth > 0 && map.get("$id").or(map.get("id")).is_some_and(is_address) && refers_within(value) {
                    return Err("it contains a schema with an address of its own that refers to itself".into());
                }
                for name in ["$anchor", "$dynamicAnchor", "$id"].iter().filter_map(|key| map.get(*key)?.as_str()) {
                    anchors.insert(name, value);
                }
                open.extend(map.values().map(|value| (value, depth + 1)));
            }
            Value::Array(list) => open.extend(list.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    Ok(anchors)
}

/// Whether an identifier gives a schema its own base URI, to which its references are relative.
fn is_address(id: &Value) -> bool {
    id.as_str().is_some_and(|id| !id.starts_with('#'))
}

/// Whether anything in `value` refers to another place in the same document.
fn refers_within(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                let refers = |key: &&str| map.get(*key).and_then(Value::as_str).is_some_and(|to| to.starts_with('#'));
                if REFERENCES.iter().any(refers) {
                    return true;
                }
                open.extend(map.values());
            }
            Value::Array(list) => open.extend(list),
            _ => {}
        }
    }
    false
}

/// The schemas inside `value`, which is the value of the keyword `key`.
pub(super) fn subschemas<'a>(key: &str, value: &'a Value) -> Box<dyn Iterator<Item = &'a Value> + 'a> {
    match value {
        Value::Array(list) => Box::new(list.iter()),
        Value::Object(map) if MAPS.contains(&key) => Box::new(map.values()),
        _ => Box::new(std::iter::once(value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn bounded(root: &Value) -> Result<(), String> {
        bound(root, root, &Budget::of(root))
    }

    #[test]
    fn recursion_through_the_value_is_fine() {
        let tree = json!({
            "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "all": {"items": {"$ref": "#"}}}}},
            "$ref": "#/$defs/node",
        });
        assert_eq!(bounded(&tree), Ok(()));
        let alternatives = json!({"anyOf": [{"type": "null"}, {"properties": {"not": {"$ref": "#"}}}]});
        assert_eq!(bounded(&alternatives), Ok(()));
    }

    #[test]
    fn circles_and_explosions_are_refused() {
        assert!(bounded(&json!({"$ref": "#"})).is_err());
        let circle = json!({"properties": {"a": {"$ref": "#/$defs/a"}},
                            "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}});
        assert!(bounded(&circle).is_err());
        let anchored = json!({"$defs": {"a": {"$anchor": "x", "allOf": [{"$ref": "#x"}]}}, "$ref": "#x"});
        assert!(bounded(&anchored).is_err());
        let mut defs = Map::new();
        for level in 0..40 {
            let next = format!("#/$defs/l{}", level + 1);
            defs.insert(format!("l{level}"), json!({"anyOf": [{"$ref": next}, {"$ref": next}]}));
        }
        defs.insert("l40".into(), json!({"type": "string"}));
        assert!(bounded(&json!({"$ref": "#/$defs/l0", "$defs": defs})).is_err());
    }
}
