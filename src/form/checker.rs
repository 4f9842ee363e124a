use std::{fmt, sync::Arc};

use jsonschema::{
    JsonType, PatternOptions, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Map, Value, json};

use super::{
    budget::Budget,
    cost, dialect,
    fault::{Fault, TooCostly},
    mend::{Mended, mended},
    weigh, words,
};

/// The most faults that are listed for one value.
const MOST_FAULTS: usize = 20;

/// Checks values against a JSON Schema with the `jsonschema` crate, for what a form's own rules do not cover. Nothing
/// is fetched, and neither time nor stack is unlimited.
pub(crate) struct Checker {
    validator: Validator,
    /// The document; values are checked against it or a part of it.
    root: Arc<Value>,
    part: Option<Arc<Value>>,
    /// The parts of the document that cannot be read and are not checked: each as `place: why`.
    unread: Vec<String>,
}

/// Why a schema cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    /// JSON pointer to the problem; empty if unknown.
    pub(super) path: String,
    pub(super) reason: String,
}

impl Checker {
    /// The checker of the whole document `root`.
    ///
    /// # Errors
    /// Why values cannot be checked: an invalid schema, an unknown dialect, references to other documents or in
    /// circles.
    pub(crate) fn new(root: &Value) -> Result<Self, String> {
        Self::within(&Arc::new(root.clone()), &Budget::of(root))
    }

    /// Like [`Checker::new`], within a shared budget.
    ///
    /// # Errors
    /// As for [`Checker::new`], or if too little of the budget is left.
    pub(super) fn within(root: &Arc<Value>, budget: &Budget) -> Result<Self, String> {
        let built = cost::bound(root, root, budget)
            .map_err(|reason| Unreadable { path: String::new(), reason })
            .and_then(|()| build(root));
        match built {
            Ok(validator) => Ok(Self { validator, root: Arc::clone(root), part: None, unread: Vec::new() }),
            // Looking for the readable parts would cost the same, many times over.
            Err(unreadable) if cost::is_about_cost(&unreadable.reason) => Err(unreadable.reason),
            Err(unreadable) => {
                let Mended { schema, validator, unread } = mended(root).ok_or(unreadable.reason)?;
                Ok(Self { validator, root: Arc::new(schema), part: None, unread })
            }
        }
    }

    /// The checker of `part`, whose local references are relative to `root`.
    ///
    /// # Errors
    /// As for [`Checker::new`].
    pub(super) fn for_part(root: &Arc<Value>, part: &Value, budget: &Budget) -> Result<Self, String> {
        if !refers(part) {
            // Without references, the surrounding document does not matter.
            let mut alone = part.clone();
            if let (Value::Object(alone), Some(dialect)) = (&mut alone, root.get("$schema")) {
                alone.entry("$schema").or_insert_with(|| dialect.clone());
            }
            return Self::within(&Arc::new(alone), budget);
        }
        // It is copied once here, and once more when it is compiled.
        if !(budget.spend_on(root) && budget.spend_on(root)) {
            return Err("the form has too many references to itself".to_owned());
        }
        cost::bound(root, part, budget)?;
        // A reference is relative to its resource, so the part must stay inside the document it comes from.
        let mut inner = root.as_object().cloned().unwrap_or_default();
        let dialect = inner.get("$schema").cloned();
        let told = dialect.as_ref().and_then(Value::as_str).unwrap_or_default();
        let container = if told.contains("/draft-0") { "definitions" } else { "$defs" };
        inner.remove("id");
        inner.remove("$id");
        inner.insert(if told.contains("/draft-04") { "id" } else { "$id" }.into(), json!("urn:toolnexus:form"));
        inner.insert("toolnexus:field".into(), part.clone());
        let mut outer = Map::new();
        outer.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
        outer.insert("allOf".into(), json!([{"$ref": "urn:toolnexus:form#/toolnexus:field"}]));
        outer.insert(container.into(), json!({"form": inner}));
        let validator = build(&Value::Object(outer)).map_err(|unreadable| unreadable.reason)?;
        Ok(Self { validator, root: Arc::clone(root), part: Some(Arc::new(part.clone())), unread: Vec::new() })
    }

