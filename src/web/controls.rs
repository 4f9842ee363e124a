use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value;

use super::{
    about::{line, text},
    draft::{Draft, MOST_ROWS, again, choices, count, has_null, is_clock, on, zone},
    node::{Control, Node},
};
use crate::form::{Choice, Field, FieldKind, Format, NumberField};

/// Up to how many choices all are shown at once, and from how many on a filter stands above them.
const FEW: usize = 6;
const MANY: usize = 15;

/// What is drawn: what was typed, and what is wrong with it.
pub(super) struct Drawing<'a> {
    pub(super) draft: &'a Draft,
    /// Why inputs are not taken, by their ids.
    pub(super) wrongs: HashMap<&'a str, &'a str>,
    /// The server, made safe.
    pub(super) server: &'a str,
}

impl Drawing<'_> {
    /// A field with all that belongs to it.
    pub(super) fn field(&self, node: &Node) -> Markup {
        let is_group =
            !matches!(node.control, Control::Line | Control::Lines | Control::Number | Control::Date | Control::Json)
                && !self.is_select(node);
        let wrong = self.wrong(node);
        html! {
            div .field .wrong[wrong.is_some()] id={ (node.id) "-field" } {
                @if is_group {
                    fieldset aria-describedby=(described(node, wrong.is_some())) {
                        legend { (name(node)) }
                        (self.around(node, wrong))
                    }
                } @else {
                    label for=(node.id) { (name(node)) }
                    (self.around(node, wrong))
                }
            }
        }
    }

    /// What stands around the control, and the control.
    fn around(&self, node: &Node, wrong: Option<&str>) -> Markup {
        let field = &node.field;
        let about = field.description.as_deref().map(text).filter(|about| !about.is_empty());
        html! {
            @if let Some(about) = about { p .about id={ (node.id) "-about" } dir="auto" { (about) } }
            p .rules id={ (node.id) "-rules" } { (line(&field.rules())) @if let Some(words) = empty_words(node) { span .empty { (words) } } }
            @for note in &field.notes { p .note { (line(note)) } }
            @if field.secret {
                p .warning { "Secrets do not belong in forms: " (self.server) " will be able to read it." }
            }
            p .error id={ (node.id) "-error" } hidden[wrong.is_none()] { (line(wrong.unwrap_or_default())) }
            (self.control(node))
            (self.default(node))
        }
    }

    fn control(&self, node: &Node) -> Markup {
        let (id, field) = (node.id.as_str(), &node.field);
        match &node.control {
            Control::Line => self.line(node),
            Control::Number => self.number(node),
            Control::Date => self.input(node, "date", None),
            Control::Lines => self.area(node, 4, ""),
            Control::Json => self.area(node, 5, &field.template().unwrap_or_default()),
            Control::Secret => self.secret(node),
            Control::Moment => self.moment(node),
            Control::Boolean => self.boolean(node),
            Control::One if choices(field).len() > FEW => self.select(node),
            Control::One => self.radios(node),
            Control::Many => self.boxes(node),
            Control::Fixed => self.fixed(node),
            Control::Group(keys) => html! {
                @if !field.required {
                    label .option .switch {
                        input type="checkbox" id=(id) name=(on(id)) checked[self.draft.is_on(&on(id))];
                        span { "Fill it in" }
                    }
                }
                div .parts { @for key in keys { (self.field(key)) } }
            },
            Control::Items(item) => self.items(node, item),
        }
    }

    fn input(&self, node: &Node, kind: &str, mode: Option<&str>) -> Markup {
        let wrong = self.wrong(node).is_some();
        let spelling = (kind == "text" && mode.is_some()).then_some("false");
        html! {
            input id=(node.id) name=(node.id) type=(kind) inputmode=[mode] value=(self.draft.one(&node.id))
                dir=[(kind == "text").then_some("auto")] spellcheck=[spelling] autocapitalize=[spelling.and(Some("off"))]
                aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")]
                aria-describedby=(described(node, wrong)) autocomplete="off";
        }
    }

    fn line(&self, node: &Node) -> Markup {
        let FieldKind::Text(rules) = &node.field.kind else { return self.input(node, "text", None) };
        match &rules.format {
            // The browser's own inputs for these would change or refuse what a server takes.
            Some(Format::Email) => self.input(node, "text", Some("email")),
            Some(Format::Uri) => self.input(node, "text", Some("url")),
            _ => self.input(node, "text", None),
        }
    }

    fn number(&self, node: &Node) -> Markup {
        let FieldKind::Number(NumberField { integer, minimum, maximum, .. }) = &node.field.kind else {
            return html! {};
        };
        let wrong = self.wrong(node).is_some();
        let mode =
            if *integer && minimum.as_ref().is_some_and(|low| low.as_u64().is_some()) { "numeric" } else { "decimal" };
        html! {
            input id=(node.id) name=(node.id) type="number" step="any" inputmode=(mode)
                min=[minimum.as_ref()] max=[maximum.as_ref()] value=(self.draft.one(&node.id))
                aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")]
                aria-describedby=(described(node, wrong)) autocomplete="off";
        }
    }

    fn area(&self, node: &Node, rows: usize, example: &str) -> Markup {
        let wrong = self.wrong(node).is_some();
        let is_json = matches!(node.control, Control::Json);
        let text = self.draft.one(&node.id);
        html! {
            textarea .code[is_json] id=(node.id) name=(node.id) rows=(rows) dir=[(!is_json).then_some("auto")]
                placeholder=[Some(example).filter(|example| !example.is_empty())] spellcheck=[is_json.then_some("false")]
                aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")]
                aria-describedby=(described(node, wrong)) autocomplete="off" {
                // The parser drops the first line end.
                "\n" (text)
            }
        }
    }

    /// What is typed is never sent back to the browser.
    fn secret(&self, node: &Node) -> Markup {
        let wrong = self.wrong(node).is_some();
        let is_there = !self.draft.one(&node.id).is_empty();
        let described = described(node, wrong);
        html! {
            @if is_there {
                p .kept { "It was entered, and is kept unless you type it anew. "
                    button .quiet name="do" value={ "empty:" (node.id) } formnovalidate { "Empty it" } }
            }
            div .pair {
                div {
                    label for=(node.id) { "Secret" }
                    input id=(node.id) name=(node.id) type="password" autocomplete="off" aria-describedby=(described)
                        aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")];
                }
                div {
                    label for=(again(&node.id)) { "Once more" }
                    input id=(again(&node.id)) name=(again(&node.id)) type="password" autocomplete="off"
                        aria-describedby=(described) aria-invalid=[wrong.then_some("true")];
                }
            }
        }
    }

    fn moment(&self, node: &Node) -> Markup {
        let clock = self.draft.one(&node.id);
        let wrong = self.wrong(node).is_some();
        let described = described(node, wrong);
        let is_native = clock.is_empty() || is_clock(clock);
        html! {
            div .pair {
                div {
                    label for=(node.id) { "Date and time" }
                    input id=(node.id) name=(node.id) type=(if is_native { "datetime-local" } else { "text" })
                        step=[is_native.then_some("any")] value=(clock) autocomplete="off" aria-describedby=(described)
                        aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")];
                }
                div {
                    label for=(zone(&node.id)) { "Offset" }
                    input id=(zone(&node.id)) name=(zone(&node.id)) type="text" value=(self.draft.one(&zone(&node.id)))
                        placeholder="as your clock" size="12" autocomplete="off" spellcheck="false" aria-describedby=(described);
                }
            }
        }
    }

    fn boolean(&self, node: &Node) -> Markup {
        let field = &node.field;
        html! {
            div .row {
                (self.radio(node, "yes", 0, html! { "Yes" (mark(field, &true.into())) }))
                (self.radio(node, "no", 1, html! { "No" (mark(field, &false.into())) }))
                (self.others(node, 2, field))
            }
        }
    }

    fn radios(&self, node: &Node) -> Markup {
        let listed = choices(&node.field);
        html! {
            @for (at, choice) in listed.iter().enumerate() { (self.radio(node, &at.to_string(), at, option(&node.field, choice))) }
            (self.others(node, listed.len(), &node.field))
        }
    }

    /// What there is beside the choices: null, or nothing.
    fn others(&self, node: &Node, at: usize, field: &Field) -> Markup {
        html! {
            @if !field.required { (self.radio(node, "out", at, html! { "Leave it out" })) }
            @else if field.nullable && !has_null(field) { (self.radio(node, "null", at, html! { "Null, no value" })) }
        }
    }

    fn radio(&self, node: &Node, value: &str, at: usize, label: Markup) -> Markup {
        // A link to the field leads to its first choice.
        let id = if at == 0 { node.id.clone() } else { format!("{}-{at}", node.id) };
        let is_marked = self.draft.one(&node.id) == value;
        html! {
            label .option { input type="radio" id=(id) name=(node.id) value=(value) checked[is_marked]; span { (label) } }
        }
    }

    fn boxes(&self, node: &Node) -> Markup {
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

    fn select(&self, node: &Node) -> Markup {
        let (id, field, chosen) = (&node.id, &node.field, self.draft.one(&node.id));
        let listed = choices(field);
        let wrong = self.wrong(node).is_some();
        html! {
            @if listed.len() > MANY { (filter(node)) }
            select id=(id) name=(id) data-list=[(listed.len() > MANY).then_some(id)] aria-describedby=(described(node, wrong))
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

    fn is_select(&self, node: &Node) -> bool {
        matches!(node.control, Control::One) && choices(&node.field).len() > FEW
    }

    fn fixed(&self, node: &Node) -> Markup {
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

    fn items(&self, node: &Node, item: &Field) -> Markup {
        let rows = self.draft.rows(node);
        let most = node.field.schema.get("maxItems").and_then(Value::as_u64);
        let is_full = rows >= MOST_ROWS || most.is_some_and(|most| rows as u64 >= most);
        html! {
            input type="hidden" name=(count(&node.id)) value=(rows);
            div .parts id=(node.id) {
                @for row in 0..rows {
                    @let inner = node.row(item, row);
                    div .entry {
                        (self.field(&inner))
                        button .quiet name="do" value={ "remove:" (inner.id) } formnovalidate {
                            "Remove " span .vh { (node.label()) " " } (row + 1)
                        }
                    }
                }
                @if is_full { p .note { "There is no room for more entries." } }
                @else { button .quiet name="do" value={ "add:" (node.id) } formnovalidate { "Add an entry" span .vh { " to " (node.label()) } } }
            }
        }
    }

    /// The server's default, and how to take it, where it is typed: choices are marked.
    fn default(&self, node: &Node) -> Markup {
        let field = &node.field;
        let is_chosen = matches!(
            node.control,
            Control::Boolean | Control::One | Control::Many | Control::Fixed | Control::Group(_) | Control::Secret
        );
        let mut untouched = Draft::default();
        untouched.lay(node, field.default.as_ref());
        let is_taken = self.draft.one(&node.id) == untouched.one(&node.id);
        html! {
            @if let Some(default) = field.default.as_ref().filter(|_| !is_chosen) {
                p .default .taken[is_taken] {
                    "Default: " span dir="auto" { (text(&field.show(default))) } " "
                    button .quiet name="do" value={ "default:" (node.id) } formnovalidate { "Take it" span .vh { " for " (node.label()) } }
                }
            }
        }
    }

    fn wrong(&self, node: &Node) -> Option<&str> {
        self.wrongs.get(node.id.as_str()).copied()
    }
}

/// What a field is called.
pub(super) fn name(node: &Node) -> Markup {
    html! {
        span .name dir="auto" { (node.label()) }
        @if let Some(key) = node.key().filter(|key| !key.is_empty()) { " " span .key { (key) } }
    }
}

fn option(field: &Field, choice: &Choice) -> Markup {
    html! {
        span dir="auto" { (line(&choice.label())) }
        (mark(field, &choice.value))
        @if let Some(about) = &choice.description { span .about dir="auto" { (text(about)) } }
    }
}

/// Says so where `value` is the field's default, or one of them.
fn mark(field: &Field, value: &Value) -> Markup {
    let is_default = match &field.default {
        Some(Value::Array(values)) => values.contains(value),
        Some(default) => default == value,
        None => false,
    };
    html! { @if is_default { " " span .mark { "default" } } }
}

/// Where a long list is narrowed down; there only with a script.
fn filter(node: &Node) -> Markup {
    html! {
        div .filter hidden {
            label for={ (node.id) "-filter" } { "Find" span .vh { " in " (node.label()) } }
            input id={ (node.id) "-filter" } type="search" data-filter=(node.id) autocomplete="off";
            span .found role="status" {}
        }
    }
}

/// What an empty input means, where that is not to be seen.
fn empty_words(node: &Node) -> Option<&'static str> {
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

/// The ids of what describes a control.
fn described(node: &Node, is_wrong: bool) -> String {
    let about = if node.field.description.as_deref().is_some_and(|about| !text(about).is_empty()) {
        format!("{}-about ", node.id)
    } else {
        String::new()
    };
    let error = if is_wrong { format!(" {}-error", node.id) } else { String::new() };
    format!("{about}{}-rules{error}", node.id)
}
