use std::sync::Arc;

use serde_json::{Number, Value};

use super::{Choices, Format, Pattern, checker::Checker};

/// A form: what a `requestedSchema`, or a tool's `inputSchema`, asks a person.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// The fields, in the server's order.
    pub fields: Vec<Field>,
    /// What the form cannot do for the schema as a whole, in our words, with server text that is not yet safe for a
    /// terminal.
    pub notes: Vec<String>,
    /// Whether keys other than the fields are expected.
    pub(super) open: bool,
    /// Checks the whole content against the schema, if the fields do not cover all of it.
    pub(super) checker: Option<Arc<Checker>>,
}

/// One property of a form. [`Form::from_schema`] makes it.
#[derive(Clone, Debug)]
pub struct Field {
    /// The property's name: the key in the content. Not yet safe for a terminal, like all text here.
    pub key: String,
    /// `title`, if there is one.
    pub title: Option<String>,
    /// `description`, if there is one.
    pub description: Option<Arc<str>>,
    /// Whether it must be answered.
    pub required: bool,
    /// `default`, if there is one that the field itself accepts. `null` only if the field is required.
    pub default: Option<Value>,
    /// Whether `null` is a distinct value.
    pub nullable: bool,
    /// Whether it looks like a secret: `format: password`, `writeOnly`, or its name.
    pub secret: bool,
    /// What the form cannot do for this field, in our words: an unknown format, a pattern that cannot be checked, a
    /// default that breaks the field's own rules. May contain server text that is not yet safe for a terminal.
    pub notes: Vec<String>,
    /// What kind of value it takes.
    pub kind: FieldKind,
    /// The property's schema, with its own references resolved and `allOf` merged. References deeper inside are left as
    /// they were sent.
    pub schema: Arc<Value>,
    /// Checks values against the property's whole schema, if the kind does not cover all of it.
    pub(super) checker: Option<Arc<Checker>>,
}

/// The kind of value that a field takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Text.
    Text(TextField),
    /// A number or an integer.
    Number(NumberField),
    /// Yes or no.
    Boolean,
    /// One of several values.
    Choice(ChoiceField),
    /// Some of several values.
    List(ListField),
    /// One fixed value, with nothing to choose.
    Const(Value),
    /// Everything else: asked for as JSON text.
    Json,
}

/// The rules for text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextField {
    /// `minLength`, in characters (Unicode scalar values).
    pub min_length: Option<u64>,
    /// `maxLength`, in characters.
    pub max_length: Option<u64>,
    /// `pattern`.
    pub pattern: Option<Pattern>,
    /// `format`.
    pub format: Option<Format>,
}

/// The rules for a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberField {
    /// Whether only whole numbers are allowed.
    pub integer: bool,
    /// `minimum`.
    pub minimum: Option<Number>,
    /// `maximum`.
    pub maximum: Option<Number>,
    /// `exclusiveMinimum`; the boolean form of draft 4 is turned into this.
    pub exclusive_minimum: Option<Number>,
    /// `exclusiveMaximum`; the boolean form of draft 4 is turned into this.
    pub exclusive_maximum: Option<Number>,
    /// `multipleOf`.
    pub multiple_of: Option<Number>,
}

/// A single choice.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceField {
    /// The choices, in the server's order; never empty.
    pub choices: Choices,
}

/// A multiple choice.
#[derive(Clone, Debug, PartialEq)]
pub struct ListField {
    /// The choices, in the server's order; never empty.
    pub choices: Choices,
    /// `minItems`.
    pub min_items: Option<u64>,
    /// `maxItems`.
    pub max_items: Option<u64>,
    /// `uniqueItems`: whether a value may be in the list only once. A person can mark each choice only once anyway.
    pub unique: bool,
}

impl Form {
    /// The field with this key.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// The form with only those fields for which `keep` is true, to fill in a part of the content.
    #[must_use]
    pub fn part(mut self, keep: impl FnMut(&Field) -> bool) -> Self {
        self.fields.retain(keep);
        // Rules about the whole are checked when the whole content is there.
        self.checker = None;
        self
    }

    /// Whether there is nothing to fill in: a plain confirmation.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

impl Field {
    /// The field's label: its title, or else its key.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.key)
    }
}
