use serde_json::{Map, Value};

use super::{AnswersEntry, Overlay};
use crate::form::{Field, Form};
use crate::text::safe_line;

/// Why an entry cannot fill a form: one line with the field's key and the rule, safe for a terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FillError(String);

/// Where the values for a form come from.
#[derive(Clone, Copy, Debug)]
pub struct FillSource<'a> {
    /// The values by field.
    pub content: &'a Map<String, Value>,
    /// What overrides them.
    pub overlay: &'a Overlay,
    /// The fields whose default is not sent.
    pub omit: &'a [String],
    /// Whether fields that look like secrets may be filled.
    pub secret: bool,
    /// Whether a key that is not a field is an error; otherwise it is left out.
    pub strict: bool,
}

impl<'a> FillSource<'a> {
    /// An entry, overridden by `overlay`.
    pub fn entry(entry: &'a AnswersEntry, overlay: &'a Overlay) -> Self {
        Self { content: &entry.content, overlay, omit: &entry.omit, secret: entry.secret, strict: true }
    }

    /// A plain object, overridden by `overlay`.
    pub fn plain(content: &'a Map<String, Value>, overlay: &'a Overlay) -> Self {
        Self { content, overlay, omit: &[], secret: false, strict: false }
    }

    /// An error about the field `key`, or about the whole form if that is empty.
    fn wrong(&self, key: &str, reason: &str, field: Option<&Field>) -> FillError {
        let is_typed = self.overlay.typed.iter().any(|(typed, _)| typed == key);
        let option = if is_typed { "--answer " } else { "" };
        let rules = field.map(|field| field.rules_beside(reason)).unwrap_or_default();
        let key = if key.is_empty() { String::new() } else { format!("{option}{key}: ") };
        FillError(safe_line(&format!("{key}{reason}{rules}")).into_owned())
    }

    /// Whether a value for `field` was given.
    fn names(&self, field: &Field) -> bool {
        self.content.contains_key(&field.key) || self.overlay.value(field).is_some()
    }

    /// Whether there is a value or a default for each required field of `form`.
    pub fn covers(&self, form: &Form) -> bool {
        self.uncovered(form).next().is_none()
    }

    /// The required fields of `form` without a value or a default.
    pub fn uncovered<'f>(&self, form: &'f Form) -> impl Iterator<Item = &'f Field> {
        form.fields.iter().filter(|field| field.required && field.default.is_none() && !self.names(field))
    }
}

/// The content for `form` from `source`: complete, in the form's order, and checked against its schema. A field that is
/// left out sends its default, or nothing.
///
/// # Errors
/// The first field that is not filled correctly.
pub fn fill(form: &Form, source: FillSource<'_>) -> Result<Map<String, Value>, FillError> {
    let mut content = Map::new();
    for field in &form.fields {
        let given = match source.overlay.value(field) {
            Some(typed) => Some(typed.map_err(|reason| source.wrong(&field.key, &reason, Some(field)))?),
            None => source.content.get(&field.key).cloned(),
        };
        if given.is_some() && field.secret && !source.secret {
            let reason = "it looks like a secret, and only an entry with \"secret\": true may fill it";
            return Err(source.wrong(&field.key, reason, None));
        }
        if given == Some(Value::Null) && !field.nullable {
            let reason = "null is a placeholder for a value that you fill in";
            return Err(source.wrong(&field.key, reason, Some(field)));
        }
        let default = || field.default.clone().filter(|_| !source.omit.contains(&field.key));
        if let Some(value) = given.or_else(default) {
            content.insert(field.key.clone(), value);
        }
    }
    let is_field = |key: &String| form.fields.iter().any(|field| field.key == *key);
    if source.strict {
        if let Some(key) = source.omit.iter().find(|key| !is_field(key)) {
            return Err(source.wrong(key, "is left out, but the form has no such field", None));
        }
        let others = source.content.iter().filter(|(key, _)| !is_field(key));
        content.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    }
    match form.check(&content).into_iter().next() {
        Some(error) => {
            let field = form.fields.iter().find(|field| field.key == error.key);
            Err(source.wrong(&error.key, &error.reason, field))
        }
        None => Ok(form.canonical(content)),
    }
}
