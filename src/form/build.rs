use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{
    Field, FieldKind, Form,
    budget::Budget,
    checker::{Checker, refers},
    draw::{self, Drawn},
    keywords::Keywords,
    resolve::{Resolved, TOO_LARGE, resolve_within},
    secret, words,
};

/// Keywords about the whole content that no field covers.
const ABOUT_ALL: [&str; 14] = [
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "patternProperties",
    "unevaluatedProperties",
    "$dynamicRef",
    "$recursiveRef",
];

impl Form {
    /// The form that `schema` asks for. Never fails: what cannot be shown becomes a field that takes JSON, and what
    /// makes no sense becomes a note (2025-11-25, *client/elicitation*, Requested Schema).
    ///
    /// ```
    /// use serde_json::json;
    /// use toolnexus::form::Form;
    /// let form = Form::from_schema(&json!({
    ///     "type": "object",
    ///     "properties": {"age": {"type": "integer", "minimum": 18, "maximum": 99}},
    ///     "required": ["age"],
    /// }));
    /// let age = &form.fields[0];
    /// assert_eq!(age.rules(), "required, whole number, 18 to 99");
    /// assert_eq!(age.parse("30").unwrap(), json!(30));
    /// assert_eq!(age.parse("17").unwrap_err().reason, "17 is below the minimum, 18");
    /// ```
    pub fn from_schema(schema: &Value) -> Self {
        let Value::Object(map) = schema else {
            let notes = vec![format!("the form's schema is {}, not an object", words::type_of(schema))];
            return Self { notes, ..Self::default() };
        };
        let mut shop = Shop::of(schema);
        let resolved = resolve_within(schema, map, &shop.budget);
        let mut form = Self { notes: resolved.notes.clone(), ..Self::default() };
        let required = required_names(&resolved.schema);
        let required_set: HashSet<&str> = required.iter().copied().collect();
        match resolved.schema.get("properties") {
            Some(Value::Object(properties)) => {
                let is_required = |key: &String| required_set.contains(key.as_str());
                form.fields = properties.iter().map(|(key, part)| shop.field(key, part, is_required(key))).collect();
            }
            None => {}
            Some(other) => {
                form.notes.push(format!("the form's properties are {}, not an object", words::type_of(other)));
            }
        }
        form.open =
            resolved.schema.get("additionalProperties").is_some_and(|value| *value == true || value.is_object())
                || resolved.schema.contains_key("patternProperties");
        let is_drawn: HashSet<&str> = form.fields.iter().map(|field| field.key.as_str()).collect();
        let others = required.into_iter().filter(|name| !is_drawn.contains(name));
        let undescribed: Vec<Field> = others.map(|name| shop.undescribed(name)).collect();
        form.fields.extend(undescribed);
        form.check_whole(&resolved, &shop);
        form
    }

    fn check_whole(&mut self, resolved: &Resolved<'_>, shop: &Shop<'_>) {
        let says_more = resolved.partial || ABOUT_ALL.iter().any(|key| resolved.schema.contains_key(key));
        if says_more {
            match Checker::within(shop.shared(), &shop.budget) {
                Ok(checker) => {
                    let unread =
                        checker.unread().iter().map(|what| format!("the form's schema cannot be read at {what}"));
                    self.notes.extend(unread);
                    self.checker = Some(Arc::new(checker));
                }
                Err(reason) => self.notes.push(format!("the form as a whole cannot be checked: {reason}")),
            }
        }
    }
}

/// The strings in `required`, each once.
fn required_names<'a>(schema: &'a Keywords<'_>) -> Vec<&'a str> {
    let named = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut seen = HashSet::new();
    named.filter(|name| seen.insert(*name)).collect()
}

/// The keywords that a property may have in addition to a reference.
const OWN_WORDS: [&str; 3] = ["title", "description", "default"];
/// How notes about a default begin.
const LEFT_OUT: &str = "the default is left out";

/// What fields with the same reference have in common.
struct Common {
    /// Without a default, and without the value that it is fixed to.
    field: Field,
    default: Option<Value>,
    fixed: Option<Value>,
}

/// Builds the fields of one document, within one budget. What several fields have in common is built only once.
struct Shop<'a> {
    root: &'a Value,
    /// The same document, as the checkers share it.
    shared: OnceCell<Arc<Value>>,
    budget: Budget,
    /// What was built from each property's schema, by its text without title, description and default.
    made: HashMap<String, Common>,
}

impl<'a> Shop<'a> {
    fn of(root: &'a Value) -> Self {
        Self { root, shared: OnceCell::new(), budget: Budget::of(root), made: HashMap::new() }
    }

    fn shared(&self) -> &Arc<Value> {
        self.shared.get_or_init(|| Arc::new(self.root.clone()))
    }

    /// A field for a name that is in `required` but not in `properties`.
    fn undescribed(&mut self, name: &str) -> Field {
        let mut field = self.field(name, &Value::Object(Map::new()), true);
        field.notes.push("required, but not described".to_owned());
        field
    }

