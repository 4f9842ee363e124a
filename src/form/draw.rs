use serde_json::{Number, Value};

use super::{
    Choice, ChoiceField, FieldKind, Format, ListField, NumberField, Pattern, TextField,
    budget::Budget,
    choices::{choices, item_choices, item_count},
    decimal::Decimal,
    keywords::Keywords,
    pattern,
    resolve::{Resolved, TOO_LARGE},
};

/// How a property is shown as a field.
pub(super) struct Drawn {
    pub(super) kind: FieldKind,
    pub(super) notes: Vec<String>,
    /// Whether the kind covers less than the schema.
    pub(super) partial: bool,
}

/// Decides how to show the property `part` of the document `root`.
pub(super) fn draw(root: &Value, part: &Value, resolved: &Resolved<'_>, required: bool, budget: &Budget) -> Drawn {
    let mut drawn = Drawn { kind: FieldKind::Json, notes: resolved.notes.clone(), partial: resolved.partial };
    if !part.is_object() {
        if part.is_boolean() {
            drawn.partial = true;
        } else {
            drawn.notes.push("its schema is not an object, so any JSON is accepted".to_owned());
        }
        return drawn;
    }
    let schema = &resolved.schema;
    drawn.kind = drawn.kind_of(root, schema, budget);
    if let FieldKind::Choice(field) = &mut drawn.kind {
        // Most servers mean by null that the field is left out; if it cannot be left out, null becomes a choice.
        if resolved.nullable && required && !field.choices.iter().any(|choice| choice.value.is_null()) {
            let null = Choice { value: Value::Null, title: None, description: None };
            field.choices = field.choices.iter().cloned().chain([null]).collect::<Vec<_>>().into();
        }
    }
    drawn
}

impl Drawn {
    fn kind_of(&mut self, root: &Value, schema: &Keywords<'_>, budget: &Budget) -> FieldKind {
        if let Some(value) = schema.get("const") {
            return FieldKind::Const(value.clone());
        }
        let members =
            ["enum", "oneOf", "anyOf"].iter().filter_map(|key| schema.get(key)?.as_array()).map(Vec::len).sum();
        if !self.affords(members, budget) {
            return FieldKind::Json;
        }
        if let Some(found) = choices(root, schema) {
            self.partial |= found.partial || ["not", "if", "$dynamicRef"].iter().any(|key| schema.contains_key(key));
            return FieldKind::Choice(ChoiceField { choices: found.choices.into() });
        }
        self.partial |= ["anyOf", "oneOf", "not", "if", "enum", "$dynamicRef", "$recursiveRef"]
            .iter()
            .any(|key| schema.contains_key(key));
        match self.type_of(root, schema) {
            Type::Text => FieldKind::Text(self.text(schema, budget)),
            Type::Number { integer } => FieldKind::Number(self.number(schema, integer)),
            Type::Boolean => FieldKind::Boolean,
            Type::Null => FieldKind::Const(Value::Null),
            Type::Array => self.list(root, schema, budget),
            Type::Other => {
                self.partial = true;
                FieldKind::Json
            }
        }
    }

    /// The type to show, declared or inferred.
    fn type_of(&mut self, root: &Value, schema: &Keywords<'_>) -> Type {
        let named = match schema.get("type") {
            None => return union_type(root, schema).unwrap_or_else(|| inferred_type(schema)),
            Some(Value::Array(names)) => {
                return common(names.iter().map(|name| name.as_str().and_then(Type::named).unwrap_or(Type::Other)));
            }
            Some(name) => name.as_str().and_then(Type::named),
        };
        named.unwrap_or_else(|| {
            let name = schema.get("type").unwrap_or(&Value::Null);
            self.notes.push(format!("{name} is not a type, so it is treated as text"));
            Type::Text
        })
    }

