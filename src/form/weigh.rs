use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    budget::Budget,
    cost::{DATA, IN_PLACE, REFERENCES, anchors, subschemas, target},
    pattern,
};

/// How deep a value and its schema may nest, counted together.
const DEEPEST: u64 = 600;

/// Whether checking `value` against `part` of `root` stays within the value's budget, whichever alternatives apply. The
/// schema has no circles that never descend into the value (see [`super::cost::bound`]).
pub(super) fn is_affordable(root: &Value, part: &Value, value: &Value) -> bool {
    let anchors = anchors(root).unwrap_or_default();
    Weigher { root, anchors, budget: Budget::of_value(value) }.visit(part, value, 1, 0).is_some()
}

struct Weigher<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    budget: Budget,
}

impl<'a> Weigher<'a> {
    fn spend(&self, steps: u64) -> Option<()> {
        self.budget.spend(steps).then_some(())
    }

    /// `weight` is the cost of each step: within alternatives, a value is checked again on every level.
    fn visit(&self, schema: &'a Value, value: &Value, weight: u64, depth: u64) -> Option<()> {
        self.spend(weight)?;
        let Value::Object(map) = schema else { return Some(()) };
        if depth > DEEPEST {
            return None;
        }
        for (key, inner) in map {
            let key = key.as_str();
            if REFERENCES.contains(&key) {
                let found = target(self.root, &self.anchors, inner.as_str().unwrap_or_default());
                if let Some(schema) = found {
                    self.visit(schema, value, weight, depth + 1)?;
                }
            } else if IN_PLACE.contains(&key) {
                let weight = if key == "allOf" { weight } else { weight + 1 };
                // To find what is unevaluated, everything has to be evaluated again.
                let times = if map.keys().any(|key| key.starts_with("unevaluated")) { 2 } else { 1 };
                for schema in (0..times).flat_map(|_| subschemas(key, inner)) {
                    self.visit(schema, value, weight, depth + 1)?;
                }
            } else if !DATA.contains(&key) {
                self.inside(key, inner, map, value, weight, depth)?;
            } else if let ("enum", Value::Array(choices)) = (key, inner) {
                self.spend(choices.len() as u64 / 8)?;
            }
        }
        Some(())
    }

    /// A keyword about what is inside the value.
    fn inside(
        &self,
        key: &str,
        inner: &'a Value,
        map: &'a Map<String, Value>,
        value: &Value,
        weight: u64,
        depth: u64,
    ) -> Option<()> {
        match (key, value) {
            ("properties", Value::Object(members)) => {
                for (name, schema) in inner.as_object().into_iter().flatten() {
                    if let Some(member) = members.get(name) {
                        self.visit(schema, member, weight, depth + 1)?;
                    }
                }
            }
            ("patternProperties", Value::Object(members)) => {
                for (pattern, schema) in inner.as_object().into_iter().flatten() {
                    for (name, member) in members {
                        self.pattern(pattern, name)?;
                        self.visit(schema, member, weight, depth + 1)?;
                    }
                }
            }
            ("additionalProperties" | "unevaluatedProperties", Value::Object(members)) => {
                for member in members.values() {
                    self.visit(inner, member, weight, depth + 1)?;
                }
            }
            ("propertyNames", Value::Object(members)) => {
                for name in members.keys() {
                    self.visit(inner, &Value::from(name.as_str()), weight, depth + 1)?;
                }
            }
            ("items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains", Value::Array(values)) => {
                let listed = inner.as_array();
                for (index, value) in values.iter().enumerate() {
                    match listed {
                        Some(schemas) => {
                            let Some(schema) = schemas.get(index) else { break };
                            self.visit(schema, value, weight, depth + 1)?;
                        }
                        None => self.visit(inner, value, weight, depth + 1)?,
                    }
                }
            }
            ("uniqueItems", Value::Array(values)) => self.spend(4 * values.len() as u64)?,
            ("pattern", Value::String(text)) => self.pattern(inner.as_str().unwrap_or_default(), text)?,
            _ => {}
        }
        // A schema may be costly even if none of its keywords applies: they are still looked at.
        self.spend(map.len() as u64 / 64)
    }

    fn pattern(&self, pattern: &str, text: &str) -> Option<()> {
        self.spend(pattern::steps(pattern, text.len()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!([]), |inner, _| json!([inner]))
    }

    #[test]
    fn alternatives_that_double_on_every_level_are_too_costly() {
        let again = json!({"type": "array", "items": {"$ref": "#/$defs/n"}});
        let root = json!({"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [again, {"anyOf": [again]}]}}});
        assert!(is_affordable(&root, &root, &nested(5)));
        assert!(!is_affordable(&root, &root, &nested(14)));
        assert!(!is_affordable(&root, &root, &nested(40)));
        for keyword in ["oneOf", "allOf"] {
            let root = json!({"$ref": "#/$defs/n", "$defs": {"n": {(keyword): [again, again, again]}}});
            assert!(!is_affordable(&root, &root, &nested(14)), "{keyword}");
        }
    }

    #[test]
    fn large_plain_values_are_not() {
        let root = json!({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}});
        let value: Value = (0..100_000).map(|n| json!({"a": n})).collect();
        assert!(is_affordable(&root, &root, &value));
    }

    #[test]
    fn patterns_that_look_around_count_for_more() {
        let plain = json!({"items": {"pattern": "^(a+)+$"}});
        let costly = json!({"items": {"pattern": "^(?=(a+)+$)(a+)+$"}});
        let value: Value = (0..1000).map(|_| json!("aaaaaaaaaaaaaaaaaaaaaaaaaaaab")).collect();
        assert!(is_affordable(&plain, &plain, &value) && !is_affordable(&costly, &costly, &value));
    }
}
