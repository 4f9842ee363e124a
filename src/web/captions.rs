use maud::{Markup, html};
use serde_json::Value;

use super::{
    about::text,
    node::{Control, ControlNode},
};
use crate::form::range;

/// A field's name.
pub(super) fn name(node: &ControlNode) -> Markup {
    html! {
        span .name dir="auto" { (node.label()) }
        @if let Some(key) = node.key().filter(|key| !key.is_empty()) { " " span .key { (key) } }
    }
}

/// The rules in one line; `None` if there are none. A value that is asked for part by part is not called JSON.
pub(super) fn rules(node: &ControlNode) -> Option<String> {
    let field = &node.field;
    let whether = if field.required { "required" } else { "optional" };
    let bound = |key: &str| field.schema.get(key).and_then(Value::as_u64);
    match &node.control {
        // An entry of a list has no key, and does not need one.
        Control::Group(_) => (!field.key.is_empty()).then(|| whether.to_owned()),
        Control::Items(_) => {
            let range = range(bound("minItems"), bound("maxItems"), "entry", "entries");
            Some(range.map_or_else(|| whether.to_owned(), |range| format!("{whether}, {range}")))
        }
        _ => Some(field.rules()),
    }
}

/// What an empty input means, if that is not obvious.
pub(super) fn empty_words(node: &ControlNode) -> Option<&'static str> {
    let is_typed = !matches!(
        node.control,
        Control::Boolean | Control::One | Control::Fixed | Control::Group(_) | Control::Items(_)
    );
    if !is_typed {
        return None;
    }
    if matches!(node.control, Control::Many) {
        return (!node.field.required).then_some("choose nothing to leave it out");
    }
    match node.field.parse_empty() {
        Ok(None) => Some("empty leaves it out"),
        Ok(Some(Value::Null)) => Some("empty sends null"),
        Ok(Some(_)) => Some("empty sends an empty text"),
        Err(_) => None,
    }
}

/// The ids of a control's descriptions; `None` if there are none.
pub(super) fn described(node: &ControlNode, is_wrong: bool) -> Option<String> {
    let has_about = node.field.description.as_deref().is_some_and(|about| !text(about).is_empty());
    let parts = [(has_about, "about"), (rules(node).is_some(), "rules"), (is_wrong, "error")];
    let ids: Vec<String> =
        parts.iter().filter(|(is_there, _)| *is_there).map(|(_, part)| format!("{}-{part}", node.id)).collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}
