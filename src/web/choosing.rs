use maud::{Markup, html};
use serde_json::Value;

use super::{
    about::{line, text},
    captions::described,
    controls::FormDrawing,
    draft::{choices, has_null},
    node::{Control, ControlNode},
};
use crate::form::{Choice, Field, FieldKind};

/// The most choices that are all shown, and the number from which on there is a filter.
const FEW: usize = 6;
const MANY: usize = 15;

/// Controls in which something is chosen.
impl FormDrawing<'_> {
    pub(super) fn boolean(&self, node: &ControlNode) -> Markup {
        let field = &node.field;
        html! {
            div .row {
                (self.radio(node, "yes", 0, html! { "Yes" (mark(field, &true.into())) }))
                (self.radio(node, "no", 1, html! { "No" (mark(field, &false.into())) }))
                (self.others(node, 2, field))
            }
        }
    }

    pub(super) fn radios(&self, node: &ControlNode) -> Markup {
        let listed = choices(&node.field);
        html! {
            @for (at, choice) in listed.iter().enumerate() { (self.radio(node, &at.to_string(), at, option(&node.field, choice))) }
            (self.others(node, listed.len(), &node.field))
        }
    }

    /// The options besides the choices: null, or nothing.
    fn others(&self, node: &ControlNode, at: usize, field: &Field) -> Markup {
        html! {
            @if !field.required { (self.radio(node, "out", at, html! { "Leave it out" })) }
            @else if field.nullable && !has_null(field) { (self.radio(node, "null", at, html! { "Null, no value" })) }
        }
    }

    fn radio(&self, node: &ControlNode, value: &str, at: usize, label: Markup) -> Markup {
        // A link to the field leads to its first choice.
        let id = if at == 0 { node.id.clone() } else { format!("{}-{at}", node.id) };
        let is_marked = self.draft.one(&node.id) == value;
        html! {
            label .option { input type="radio" id=(id) name=(node.id) value=(value) checked[is_marked]; span { (label) } }
        }
    }

    pub(super) fn boxes(&self, node: &ControlNode) -> Markup {
        let listed = choices(&node.field);
        let marked = self.draft.all(&node.id);
        html! {
            @if listed.len() > MANY { (filter(node)) }
            div .long[listed.len() > MANY] data-list=[(listed.len() > MANY).then_some(&node.id)] {
                @for (at, choice) in listed.iter().enumerate() {
                    label .option {
                        input type="checkbox" id=(if at == 0 { node.id.clone() } else { format!("{}-{at}", node.id) })
                            name=(node.id) value=(at) checked[marked.contains(&at.to_string())];
                        span { (option(&node.field, choice)) }
                    }
                }
            }
        }
    }

    pub(super) fn select(&self, node: &ControlNode) -> Markup {
        let (id, field, chosen) = (&node.id, &node.field, self.draft.one(&node.id));
        let listed = choices(field);
        let wrong = self.wrong(node).is_some();
        html! {
            @if listed.len() > MANY { (filter(node)) }
            select id=(id) name=(id) data-list=[(listed.len() > MANY).then_some(id)] aria-describedby=[described(node, wrong)]
                aria-required=[field.required.then_some("true")] aria-invalid=[wrong.then_some("true")] {
                @if !field.required { option value="out" selected[chosen == "out"] { "Leave it out" } }
                @else { option value="" selected[chosen.is_empty()] { "Choose one" } }
                @for (at, choice) in listed.iter().enumerate() {
                    option value=(at) selected[chosen == at.to_string()] {
                        (line(&choice.label()))
                        @if let Some(about) = &choice.description { ": " (line(about)) }
                        @if field.default.as_ref() == Some(&choice.value) { " (default)" }
                    }
                }
                @if field.required && field.nullable && !has_null(field) {
                    option value="null" selected[chosen == "null"] { "Null, no value" }
                }
            }
        }
    }

    pub(super) fn is_select(node: &ControlNode) -> bool {
        matches!(node.control, Control::One) && choices(&node.field).len() > FEW
    }

    pub(super) fn fixed(&self, node: &ControlNode) -> Markup {
        let FieldKind::Const(value) = &node.field.kind else { return html! {} };
        let shown = line(&node.field.show(value));
        html! {
            @if node.field.required {
                p .fixed id=(node.id) dir="auto" { (shown) }
            } @else {
                (self.radio(node, "yes", 0, html! { (shown) }))
                (self.radio(node, "out", 1, html! { "Leave it out" }))
            }
        }
    }
}

fn option(field: &Field, choice: &Choice) -> Markup {
    html! {
        span dir="auto" { (line(&choice.label())) }
        (mark(field, &choice.value))
        @if let Some(about) = &choice.description { span .about dir="auto" { (text(about)) } }
    }
}

/// Marks `value` if it is the field's default, or one of them.
fn mark(field: &Field, value: &Value) -> Markup {
    let is_default = match &field.default {
        Some(Value::Array(values)) => values.contains(value),
        Some(default) => default == value,
        None => false,
    };
    html! { @if is_default { " " span .mark { "default" } } }
}

/// The filter of a long list; works only with a script.
fn filter(node: &ControlNode) -> Markup {
    html! {
        div .filter hidden {
            label for={ (node.id) "-filter" } { "Find" span .vh { " in " (node.label()) } }
            input id={ (node.id) "-filter" } type="search" data-filter=(node.id) autocomplete="off";
            span .found role="status" {}
        }
    }
}
