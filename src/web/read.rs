use serde_json::{Map, Value};

use super::{
    draft::{Draft, again, choices, on, zone},
    node::{Control, ControlNode},
};
use crate::{
    form::{Field, FieldError, FieldKind},
    terminal::complete,
};

/// The state of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EnteredField {
    /// Left out.
    Out,
    /// A value that the field accepts.
    Given(Value),
    /// A value that it does not accept; the reason is listed separately.
    Wrong,
}

/// Why a value is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The input; `None` for the form as a whole.
    pub(super) id: Option<String>,
    /// Its label.
    pub(super) label: String,
    /// The broken rule. Not made safe.
    pub(super) reason: String,
}

/// Reads the inputs of `node`; errors go to `wrongs`.
pub(super) fn read(node: &ControlNode, draft: &Draft, wrongs: &mut Vec<Wrong>) -> EnteredField {
    let before = wrongs.len();
    let read = match &node.control {
        Control::Group(keys) => read_group(node, keys, draft, wrongs),
        Control::Items(item) => read_items(node, item, draft, wrongs),
        Control::Secret if draft.one(&node.id) != draft.one(&again(&node.id)) => {
            Err(wrong(&node.field, "the two do not match; enter it again"))
        }
        Control::Moment => read_moment(node, draft),
        Control::Boolean | Control::One | Control::Many | Control::Fixed => read_choice(node, draft),
        Control::Line | Control::Lines | Control::Secret | Control::Number | Control::Date | Control::Json => {
            read_text(&node.field, draft.one(&node.id))
        }
    };
    match read {
        Ok(_) if wrongs.len() > before => EnteredField::Wrong,
        Ok(None) => EnteredField::Out,
        Ok(Some(value)) => EnteredField::Given(value),
        Err(error) => {
            wrongs.push(Wrong { id: Some(node.id.clone()), label: node.label(), reason: error.reason });
            EnteredField::Wrong
        }
    }
}

type Read = Result<Option<Value>, FieldError>;

fn wrong(field: &Field, reason: &str) -> FieldError {
    FieldError::new(&field.key, reason)
}

fn read_text(field: &Field, text: &str) -> Read {
    if text.is_empty() { field.parse_empty() } else { field.parse(text).map(Some) }
}

fn read_moment(node: &ControlNode, draft: &Draft) -> Read {
    let clock = draft.one(&node.id);
    if clock.is_empty() {
        return node.field.parse_empty();
    }
    let text = format!("{clock}{}", draft.one(&zone(&node.id)).trim());
    node.field.parse(&complete(&node.field, &text).unwrap_or(text)).map(Some)
}

fn read_choice(node: &ControlNode, draft: &Draft) -> Read {
    let field = &node.field;
    let given = |value: Value| field.check(&value).map(|()| Some(value));
    let listed = |text: &String| {
        let at: Option<usize> = text.parse().ok();
        at.and_then(|at| choices(field).get(at)).map(|choice| choice.value.clone())
    };
    if matches!(node.control, Control::Many) {
        let values: Vec<Value> = draft.all(&node.id).iter().filter_map(listed).collect();
        return if values.is_empty() && !field.required { Ok(None) } else { given(values.into()) };
    }
    match (&field.kind, draft.one(&node.id)) {
        (FieldKind::Const(value), _) if field.required => given(value.clone()),
        (FieldKind::Const(value), "yes") => given(value.clone()),
        (FieldKind::Boolean, "yes") => given(true.into()),
        (FieldKind::Boolean, "no") => given(false.into()),
        (_, "null") if field.nullable && field.required => given(Value::Null),
        (_, "" | "out") if !field.required => Ok(None),
        (FieldKind::Boolean, _) => Err(wrong(field, "choose yes or no")),
        (_, text) => match listed(&text.to_owned()) {
            Some(value) => given(value),
            None => Err(wrong(field, "choose one")),
        },
    }
}

fn read_group(node: &ControlNode, keys: &[ControlNode], draft: &Draft, wrongs: &mut Vec<Wrong>) -> Read {
    if !node.field.required && !draft.is_on(&on(&node.id)) {
        return Ok(None);
    }
    let mut content = Map::new();
    let before = wrongs.len();
    for key in keys {
        if let EnteredField::Given(value) = read(key, draft, wrongs) {
            content.insert(key.field.key.clone(), value);
        }
    }
    let value = Value::Object(content);
    if wrongs.len() == before {
        node.field.check(&value)?;
    }
    Ok(Some(value))
}

fn read_items(node: &ControlNode, item: &Field, draft: &Draft, wrongs: &mut Vec<Wrong>) -> Read {
    let before = wrongs.len();
    let mut values = Vec::new();
    for row in 0..draft.rows(node) {
        let inner = node.row(item, row);
        if draft.is_blank(&inner) {
            continue;
        }
        let from = wrongs.len();
        if let EnteredField::Given(value) = read(&inner, draft, wrongs) {
            values.push(value);
        }
        for wrong in wrongs[from..].iter_mut().filter(|wrong| wrong.id.as_ref() != Some(&inner.id)) {
            wrong.label = format!("{}, {}", inner.label(), wrong.label);
        }
    }
    if values.is_empty() && wrongs.len() == before {
        let is_welcome = node.field.schema.get("minItems").and_then(Value::as_u64) == Some(0);
        return match node.field.required {
            false => Ok(None),
            true if is_welcome => Ok(Some(values.into())),
            true => Err(wrong(&node.field, "an answer is required")),
        };
    }
    let value = Value::Array(values);
    if wrongs.len() == before {
        node.field.check(&value)?;
    }
    Ok(Some(value))
}