    fn field(&mut self, key: &str, part: &Value, required: bool) -> Field {
        // Only a schema with references can be much larger than it looks.
        let Value::Object(map) = part else { return self.make(key, part, required) };
        if !refers(part) {
            return self.make(key, part, required);
        }
        let mut common = map.clone();
        let own = OWN_WORDS.map(|key| common.shift_remove(key));
        let common = Value::Object(common);
        let text = format!("{required} {common}");
        if !self.made.contains_key(&text) {
            let mut field = self.make(key, &common, required);
            let default = field.default.take();
            let fixed = match &mut field.kind {
                FieldKind::Const(value) => Some(std::mem::take(value)),
                _ => None,
            };
            self.made.insert(text.clone(), Common { field, default, fixed });
        }
        let made = &self.made[&text];
        // Without a type, the field's kind depends on its default.
        if own[2].is_some() && made.field.schema.get("type").is_none() {
            return self.make(key, part, required);
        }
        let mut field = Field { key: key.to_owned(), ..made.field.clone() };
        if let Some(value) = &made.fixed {
            field.kind = if self.budget.spend_on(value) { FieldKind::Const(value.clone()) } else { FieldKind::Json };
        }
        self.with_words(field, own, made.default.as_ref())
    }

    /// `field` with its own title, description and default.
    fn with_words(
        &self,
        mut field: Field,
        [title, description, own]: [Option<Value>; 3],
        default: Option<&Value>,
    ) -> Field {
        if let Some(title) = title {
            field.title = title.as_str().map(str::to_owned);
        }
        if let Some(description) = description {
            field.description = description.as_str().map(Arc::from);
        }
        match (own, default) {
            (Some(own), _) => {
                field.notes.retain(|note| !note.starts_with(LEFT_OUT));
                field.take_default(Some(&own), &self.budget);
            }
            (None, Some(default)) if self.budget.spend_on(default) => field.default = Some(default.clone()),
            (None, Some(_)) => field.notes.push(format!("{LEFT_OUT}: the form is too large")),
            (None, None) => {}
        }
        // Of two fields with the same schema, one may have a secret's name.
        field.secret = secret::is_secret(&field);
        field
    }

    fn make(&self, key: &str, part: &Value, required: bool) -> Field {
        let made = make(self.root, key, part, required, &self.budget);
        let mut field = made.field;
        if made.partial {
            match Checker::for_part(self.shared(), part, &self.budget) {
                Ok(checker) => {
                    let unread = checker.unread().iter().map(|what| format!("cannot be checked in full: {what}"));
                    field.notes.extend(unread);
                    field.checker = Some(Arc::new(checker));
                }
                Err(reason) => field.notes.push(format!("cannot be checked in full: {reason}")),
            }
        }
        field.take_default(made.default.as_ref(), &self.budget);
        field
    }
}

/// The field of the property `key`, whose schema is `part` of the document `root`: what it accepts by itself, without
/// the rules that only the whole schema has.
pub(crate) fn field(root: &Value, key: &str, part: &Value, required: bool) -> Field {
    make(root, key, part, required, &Budget::of_one()).field
}

/// A field before its checker and its default.
struct Made {
    field: Field,
    /// Whether it checks less than the schema requires.
    partial: bool,
    default: Option<Value>,
}

fn make(root: &Value, key: &str, part: &Value, required: bool, budget: &Budget) -> Made {
    let resolved = match part {
        Value::Object(map) => resolve_within(root, map, budget),
        _ => Resolved::default(),
    };
    let Drawn { kind, mut notes, mut partial } = draw::draw(root, part, &resolved, required, budget);
    // The schema is kept for what is inside it, unless that is too much.
    let mut kept = Map::new();
    for (key, value) in resolved.schema.iter().filter(|(key, _)| *key != "default") {
        if budget.spend_on(value) {
            kept.insert(key.to_owned(), value.clone());
        } else if !notes.iter().any(|note| note == TOO_LARGE) {
            notes.push(TOO_LARGE.to_owned());
            partial = true;
        }
    }
    let text = |key: &str| kept.get(key).and_then(Value::as_str);
    let mut field = Field {
        key: key.to_owned(),
        title: text("title").map(str::to_owned),
        description: text("description").map(Arc::from),
        // Some servers write it in the property, as an early draft did.
        required: required || resolved.schema.get("required") == Some(&Value::Bool(true)),
        default: None,
        nullable: resolved.nullable,
        secret: false,
        notes,
        kind,
        schema: Arc::new(if part.is_object() { Value::Object(kept) } else { part.clone() }),
        checker: None,
    };
    field.secret = secret::is_secret(&field);
    let default = resolved.schema.get("default").filter(|default| budget.spend_on(default)).cloned();
    Made { field, partial, default }
}

impl Field {
    /// Uses the schema's default if the field itself accepts it. A fixed value that is required is its own default.
    fn take_default(&mut self, told: Option<&Value>, budget: &Budget) {
        let default = match (&self.kind, told) {
            (FieldKind::Const(value), None) if self.required => value.clone(),
            (_, Some(default)) => default.clone(),
            (_, None) => return,
        };
        if default.is_null() && !self.required {
            return;
        }
        if self.is_unaffordable(&default) || !budget.spend(self.search_steps(&default)) {
            self.notes.push(format!("{LEFT_OUT}: checking it would take too long"));
            return;
        }
        match self.check(&default) {
            Ok(()) => self.default = Some(self.canonical(default)),
            Err(error) => self.notes.push(format!("{LEFT_OUT}: {}", error.reason)),
        }
    }
}
