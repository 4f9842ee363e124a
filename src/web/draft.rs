use std::collections::BTreeMap;

use serde_json::Value;

use super::node::{Control, ControlNode};
use crate::{
    form::{Choice, Field, FieldKind},
    pages::Fields,
};

/// The most entries of a list.
pub(super) const MOST_ROWS: usize = 200;
/// The most entries that are shown at first.
const READY_ROWS: u64 = 10;

/// The inputs of a form, by name, not interpreted yet.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Draft(BTreeMap<String, Vec<String>>);

impl std::fmt::Debug for Draft {
    /// Only names: values may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

impl Draft {
    /// A form that nobody has touched: every field's default.
    pub(super) fn of(nodes: &[ControlNode]) -> Self {
        let mut draft = Self::default();
        for node in nodes {
            draft.lay(node, node.field.default.as_ref());
        }
        draft
    }

    /// What a browser sent. A secret that was typed before, and is not shown again, is kept unless it is typed again.
    pub(super) fn sent(&self, fields: &Fields, nodes: &[ControlNode]) -> Self {
        let mut draft = Self::default();
        for (name, value) in fields.iter().filter(|(name, _)| name.starts_with('f')) {
            // Browsers send every line end as two characters.
            draft.0.entry(name.to_owned()).or_default().push(value.replace("\r\n", "\n"));
        }
        draft.keep_secrets(self, nodes);
        draft
    }

    fn keep_secrets(&mut self, before: &Self, nodes: &[ControlNode]) {
        for node in nodes {
            match &node.control {
                Control::Secret if self.one(&node.id).is_empty() && self.one(&again(&node.id)).is_empty() => {
                    for name in [node.id.clone(), again(&node.id)] {
                        before.0.get(&name).and_then(|kept| self.0.insert(name, kept.clone()));
                    }
                }
                Control::Group(keys) => self.keep_secrets(before, keys),
                Control::Items(item) => {
                    let rows: Vec<ControlNode> = (0..self.rows(node)).map(|row| node.row(item, row)).collect();
                    self.keep_secrets(before, &rows);
                }
                _ => {}
            }
        }
    }

    /// Puts `value` into the inputs of `node`, or empties them.
    #[allow(clippy::match_same_arms, reason = "the order of the arms matters")]
    pub(super) fn lay(&mut self, node: &ControlNode, value: Option<&Value>) {
        let field = &node.field;
        self.forget(&node.id);
        match (&node.control, value) {
            (Control::Boolean, Some(Value::Bool(yes))) => self.set(&node.id, if *yes { "yes" } else { "no" }),
            (Control::Boolean | Control::One, Some(Value::Null)) if !has_null(field) => self.set(&node.id, "null"),
            (Control::Boolean | Control::One | Control::Fixed, None) if !field.required => self.set(&node.id, "out"),
            (Control::Fixed, Some(_)) => self.set(&node.id, "yes"),
            (Control::One, Some(value)) => {
                if let Some(at) = place(choices(field), value) {
                    self.set(&node.id, at.to_string());
                }
            }
            (Control::Many, Some(Value::Array(values))) => {
                let places = values.iter().filter_map(|value| place(choices(field), value));
                self.0.insert(node.id.clone(), places.map(|at| at.to_string()).collect());
            }
            (Control::Group(keys), value) => {
                if value.is_some() {
                    self.set(&on(&node.id), "on");
                }
                for key in keys {
                    let inner = value.and_then(|value| value.get(&key.field.key));
                    self.lay(key, inner.or(key.field.default.as_ref().filter(|_| value.is_none())));
                }
            }
            (Control::Items(item), value) => {
                let values = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let least = field.schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).clamp(1, READY_ROWS);
                let rows = values.len().clamp(usize::try_from(least).unwrap_or(1), MOST_ROWS);
                self.set(&count(&node.id), rows.to_string());
                for row in 0..rows {
                    let inner = node.row(item, row);
                    self.lay(&inner, values.get(row).or(inner.field.default.as_ref()));
                }
            }
            (Control::Moment, Some(Value::String(text))) => match split_moment(text) {
                Some((clock, offset)) => {
                    self.set(&node.id, clock);
                    self.set(&zone(&node.id), offset);
                }
                None => self.set(&node.id, text.clone()),
            },
            (Control::Boolean | Control::One | Control::Many | Control::Fixed, _) => {}
            (_, Some(value)) => {
                self.set(&node.id, field.edit(value));
                if matches!(node.control, Control::Secret) {
                    self.set(&again(&node.id), field.edit(value));
                }
            }
            (_, None) => {}
        }
    }

    /// Adds an entry to a list.
    pub(super) fn add_row(&mut self, node: &ControlNode, item: &Field) {
        let rows = self.rows(node);
        if rows < MOST_ROWS {
            self.set(&count(&node.id), (rows + 1).to_string());
            let inner = node.row(item, rows);
            self.lay(&inner, inner.field.default.as_ref());
        }
    }

    /// Removes an entry from a list.
    pub(super) fn remove_row(&mut self, node: &ControlNode, row: usize) {
        let rows = self.rows(node);
        if row >= rows {
            return;
        }
        let begin = format!("{}.", node.id);
        let mut moved = BTreeMap::new();
        for (name, values) in std::mem::take(&mut self.0) {
            let place = name.strip_prefix(&begin).and_then(|rest| {
                let (number, rest) = rest.split_at(rest.find(['.', '-']).unwrap_or(rest.len()));
                Some((number.parse::<usize>().ok()?, rest.to_owned()))
            });
            match place {
                Some((number, _)) if number == row => {}
                Some((number, rest)) if number > row => {
                    drop(moved.insert(format!("{begin}{}{rest}", number - 1), values));
                }
                _ => drop(moved.insert(name, values)),
            }
        }
        self.0 = moved;
        self.set(&count(&node.id), (rows - 1).to_string());
    }

