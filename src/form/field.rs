use serde_json::{Number, Value};

/// A form: what a `requestedSchema`, or a tool's `inputSchema`, asks a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The fields, in the server's order.
    pub fields: Vec<Field>,
}

/// One property of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The property's name: the key in the content. Not made safe for a terminal, like all text here.
    pub key: String,
    /// `title`, where there is one.
    pub title: Option<String>,
    /// `description`, where there is one.
    pub description: Option<String>,
    /// Whether it must be answered.
    pub required: bool,
    /// `default`, where there is one that the field itself accepts.
    pub default: Option<Value>,
    /// Whether `null` is a value of its own.
    pub nullable: bool,
    /// Whether it looks like a secret: `format: password`, `writeOnly`, or its names.
    pub secret: bool,
    /// What the form cannot do for this field, in our words: an unknown format, a pattern that cannot be checked, a
    /// default that breaks the field's own rules.
    pub notes: Vec<String>,
    /// What kind of value it takes.
    pub kind: FieldKind,
    /// The property's schema with local references resolved, to check values against.
    pub schema: Value,
}

/// What kind of value a field takes.
#[derive(Clone, Debug, PartialEq)]
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
    /// `pattern`, an ECMA-262 regular expression, as sent.
    pub pattern: Option<String>,
    /// `format`.
    pub format: Option<Format>,
}

/// A text's `format`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// An e-mail address.
    Email,
    /// An absolute URI.
    Uri,
    /// A day, `YYYY-MM-DD`.
    Date,
    /// An RFC 3339 time.
    DateTime,
    /// One that is noted and not checked.
    Other(String),
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
    /// `exclusiveMaximum`, likewise.
    pub exclusive_maximum: Option<Number>,
    /// `multipleOf`.
    pub multiple_of: Option<Number>,
}

/// A single choice.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceField {
    /// The choices, in the server's order.
    pub choices: Vec<Choice>,
}

/// A multiple choice.
#[derive(Clone, Debug, PartialEq)]
pub struct ListField {
    /// The choices, in the server's order.
    pub choices: Vec<Choice>,
    /// `minItems`.
    pub min_items: Option<u64>,
    /// `maxItems`.
    pub max_items: Option<u64>,
}

/// One choice: what is shown and what is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value that is sent: any scalar.
    pub value: Value,
    /// `title` or the entry of `enumNames`; `None` shows the value.
    pub title: Option<String>,
    /// `description` of the option.
    pub description: Option<String>,
}