    /// The parts of the schema that cannot be read, each as `place: why`; whatever depends on them is not checked.
    pub(crate) fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Whether checking `value` against the schema stays within the value's budget.
    pub(super) fn is_affordable(&self, value: &Value) -> bool {
        weigh::is_affordable(&self.root, self.part.as_deref().unwrap_or(&self.root), value)
    }

    /// Everything that is wrong with `value`, in the schema's order; at most 20 faults.
    ///
    /// # Errors
    /// [`TooCostly`], before anything is checked.
    pub(crate) fn faults(&self, value: &Value) -> Result<Vec<Fault>, TooCostly> {
        if !self.is_affordable(value) {
            return Err(TooCostly);
        }
        let errors = self.validator.iter_errors(value).filter(|error| !is_unknown(error));
        Ok(errors.take(MOST_FAULTS).map(|error| fault(&error)).collect())
    }
}

pub(super) fn build(schema: &Value) -> Result<Validator, Unreadable> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(200_000).size_limit(1 << 20).dfa_size_limit(1 << 17);
    // Formats are only annotations, unless a field checks them.
    let options = jsonschema::options().with_pattern_options(patterns).should_validate_formats(false).offline();
    options.build(&dialect::plain(schema)).map_err(|error| {
        let path = error.instance_path().to_string();
        let reason = match error.kind() {
            ValidationErrorKind::AnyOf { .. } if path.ends_with("/type") => {
                format!("{} is not a type", words::quote(error.instance()))
            }
            _ => words::cut(&error.to_string(), 160),
        };
        Unreadable { path, reason }
    })
}

/// Whether a schema refers to anything.
pub(super) fn refers(part: &Value) -> bool {
    match part {
        Value::Object(map) => {
            map.keys().any(|key| cost::REFERENCES.contains(&key.as_str())) || map.values().any(refers)
        }
        Value::Array(list) => list.iter().any(refers),
        _ => false,
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Checker")
    }
}

/// Whether the check itself failed, so that nothing is known about the value.
fn is_unknown(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
            | ValidationErrorKind::Referencing(_)
    )
}

