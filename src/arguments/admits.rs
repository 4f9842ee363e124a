use serde_json::Value;

use crate::form::{Keywords, resolve};

/// How many levels of nested unions are followed.
const DEEPEST: usize = 8;

/// The names that `type` may have.
const TYPES: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];

/// The JSON types that a schema admits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Admits {
    names: Vec<String>,
    /// Whether nothing restricts the type.
    any: bool,
}

impl Admits {
    /// What `schema` admits, once its references have been resolved; the references in its unions are relative to
    /// `root`.
    pub(super) fn of(root: &Value, schema: &Keywords<'_>, nullable: bool) -> Self {
        let mut admits = Self::default();
        admits.collect(root, schema, 0);
        if nullable {
            admits.add("null");
        }
        admits
    }

    /// Whether a value of the type `name` may be valid.
    pub(super) fn takes(&self, name: &str) -> bool {
        self.any || self.names.iter().any(|known| known == name || (known == "number" && name == "integer"))
    }

    fn add(&mut self, name: &str) {
        if !TYPES.contains(&name) {
            self.any = true;
        } else if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    fn collect(&mut self, root: &Value, schema: &Keywords<'_>, depth: usize) {
        match schema.get("type") {
            Some(Value::String(name)) => return self.add(name),
            Some(Value::Array(names)) => {
                return names.iter().filter_map(Value::as_str).for_each(|name| self.add(name));
            }
            _ => {}
        }
        let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
        let count = self.names.len();
        values.for_each(|value| self.add(type_of(value)));
        let members = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array()).filter(|_| depth < DEEPEST);
        for member in members.into_iter().flatten() {
            match member {
                Value::Object(member) => {
                    let resolved = resolve(root, member);
                    self.collect(root, &resolved.schema, depth + 1);
                    if resolved.nullable {
                        self.add("null");
                    }
                }
                _ => self.any = true,
            }
        }
        if members.is_none() && self.names.len() == count {
            match hinted(schema) {
                Some(name) => self.add(name),
                None => self.any = true,
            }
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The type that the keywords of a schema without `type` suggest.
fn hinted(schema: &Keywords<'_>) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(key));
    if has(&["properties", "additionalProperties", "patternProperties"]) {
        Some("object")
    } else if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
        Some("array")
    } else if has(&["minLength", "maxLength", "pattern", "format", "contentEncoding"]) {
        Some("string")
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        Some("number")
    } else {
        None
    }
}