    fn text(&mut self, schema: &Keywords<'_>, budget: &Budget) -> TextField {
        let compiled = |source: &str| {
            let is_cheap = budget.spend(1 + pattern::size(source) / 4 + pattern::back_and_forth(source));
            if is_cheap { Pattern::new(source) } else { Pattern::unchecked(source) }
        };
        let pattern = schema.get("pattern").and_then(Value::as_str).map(compiled);
        if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.is_checked()) {
            self.notes.push(format!("the pattern {} cannot be checked here", super::words::cut(pattern.source(), 60)));
        }
        let format = schema.get("format").and_then(Value::as_str).map(Format::from_name);
        if let Some(Format::Other(name)) = &format
            && name != "password"
        {
            self.notes.push(format!("the format {name} is not checked here"));
        }
        TextField {
            min_length: self.count(schema, "minLength"),
            max_length: self.count(schema, "maxLength"),
            pattern,
            format,
        }
    }

    fn number(&mut self, schema: &Keywords<'_>, integer: bool) -> NumberField {
        let mut field = NumberField {
            integer,
            minimum: self.bound(schema, "minimum"),
            maximum: self.bound(schema, "maximum"),
            ..NumberField::default()
        };
        match schema.get("exclusiveMinimum") {
            Some(Value::Bool(true)) => field.exclusive_minimum = field.minimum.take(),
            Some(Value::Bool(false)) => {}
            _ => field.exclusive_minimum = self.bound(schema, "exclusiveMinimum"),
        }
        match schema.get("exclusiveMaximum") {
            Some(Value::Bool(true)) => field.exclusive_maximum = field.maximum.take(),
            Some(Value::Bool(false)) => {}
            _ => field.exclusive_maximum = self.bound(schema, "exclusiveMaximum"),
        }
        field.multiple_of = self.bound(schema, "multipleOf");
        if let Some(unit) = &field.multiple_of {
            let unit = Decimal::from_number(unit);
            if unit.is_multiple_of(&unit).is_none() {
                self.notes.push("multipleOf cannot be checked here".to_owned());
                field.multiple_of = None;
            }
        }
        field
    }

    /// Whether this many choices are within the budget; adds a note if not.
    fn affords(&mut self, choices: usize, budget: &Budget) -> bool {
        let affords = budget.spend(choices as u64);
        if !affords {
            self.partial = true;
            self.notes.push(TOO_LARGE.to_owned());
        }
        affords
    }

    fn list(&mut self, root: &Value, schema: &Keywords<'_>, budget: &Budget) -> FieldKind {
        if !self.affords(item_count(root, schema.get("items")), budget) {
            return FieldKind::Json;
        }
        let Some(found) = item_choices(root, schema.get("items")) else {
            self.partial = true;
            return FieldKind::Json;
        };
        self.partial |= found.partial || ["contains", "prefixItems"].iter().any(|key| schema.contains_key(key));
        FieldKind::List(ListField {
            choices: found.choices.into(),
            min_items: self.count(schema, "minItems"),
            max_items: self.count(schema, "maxItems"),
            unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
        })
    }

    /// A count, which may be written as `2.0`.
    fn count(&mut self, schema: &Keywords<'_>, key: &str) -> Option<u64> {
        let value = schema.get(key)?;
        let number = value.as_number().map(Decimal::from_number).filter(Decimal::is_integer);
        let count = number.and_then(|number| number.to_integer().as_u64());
        if count.is_none() {
            self.notes.push(format!("{key} is not a whole number, so it is not checked"));
        }
        count
    }

    fn bound(&mut self, schema: &Keywords<'_>, key: &str) -> Option<Number> {
        let value = schema.get(key)?;
        if !value.is_number() {
            self.notes.push(format!("{key} is not a number, so it is not checked"));
        }
        value.as_number().cloned()
    }
}

/// The types that can be shown without choices.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Text,
    Number {
        integer: bool,
    },
    Boolean,
    Null,
    Array,
    /// Everything else: objects, and several types at once.
    Other,
}

impl Type {
    /// The type with this name.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::Text,
            "number" => Self::Number { integer: false },
            "integer" => Self::Number { integer: true },
            "boolean" => Self::Boolean,
            "null" => Self::Null,
            "array" => Self::Array,
            "object" => Self::Other,
            _ => return None,
        })
    }
}

/// The one type of all `types`, where an integer is also a number.
fn common(types: impl Iterator<Item = Type>) -> Type {
    let both = |one, other| match (one, other) {
        (one, other) if one == other => one,
        (Type::Number { .. }, Type::Number { .. }) => Type::Number { integer: false },
        _ => Type::Other,
    };
    types.reduce(both).unwrap_or(Type::Other)
}

/// The type that all members of a union share. Lists may differ in their items.
fn union_type(root: &Value, schema: &Keywords<'_>) -> Option<Type> {
    let members = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let type_of = |member: &Value| {
        let resolved = super::resolve::resolve(root, member.as_object()?);
        resolved.schema.get("type")?.as_str().and_then(Type::named).filter(|kind| *kind != Type::Array)
    };
    Some(common(members.iter().map(|member| type_of(member).unwrap_or(Type::Other))))
}

/// The type that a schema without `type` suggests.
fn inferred_type(schema: &Keywords<'_>) -> Type {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(key));
    if has(&["properties", "additionalProperties", "patternProperties"]) {
        return Type::Other;
    }
    if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
        return Type::Array;
    }
    if has(&["minLength", "maxLength", "pattern", "format"]) {
        return Type::Text;
    }
    if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        return Type::Number { integer: false };
    }
    match schema.get("default") {
        Some(Value::Bool(_)) => Type::Boolean,
        Some(Value::Number(_)) => Type::Number { integer: false },
        Some(Value::Array(_)) => Type::Array,
        Some(Value::Object(_)) => Type::Other,
        _ => Type::Text,
    }
}