fn fault(error: &ValidationError<'_>) -> Fault {
    let value = error.instance();
    let shown = words::quote(value);
    let mut path = error.instance_path().to_string();
    let reason = match error.kind() {
        ValidationErrorKind::Required { property } => {
            path = format!("{path}/{}", words::bare(property).replace('~', "~0").replace('/', "~1"));
            "required, but missing".to_owned()
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            format!("{} is not allowed here", unexpected.join(", "))
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            // What the alternative lacks that is nearest.
            let nearest = context.iter().min_by_key(|errors| errors.len());
            let lacks = nearest.into_iter().flatten().find_map(|error| match error.kind() {
                ValidationErrorKind::Required { property } => Some(format!(": {} is missing", words::bare(property))),
                _ => None,
            });
            format!("{shown} does not fit any of the alternatives{}", lacks.unwrap_or_default())
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("{shown} is not one of {}", words::some_of(options.iter().map(Value::to_string), options.len()))
        }
        ValidationErrorKind::Constant { expected_value } => format!("{shown} is not {}", words::quote(expected_value)),
        ValidationErrorKind::Pattern { pattern } => format!("{shown} does not match {}", words::cut(pattern, 60)),
        ValidationErrorKind::Minimum { limit } => format!("{shown} is below the minimum, {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("{shown} is above the maximum, {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("{shown} is not greater than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("{shown} is not less than {limit}"),
        ValidationErrorKind::MinLength { limit } => format!("{shown} is shorter than the minimum, {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("{shown} is longer than the maximum, {limit} characters"),
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(one) => wanted(*one).to_owned(),
                TypeKind::Multiple(many) => many.iter().map(wanted).collect::<Vec<_>>().join(" or "),
            };
            words::wrong_type(&shown, value, &wanted)
        }
        _ => words::cut(&error.to_string(), 160),
    };
    Fault { path, reason }
}

/// The name of a JSON type in messages about what is expected.
fn wanted(kind: JsonType) -> &'static str {
    match kind {
        JsonType::String => "text",
        JsonType::Integer => "a whole number",
        JsonType::Number => "a number",
        JsonType::Boolean => "true or false",
        JsonType::Array => "a list",
        JsonType::Object => "an object",
        JsonType::Null => "null",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(root: &Value, part: &Value, value: &Value) -> Vec<Fault> {
        Checker::for_part(&Arc::new(root.clone()), part, &Budget::of(root))
            .expect("a checker")
            .faults(value)
            .expect("affordable")
    }

    #[test]
    fn references_count_from_the_document() {
        for dialect in [
            json!(null),
            json!("https://json-schema.org/draft/2020-12/schema"),
            json!("http://json-schema.org/draft-07/schema#"),
            json!("http://json-schema.org/draft-04/schema#"),
        ] {
            let mut root = json!({
                "$id": "https://a.example/form", "id": "x",
                "properties": {"a": {"$ref": "#/definitions/B"}},
                "definitions": {"B": {"type": "object", "properties": {"n": {"$ref": "#/definitions/N"}}, "required": ["n"]},
                                "N": {"type": "integer", "minimum": 3}},
            });
            if !dialect.is_null() {
                root["$schema"] = dialect.clone();
            }
            let part = root["properties"]["a"].clone();
            assert_eq!(faults(&root, &part, &json!({"n": 3})), [], "{dialect}");
            let found = faults(&root, &part, &json!({"n": 2}));
            assert_eq!(
                (found[0].path.as_str(), found[0].reason.as_str()),
                ("/n", "2 is below the minimum, 3"),
                "{dialect}"
            );
            assert_eq!(
                faults(&root, &part, &json!({}))[0],
                Fault { path: "/n".into(), reason: "required, but missing".into() }
            );
        }
    }

    #[test]
    fn what_cannot_be_checked_is_said() {
        for schema in [json!({"$ref": "#"}), json!({"$schema": "https://example.com/own-dialect"})] {
            assert!(Checker::new(&schema).is_err(), "{schema}");
        }
        for (schema, place) in [
            (json!({"$ref": "https://other.example/schema.json"}), "/$ref: "),
            (json!({"$ref": "file:///etc/passwd"}), "/$ref: "),
            (json!({"$ref": "#/$defs/nowhere"}), "/$ref: "),
            (json!({"type": "strin"}), "/type: "),
        ] {
            let checker = Checker::new(&schema).expect("the rest");
            assert!(checker.unread().len() == 1 && checker.unread()[0].starts_with(place), "{:?}", checker.unread());
        }
    }

    #[test]
    fn a_schema_that_branches_at_every_level_is_built_at_once() {
        let start = std::time::Instant::now();
        for keyword in ["properties", "items", "anyOf"] {
            let mut defs = Map::new();
            for level in 0..60 {
                let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
                let part = match keyword {
                    "properties" => json!({"properties": {"a": next, "b": next}}),
                    "items" => json!({"items": next, "contains": next}),
                    _ => json!({"properties": {"a": {"anyOf": [next, {"not": next}]}}}),
                };
                defs.insert(format!("l{level}"), part);
            }
            defs.insert("l60".into(), json!({"type": "string"}));
            let checker = Checker::new(&json!({"$ref": "#/$defs/l0", "$defs": defs}));
            drop(checker.map(|checker| checker.faults(&json!({"a": {"a": {"b": 5}}}))));
        }
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
