//! Replaces the checker in a build without the feature `schema`: only a form's own rules are known, and a value that
//! needs more is refused.

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Form,
    budget::Budget,
    fault::{Fault, TooCostly},
};

/// The reason given for a value that cannot be checked here.
const UNCHECKED: &str =
    "this cannot be checked in this build, because its schema says more than a form does (feature `schema`)";

/// Refuses what a form's own rules do not cover.
pub(crate) struct Checker {
    /// The form of a whole document, if values can be checked with it.
    form: Option<Form>,
    /// Whether keys other than the fields have to fit a schema.
    rules_others: bool,
}

impl Checker {
    /// The checker of the whole document `root`: every member that a form can check is checked.
    #[expect(clippy::unnecessary_wraps, reason = "the other checker may fail")]
    pub(crate) fn new(root: &Value) -> Result<Self, String> {
        let rules_others = root.get("additionalProperties").is_some_and(Value::is_object);
        Ok(Self { form: Some(Form::from_schema(root)), rules_others })
    }

    /// The checker for rules about a whole form: it checks nothing.
    #[expect(clippy::unnecessary_wraps, reason = "the other checker may fail")]
    pub(super) fn within(_root: &Arc<Value>, _budget: &Budget) -> Result<Self, String> {
        Ok(Self { form: None, rules_others: false })
    }

    /// The checker of a field whose schema has more rules than its kind: it checks nothing.
    pub(super) fn for_part(root: &Arc<Value>, _part: &Value, budget: &Budget) -> Result<Self, String> {
        Self::within(root, budget)
    }

    /// The parts of the schema that cannot be read: not determined here.
    #[expect(clippy::unused_self, reason = "the other checker uses `self`")]
    pub(crate) fn unread(&self) -> &[String] {
        &[]
    }

    /// Whether a check stays within the value's budget.
    #[expect(clippy::unused_self, reason = "the other checker uses `self`")]
    pub(super) fn is_affordable(&self, _value: &Value) -> bool {
        true
    }

    /// Everything that is wrong with `value`, or cannot be known about it.
    #[expect(clippy::unnecessary_wraps, reason = "the other checker may fail")]
    pub(crate) fn faults(&self, value: &Value) -> Result<Vec<Fault>, TooCostly> {
        let (Some(form), Value::Object(content)) = (&self.form, value) else { return Ok(vec![unchecked()]) };
        let is_field = |key: &String| form.fields.iter().any(|field| field.key == *key);
        let known = content.iter().filter(|(key, _)| is_field(key));
        let known: Map<String, Value> = known.map(|(key, value)| (key.clone(), value.clone())).collect();
        let others = self.rules_others && known.len() < content.len();
        let faults = form.check(&known).into_iter().map(|error| Fault {
            path: format!("/{}", error.key.replace('~', "~0").replace('/', "~1")),
            reason: error.reason,
        });
        Ok(faults.chain(others.then(unchecked)).collect())
    }
}

fn unchecked() -> Fault {
    Fault { path: String::new(), reason: UNCHECKED.to_owned() }
}

/// Whether a schema refers to anything.
pub(super) fn refers(part: &Value) -> bool {
    match part {
        Value::Object(map) => {
            ["$ref", "$dynamicRef", "$recursiveRef"].iter().any(|key| map.contains_key(*key))
                || map.values().any(refers)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_needs_the_whole_of_json_schema_is_refused() {
        let form = Form::from_schema(&json!({"type": "object", "properties": {
            "name": {"type": "string", "minLength": 2},
            "size": {"type": "object", "properties": {"n": {"type": "integer"}}},
        }}));
        let check = |value: Value| form.check(value.as_object().expect("an object"));
        assert_eq!(check(json!({"name": "Ada"})), []);
        assert_eq!(check(json!({"name": "A"}))[0].reason, "A is too short: at least 2 characters");
        assert_eq!(check(json!({"size": {"n": 1}}))[0].reason, UNCHECKED);
        assert!(form.fields[1].parse("{}").is_err());
        let whole =
            Form::from_schema(&json!({"type": "object", "minProperties": 1, "properties": {"a": {"type": "string"}}}));
        assert_eq!(whole.check(json!({"a": "x"}).as_object().expect("an object"))[0].reason, UNCHECKED);
    }

    #[test]
    fn arguments_are_checked_as_far_as_a_form_can() {
        let checker =
            Checker::new(&json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}, "o": {}},
            "additionalProperties": {"type": "string"}}));
        let checker = checker.expect("a checker");
        let faults = |value: Value| checker.faults(&value).expect("affordable");
        assert_eq!(faults(json!({"n": 5})), []);
        assert_eq!(faults(json!({"n": 6})), [Fault { path: "/n".into(), reason: "6 is above the maximum, 5".into() }]);
        assert_eq!(faults(json!({"n": 5, "other": 1})), [unchecked()]);
    }
}
