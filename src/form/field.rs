use std::sync::Arc;

use serde_json::{Number, Value};

use super::{Choices, Format, Pattern, checker::Checker};

/// A form: what a `requestedSchema`, or a tool's `inputSchema`, asks a person.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// The fields, in the server's order.
    pub fields: Vec<Field>,
    /// What the form cannot do for the schema as a whole, in our words, with server text in it that is not made safe.
    pub notes: Vec<String>,
    /// Whether keys beside the fields are expected.
    pub(super) open: bool,
    /// Holds the whole content against the schema, where the fields alone do not say everything.
    pub(super) checker: Option<Arc<Checker>>,
}

/// One property of a form. [`Form::from_schema`] makes it.
#[derive(Clone, Debug)]
pub struct Field {
    /// The property's name: the key in the content. Not made safe for a terminal, like all text here.
    pub key: String,
    /// `title`, where there is one.
    pub title: Option<String>,
    /// `description`, where there is one.
    pub description: Option<Arc<str>>,
    /// Whether it must be answered.
    pub required: bool,
    /// `default`, where there is one that the field itself accepts. `null` only where the field is required.
    pub default: Option<Value>,
    /// Whether `null` is a value of its own.
    pub nullable: bool,
    /// Whether it looks like a secret: `format: password`, `writeOnly`, or its names.
    pub secret: bool,
    /// What the form cannot do for this field, in our words: an unknown format, a pattern that cannot be checked, a
    /// default that breaks the field's own rules. With server text in it that is not made safe.
    pub notes: Vec<String>,
    /// What kind of value it takes.
    pub kind: FieldKind,
    /// The property's schema, its own references followed and `allOf` folded in. References deeper inside are as sent.
    pub schema: Arc<Value>,
    /// Holds values against the property's whole schema, where the kind does not say everything.
    pub(super) checker: Option<Arc<Checker>>,
}

/// What kind of value a field takes.
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
    /// One fixed value; nothing to choose.
    Const(Value),
    /// What cannot be drawn: asked for as JSON text.
    Json,
}

/// The rules of a text.
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

/// The rules of a number.
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
    /// `uniqueItems`: whether a value may stand in the list only once. A person marks each choice at most once anyway.
    pub unique: bool,
}

impl Form {
    /// The field of this key.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// The form of those fields for which `keep` holds, to fill in a part of the content.
    #[must_use]
    pub fn part(mut self, keep: impl FnMut(&Field) -> bool) -> Self {
        self.fields.retain(keep);
        // What concerns the whole is seen when the whole is there.
        self.checker = None;
        self
    }

    /// Whether there is nothing to fill in: a plain confirmation.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

impl Field {
    /// What the field is called: its title, else its key.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.key)
    }
}
