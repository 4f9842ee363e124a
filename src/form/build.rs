use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{
    Field, FieldKind, Form,
    budget::Budget,
    checker::Checker,
    draw::{self, Drawn},
    resolve::{Resolved, resolve_within},
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
    /// The form that `schema` asks for. Never fails: what cannot be drawn becomes a field that takes JSON, what makes no
    /// sense becomes a note (2025-11-25, *client/elicitation*, Requested Schema).
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
        form.check_whole(schema, &resolved, &shop.budget);
        form
    }

    fn check_whole(&mut self, schema: &Value, resolved: &Resolved, budget: &Budget) {
        let says_more = resolved.partial || ABOUT_ALL.iter().any(|key| resolved.schema.contains_key(*key));
        if says_more {
            match Checker::within(schema, budget) {
                Ok(checker) => self.checker = Some(Arc::new(checker)),
                Err(reason) => self.notes.push(format!("the form as a whole cannot be checked: {reason}")),
            }
        }
    }
}

/// The names in `required` that are names, each once.
fn required_names(schema: &Map<String, Value>) -> Vec<&str> {
    let named = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut seen = HashSet::new();
    named.filter(|name| seen.insert(*name)).collect()
}

/// Where the fields of one document are made: within one budget, and what several have in common only once.
struct Shop<'a> {
    root: &'a Value,
    budget: Budget,
    /// What was made of each property's schema, by its text.
    made: HashMap<String, Field>,
}

impl<'a> Shop<'a> {
    fn of(root: &'a Value) -> Self {
        Self { root, budget: Budget::of(root), made: HashMap::new() }
    }

    /// A field for a name that `required` has and `properties` has not.
    fn undescribed(&mut self, name: &str) -> Field {
        let mut field = self.field(name, &Value::Object(Map::new()), true);
        field.notes.push("required, but not described".to_owned());
        field
    }

    fn field(&mut self, key: &str, part: &Value, required: bool) -> Field {
        // Only what refers to something else can be much larger than it looks.
        if part.get("$ref").is_none() {
            return make(self.root, key, part, required, &self.budget);
        }
        let text = format!("{required} {part}");
        if let Some(field) = self.made.get(&text) {
            // Two of a kind may still be a secret by their names.
            let mut field = Field { key: key.to_owned(), secret: false, ..field.clone() };
            field.secret = secret::is_secret(&field);
            return field;
        }
        let field = make(self.root, key, part, required, &self.budget);
        self.made.insert(text, field.clone());
        field
    }
}

/// The field of the property `key`, whose schema is `part` of the document `root`.
pub(crate) fn field(root: &Value, key: &str, part: &Value, required: bool) -> Field {
    make(root, key, part, required, &Budget::of(root))
}

fn make(root: &Value, key: &str, part: &Value, required: bool, budget: &Budget) -> Field {
    let resolved = match part {
        Value::Object(map) => resolve_within(root, map, budget),
        _ => Resolved::default(),
    };
    let Drawn { kind, mut notes, partial } = draw::draw(root, part, &resolved, required);
    let text = |key: &str| resolved.schema.get(key).and_then(Value::as_str).map(str::to_owned);
    let checker = partial.then(|| Checker::for_part(root, part, budget)).and_then(|checker| match checker {
        Ok(checker) => Some(Arc::new(checker)),
        Err(reason) => {
            notes.push(format!("cannot be checked in full: {reason}"));
            None
        }
    });
    let mut field = Field {
        key: key.to_owned(),
        title: text("title"),
        description: text("description"),
        // Some servers write it beside the property, as an early draft had it.
        required: required || resolved.schema.get("required") == Some(&Value::Bool(true)),
        default: None,
        nullable: resolved.nullable,
        secret: false,
        notes,
        kind,
        schema: Arc::new(if part.is_object() { Value::Object(resolved.schema) } else { part.clone() }),
        checker,
    };
    field.secret = secret::is_secret(&field);
    field.take_default();
    field
}

impl Field {
    /// Takes the schema's default where the field itself accepts it. A fixed value that is required is its own default.
    fn take_default(&mut self) {
        let default = match (&self.kind, self.schema.get("default")) {
            (FieldKind::Const(value), None) if self.required => value.clone(),
            (_, Some(default)) => default.clone(),
            (_, None) => return,
        };
        if default.is_null() && !self.required {
            return;
        }
        if self.is_unaffordable(&default) {
            self.notes.push("the default is left out: checking it would take too long".to_owned());
            return;
        }
        match self.check(&default) {
            Ok(()) => self.default = Some(self.canonical(default)),
            Err(error) => self.notes.push(format!("the default is left out: {}", error.reason)),
        }
    }
}
