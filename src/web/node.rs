use serde_json::Value;

use super::about::line;
use crate::form::{Field, FieldKind, Form, Format};

/// How deeply objects and lists are asked for part by part.
const DEPTH: usize = 4;
/// The most keys for which an object is asked for key by key.
const KEYS: usize = 40;
/// From this many characters on, a text gets several lines.
const LONG: u64 = 120;
/// Words in keys that suggest text with several lines.
const LONG_TEXTS: [&str; 10] =
    ["description", "message", "comment", "comments", "notes", "note", "body", "text", "details", "feedback"];

/// A field and its control.
#[derive(Clone, Debug)]
pub(super) struct ControlNode {
    /// The name of its input: `f3`, and `f3.0` for a part of it. Names never come from a server.
    pub(super) id: String,
    pub(super) field: Field,
    pub(super) control: Control,
}

/// The control for a field.
#[derive(Clone, Debug)]
pub(super) enum Control {
    /// Text on one line.
    Line,
    /// Text on several lines.
    Lines,
    /// Hidden text, entered twice.
    Secret,
    Number,
    Date,
    /// A date and time, and its offset.
    Moment,
    /// Yes, no, and other options.
    Boolean,
    /// One of several.
    One,
    /// Some of several.
    Many,
    /// A fixed value.
    Fixed,
    /// An object, key by key.
    Group(Vec<ControlNode>),
    /// A list, entry by entry.
    Items(Box<Field>),
    /// JSON text.
    Json,
}

impl ControlNode {
    /// The nodes of all fields of `form`.
    pub(super) fn all(form: &Form) -> Vec<Self> {
        form.fields.iter().enumerate().map(|(at, field)| Self::new(format!("f{at}"), field.clone(), DEPTH)).collect()
    }

    fn new(id: String, field: Field, depth: usize) -> Self {
        let control = control(&id, &field, depth);
        Self { id, field, control }
    }

    /// The entry `row` of a list of such entries.
    pub(super) fn row(&self, item: &Field, row: usize) -> Self {
        // Its parts were checked with the list, so the depth is already limited.
        let mut field = item.clone();
        field.title = Some(format!("{} {}", self.field.label(), row + 1));
        Self::new(format!("{}.{row}", self.id), field, DEPTH - 1)
    }

    /// What the field is called.
    pub(super) fn label(&self) -> String {
        line(self.field.label())
    }

    /// The field's key, unless the label says the same.
    pub(super) fn key(&self) -> Option<String> {
        let letters =
            |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
        let key = line(&self.field.key);
        (letters(&key) != letters(self.field.label())).then_some(key)
    }
}

#[allow(clippy::match_same_arms, reason = "the order of the arms matters")]
fn control(id: &str, field: &Field, depth: usize) -> Control {
    match &field.kind {
        FieldKind::Text(_) | FieldKind::Number(_) | FieldKind::Json if field.secret => Control::Secret,
        FieldKind::Text(rules) => match &rules.format {
            Some(Format::Date) => Control::Date,
            Some(Format::DateTime) => Control::Moment,
            Some(Format::Email | Format::Uri) => Control::Line,
            Some(Format::Other(_)) | None if is_long(field, rules.max_length) => Control::Lines,
            Some(Format::Other(_)) | None => Control::Line,
        },
        FieldKind::Number(_) => Control::Number,
        FieldKind::Boolean => Control::Boolean,
        FieldKind::Choice(_) => Control::One,
        FieldKind::List(_) => Control::Many,
        FieldKind::Const(_) => Control::Fixed,
        FieldKind::Json if field.nullable || depth == 0 => Control::Json,
        FieldKind::Json => {
            let group = || keys(id, field, depth).map(Control::Group);
            group().or_else(|| item(field, depth).map(|item| Control::Items(Box::new(item)))).unwrap_or(Control::Json)
        }
    }
}

/// Whether a text probably has several lines.
fn is_long(field: &Field, most: Option<u64>) -> bool {
    let has_lines = field.default.as_ref().and_then(Value::as_str).is_some_and(|text| text.contains(['\n', '\r']));
    let name = field.key.rsplit(['_', '-', '.']).next().unwrap_or_default().to_lowercase();
    has_lines
        || match most {
            Some(most) => most > LONG,
            None => LONG_TEXTS.contains(&name.as_str()),
        }
}

/// The keys of an object that is simple enough to be asked for key by key.
fn keys(id: &str, field: &Field, depth: usize) -> Option<Vec<ControlNode>> {
    let schema = &field.schema;
    let is_object = schema.get("type").is_none_or(|name| name == "object");
    schema.get("properties").and_then(Value::as_object).filter(|keys| is_object && !keys.is_empty())?;
    let form = Form::from_schema(schema);
    if !form.notes.is_empty() || form.fields.len() > KEYS || form.fields.iter().any(|key| !key.notes.is_empty()) {
        return None;
    }
    let node = |(at, key): (usize, &Field)| ControlNode::new(format!("{id}.{at}"), key.clone(), depth - 1);
    let nodes: Vec<ControlNode> = form.fields.iter().enumerate().map(node).collect();
    nodes.iter().all(|node| !matches!(node.control, Control::Json)).then_some(nodes)
}

/// An entry of a list that is simple enough to be asked for entry by entry.
fn item(field: &Field, depth: usize) -> Option<Field> {
    let schema = &field.schema;
    if schema.get("type").is_none_or(|name| name != "array") || schema.get("prefixItems").is_some() {
        return None;
    }
    let items = schema.get("items").filter(|items| items.as_object().is_some_and(|items| !items.is_empty()))?;
    let item = crate::form::field(schema, "", items, true);
    let is_plain = item.notes.is_empty() && !matches!(control("", &item, depth - 1), Control::Json | Control::Fixed);
    is_plain.then_some(item)
}