    /// The text of an input; empty if there is none.
    pub(super) fn one(&self, name: &str) -> &str {
        self.all(name).first().map_or("", String::as_str)
    }

    /// All values of an input that may have several.
    pub(super) fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a box is checked.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// How many entries a list has.
    pub(super) fn rows(&self, node: &ControlNode) -> usize {
        self.one(&count(&node.id)).parse().unwrap_or(0).min(MOST_ROWS)
    }

    /// Whether an input and its parts are empty, except for what is always there.
    pub(super) fn is_blank(&self, node: &ControlNode) -> bool {
        match &node.control {
            Control::Group(keys) => keys.iter().all(|key| self.is_blank(key)),
            Control::Items(item) => (0..self.rows(node)).all(|row| self.is_blank(&node.row(item, row))),
            _ => self.all(&node.id).iter().all(|value| value.is_empty() || value == "out"),
        }
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), vec![value.into()]);
    }

    /// Empties an input and all its parts.
    fn forget(&mut self, id: &str) {
        let parts = [format!("{id}."), format!("{id}-")];
        self.0.retain(|name, _| name != id && !parts.iter().any(|part| name.starts_with(part)));
    }
}

/// The names of what belongs to the input `id`: a repeated secret, an offset, whether an object is present, the number
/// of entries.
pub(super) fn again(id: &str) -> String {
    format!("{id}-again")
}

pub(super) fn zone(id: &str) -> String {
    format!("{id}-zone")
}

pub(super) fn on(id: &str) -> String {
    format!("{id}-on")
}

pub(super) fn count(id: &str) -> String {
    format!("{id}-count")
}

/// The choices of a field.
pub(super) fn choices(field: &Field) -> &[Choice] {
    match &field.kind {
        FieldKind::Choice(field) => &field.choices,
        FieldKind::List(field) => &field.choices,
        _ => &[],
    }
}

/// Whether null is one of the choices.
pub(super) fn has_null(field: &Field) -> bool {
    choices(field).iter().any(|choice| choice.value.is_null())
}

fn place(choices: &[Choice], value: &Value) -> Option<usize> {
    choices.iter().position(|choice| choice.value == *value)
}

/// A date and time in the browser's format, and its offset; `None` if the browser could not show it completely.
fn split_moment(text: &str) -> Option<(&str, &str)> {
    let at = text.get(19..)?.find(['Z', 'z', '+', '-'])? + 19;
    let (clock, offset) = text.split_at(at);
    is_clock(clock).then_some((clock, offset))
}

/// Whether a browser can show `text` as a date and time.
pub(super) fn is_clock(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    ["", ".0", ".00", ".000"].iter().any(|fraction| shape == format!("0000-00-00T00:00:00{fraction}"))
        || shape == "0000-00-00T00:00"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::form::Form;

    fn nodes() -> Vec<ControlNode> {
        ControlNode::all(&Form::from_schema(&json!({"properties": {
            "when": {"type": "string", "format": "date-time", "default": "2026-01-31T09:30:00+01:00"},
            "pets": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}},
                     "default": [{"name": "Rex"}, {"name": "Tom"}, {"name": "Kit"}]},
            "password": {"type": "string"},
        }})))
    }

    #[test]
    fn defaults_stand_in_the_inputs() {
        let draft = Draft::of(&nodes());
        assert_eq!((draft.one("f0"), draft.one("f0-zone")), ("2026-01-31T09:30:00", "+01:00"));
        assert_eq!((draft.one("f1-count"), draft.one("f1.2.0")), ("3", "Kit"));
        for text in ["2026-01-31T09:30:00.12345Z", "2026-01-31t09:30:00Z", "now"] {
            assert_eq!(split_moment(text), None, "{text}");
        }
    }

    #[test]
    fn an_entry_that_is_taken_out_moves_up_the_rest() {
        let nodes = nodes();
        let mut draft = Draft::of(&nodes);
        draft.remove_row(&nodes[1], 1);
        assert_eq!((draft.one("f1-count"), draft.one("f1.0.0"), draft.one("f1.1.0")), ("2", "Rex", "Kit"));
        assert_eq!(draft.one("f1.2.0"), "");
        let Control::Items(item) = &nodes[1].control else { panic!("a list") };
        draft.add_row(&nodes[1], item);
        assert!(draft.is_blank(&nodes[1].row(item, 2)) && !draft.is_blank(&nodes[1]));
    }

    #[test]
    fn a_secret_stays_until_it_is_typed_anew() {
        let nodes = nodes();
        let sent = |draft: &Draft, text: &str| draft.sent(&Fields::parse(text.as_bytes()), &nodes);
        let first = sent(&Draft::default(), "f2=hush&f2-again=hush&_token=x");
        let second = sent(&first, "f2=&f2-again=&f0=a%0D%0Ab");
        assert_eq!((second.one("f2"), second.one("f0"), second.one("_token")), ("hush", "a\nb", ""));
        assert_eq!(sent(&first, "f2=new&f2-again=").one("f2-again"), "");
        assert_eq!(format!("{first:?}"), r#"["f2", "f2-again"]"#);
    }
}
