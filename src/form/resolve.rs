use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{budget::Budget, dialect, keywords::Keywords};

/// The note when a budget is used up.
pub(super) const TOO_LARGE: &str = "the form is too large to be shown completely";
/// The longest chain of references and unions that is followed for one field.
const DEEPEST: usize = 32;
/// The most references and unions that are followed for one field.
const MOST_STEPS: usize = 500;

/// A schema with its outer layers removed: local references followed, `allOf` merged, `null` removed from unions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolved<'a> {
    /// The remaining keywords.
    pub(crate) schema: Keywords<'a>,
    /// Whether `null` was an alternative.
    pub(crate) nullable: bool,
    /// Whether the keywords say less than the whole schema, so that values must be checked against that too.
    pub(crate) partial: bool,
    /// What could not be followed, in our words.
    pub(crate) notes: Vec<String>,
    steps: usize,
}

/// Resolves `schema`, whose references are relative to `root`. The cost does not grow with the size of what is referred
/// to.
pub(crate) fn resolve<'a>(root: &'a Value, schema: &'a Map<String, Value>) -> Resolved<'a> {
    resolve_within(root, schema, &Budget::of_one())
}

/// Like [`resolve`], within a shared budget: if too little is left, some keywords are left out.
pub(super) fn resolve_within<'a>(root: &'a Value, schema: &'a Map<String, Value>, budget: &Budget) -> Resolved<'a> {
    let mut resolved = Resolved::default();
    resolved.fold(root, schema, 0, budget);
    resolved
}

impl<'a> Resolved<'a> {
    /// Adds the keywords of `schema`; existing ones win.
    fn fold(&mut self, root: &'a Value, schema: &'a Map<String, Value>, depth: usize, budget: &Budget) {
        self.steps += 1;
        if depth > DEEPEST || self.steps > MOST_STEPS {
            self.partial = true;
            self.note("the schema is nested too deeply");
            return;
        }
        let says_nullable = dialect::is_nullable(schema);
        self.nullable |= says_nullable;
        for (key, value) in schema {
            match (key.as_str(), value) {
                ("nullable", _) if says_nullable => {}
                ("$ref" | "allOf" | "$defs" | "definitions", _) => {}
                ("anyOf" | "oneOf", Value::Array(_)) => self.fold_union(root, key, value, depth, budget),
                ("type", Value::Array(types)) => self.fold_types(types),
                ("type", Value::String(name)) if dialect::type_name(name) != name => {
                    self.add(key, Cow::Owned(dialect::type_name(name).into()));
                }
                _ if budget.spend(1) => self.add(key, Cow::Borrowed(value)),
                _ => self.too_large(),
            }
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            match pointer(root, reference) {
                Some(Value::Object(target)) => self.fold(root, target, depth + 1, budget),
                Some(Value::Bool(true)) => {}
                _ => {
                    self.partial = true;
                    self.note(&format!("refers to {reference}, which cannot be read"));
                }
            }
        }
        for member in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            match member {
                Value::Object(member) => self.fold(root, member, depth + 1, budget),
                Value::Bool(true) => {}
                _ => self.partial = true,
            }
        }
    }

    /// Removes `null` from a union; if only one alternative is left, it is merged.
    fn fold_union(&mut self, root: &'a Value, key: &'a str, members: &'a Value, depth: usize, budget: &Budget) {
        let listed = members.as_array().into_iter().flatten();
        let (nulls, others): (Vec<&Value>, Vec<&Value>) = listed.partition(|member| is_null_schema(member));
        self.nullable |= !nulls.is_empty();
        match others.as_slice() {
            // A single choice must still be chosen; it is not a value that is sent by itself.
            [Value::Object(only)] if only.contains_key("const") => {
                self.add(key, Cow::Owned(Value::Array(vec![only.clone().into()])));
            }
            [Value::Object(only)] => self.fold(root, only, depth + 1, budget),
            [] => self.add("const", Cow::Owned(Value::Null)),
            _ if nulls.is_empty() => self.add(key, Cow::Borrowed(members)),
            _ if others.iter().all(|member| budget.spend_on(member)) => {
                self.add(key, Cow::Owned(others.into_iter().cloned().collect::<Vec<_>>().into()));
            }
            _ => self.too_large(),
        }
    }

    fn fold_types(&mut self, types: &'a [Value]) {
        let plain = |name: &Value| name.as_str().map_or_else(|| name.clone(), |name| dialect::type_name(name).into());
        let mut others: Vec<Value> = types.iter().map(plain).filter(|name| *name != "null").collect();
        self.nullable |= others.len() < types.len();
        match others.len() {
            0 => self.add("type", Cow::Owned("null".into())),
            1 => self.add("type", Cow::Owned(others.remove(0))),
            _ => self.add("type", Cow::Owned(others.into())),
        }
    }

    fn too_large(&mut self) {
        self.partial = true;
        self.note(TOO_LARGE);
    }

    fn add(&mut self, key: &'a str, value: Cow<'a, Value>) {
        match self.schema.get(key) {
            None => self.schema.insert(key, value),
            Some(known) if std::ptr::eq(known, value.as_ref()) || *known == *value => {}
            Some(_) if is_annotation(key) => {}
            Some(_) => self.partial = true,
        }
    }

    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}

/// What the local reference `#/a/b` in `root` points at: JSON pointer escapes and percent-encoding are read.
pub(crate) fn pointer<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    root.pointer(fragment).or_else(|| root.pointer(&percent_decoded(fragment)?))
}

/// `text` with its percent-encoding decoded, or `None` if the result is not text.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Whether a member of a union is `null` and nothing else.
fn is_null_schema(member: &Value) -> bool {
    let is = |key: &str, value: &Value| member.get(key) == Some(value);
    is("type", &Value::from("null"))
        || is("type", &Value::Array(vec![Value::from("null")]))
        || is("enum", &Value::Array(vec![Value::Null]))
        || is("const", &Value::Null)
}

/// Whether a keyword has no effect on which values are valid.
fn is_annotation(key: &str) -> bool {
    matches!(
        key,
        "title"
            | "description"
            | "default"
            | "examples"
            | "example"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$id"
            | "id"
            | "$schema"
            | "$comment"
            | "$anchor"
            | "enumNames"
    )
}
