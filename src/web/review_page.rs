use maud::{Markup, html};
use serde_json::Value;

use super::{
    about::text,
    captions::name,
    filling::{Filling, FormReading},
    form_page::ways_out,
    node::{Control, ControlNode},
    read::EnteredField,
    sheet::Sheet,
};
use crate::{form::FieldKind, pages::Visit};

/// Everything that will be sent, before it is sent.
pub(super) fn review_page(
    sheet: &Sheet,
    filling: &Filling,
    reading: &FormReading,
    facts: Markup,
    waiting: usize,
    visit: &Visit,
) -> Markup {
    let server = sheet.about.server.as_str();
    html! {
        (sheet.about.words())
        (facts)
        @if filling.is_stale {
            p .warning role="alert" { "It was changed in another tab or window after you looked at it. Please look again." }
        }
        h2 { "What " (server) " will receive" }
        dl .review {
            @for (node, slot) in filling.nodes.iter().zip(&reading.slots) {
                div .out[*slot == EnteredField::Out] {
                    dt { (name(node)) }
                    dd {
                        @match slot {
                            EnteredField::Given(value) => (shown(node, value)),
                            EnteredField::Out | EnteredField::Wrong => span .none { "left out" },
                        }
                        a href={ (sheet.number) "#" (node.id) } { "Change" span .vh { " " (node.label()) } }
                    }
                }
            }
        }
        form method="post" action={ (sheet.number) "-review" } {
            (visit.token())
            input type="hidden" name="revision" value=(filling.revision);
            div .acts {
                button .agrees name="do" value="send" { "Send" }
                p .about { "Send it to " (server) ", as shown here." }
            }
            (ways_out(&sheet.about, waiting))
        }
    }
}

/// A value for a person, part by part if it was entered that way.
fn shown(node: &ControlNode, value: &Value) -> Markup {
    match (&node.control, value) {
        (Control::Group(keys), Value::Object(content)) => html! {
            dl .inner {
                @for key in keys {
                    dt { (name(key)) }
                    dd {
                        @match content.get(&key.field.key) {
                            Some(value) => (shown(key, value)),
                            None => span .none { "left out" },
                        }
                    }
                }
            }
        },
        (Control::Items(item), Value::Array(values)) if !values.is_empty() => html! {
            ol { @for (row, value) in values.iter().enumerate() { li { (shown(&node.row(item, row), value)) } } }
        },
        (Control::Json, value) if matches!(node.field.kind, FieldKind::Json) && !value.is_string() => {
            let json = serde_json::to_string_pretty(value).unwrap_or_default();
            html! { pre dir="auto" { (text(&json)) } }
        }
        (_, value) => {
            let words = node.field.show(value);
            html! {
                @if words.is_empty() { span .none { "an empty text" } }
                @else if words.trim().is_empty() { span .none { "only spaces: " (Value::from(words).to_string()) } }
                @else { span .value dir="auto" { (text(&words)) } }
            }
        }
    }
}
