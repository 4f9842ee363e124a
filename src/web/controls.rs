use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value;

use super::{
    about::{line, text},
    captions::{described, empty_words, name, rules},
    draft::{Draft, MOST_ROWS, again, count, is_clock, on, zone},
    node::{Control, ControlNode},
};
use crate::form::{Field, FieldKind, Format, NumberField};

/// The state of a drawing: what was typed, and what is wrong with it.
pub(super) struct FormDrawing<'a> {
    pub(super) draft: &'a Draft,
    /// Why inputs are refused, by their ids.
    pub(super) wrongs: HashMap<&'a str, &'a str>,
    /// The server's safe name.
    pub(super) server: &'a str,
}

impl FormDrawing<'_> {
    /// A field with everything that belongs to it.
    pub(super) fn field(&self, node: &ControlNode) -> Markup {
        let is_group =
            !matches!(node.control, Control::Line | Control::Lines | Control::Number | Control::Date | Control::Json)
                && !Self::is_select(node);
        let wrong = self.wrong(node);
        html! {
            div .field .wrong[wrong.is_some()] id={ (node.id) "-field" } {
                @if is_group {
                    fieldset aria-describedby=[described(node, wrong.is_some())] {
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

    /// The control, and the text around it.
    fn around(&self, node: &ControlNode, wrong: Option<&str>) -> Markup {
        let field = &node.field;
        let about = field.description.as_deref().map(text).filter(|about| !about.is_empty());
        html! {
            @if let Some(about) = about { p .about id={ (node.id) "-about" } dir="auto" { (about) } }
            @if let Some(rules) = rules(node) {
                p .rules id={ (node.id) "-rules" } {
                    (line(&rules)) @if let Some(words) = empty_words(node) { span .empty { (words) } }
                }
            }
            @for note in &field.notes { p .note { (line(note)) } }
            @if field.secret {
                p .warning { "Secrets do not belong in forms: " (self.server) " will be able to read it." }
            }
            p .error id={ (node.id) "-error" } hidden[wrong.is_none()] { (line(wrong.unwrap_or_default())) }
            (self.control(node))
            (self.default(node))
        }
    }

    fn control(&self, node: &ControlNode) -> Markup {
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
            Control::One if Self::is_select(node) => self.select(node),
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

    fn input(&self, node: &ControlNode, kind: &str, mode: Option<&str>) -> Markup {
        let wrong = self.wrong(node).is_some();
        let spelling = (kind == "text" && mode.is_some()).then_some("false");
        html! {
            input id=(node.id) name=(node.id) type=(kind) inputmode=[mode] value=(self.draft.one(&node.id))
                dir=[(kind == "text").then_some("auto")] spellcheck=[spelling] autocapitalize=[spelling.and(Some("off"))]
                aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")]
                aria-describedby=[described(node, wrong)] autocomplete="off";
        }
    }

    fn line(&self, node: &ControlNode) -> Markup {
        let FieldKind::Text(rules) = &node.field.kind else { return self.input(node, "text", None) };
        match &rules.format {
            // The browser's own inputs for these would change or refuse values that a server accepts.
            Some(Format::Email) => self.input(node, "text", Some("email")),
            Some(Format::Uri) => self.input(node, "text", Some("url")),
            _ => self.input(node, "text", None),
        }
    }

    fn number(&self, node: &ControlNode) -> Markup {
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
                aria-describedby=[described(node, wrong)] autocomplete="off";
        }
    }

    fn area(&self, node: &ControlNode, rows: usize, example: &str) -> Markup {
        let wrong = self.wrong(node).is_some();
        let is_json = matches!(node.control, Control::Json);
        let text = self.draft.one(&node.id);
        html! {
            textarea .code[is_json] id=(node.id) name=(node.id) rows=(rows) dir=[(!is_json).then_some("auto")]
                placeholder=[Some(example).filter(|example| !example.is_empty())] spellcheck=[is_json.then_some("false")]
                aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")]
                aria-describedby=[described(node, wrong)] autocomplete="off" {
                // The HTML parser drops the first line end.
                "\n" (text)
            }
        }
    }

    /// Typed text is never sent back to the browser.
    fn secret(&self, node: &ControlNode) -> Markup {
        let wrong = self.wrong(node).is_some();
        let is_there = !self.draft.one(&node.id).is_empty();
        let described = described(node, wrong);
        html! {
            @if is_there {
                p .kept { "You have already entered it; type it again only to change it. "
                    button .quiet name="do" value={ "empty:" (node.id) } formnovalidate { "Clear it" } }
            }
            div .pair {
                div {
                    label for=(node.id) { "Secret" }
                    input id=(node.id) name=(node.id) type="password" autocomplete="off" aria-describedby=[&described]
                        aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")];
                }
                div {
                    label for=(again(&node.id)) { "Repeat it" }
                    input id=(again(&node.id)) name=(again(&node.id)) type="password" autocomplete="off"
                        aria-describedby=[&described] aria-invalid=[wrong.then_some("true")];
                }
            }
        }
    }

    fn moment(&self, node: &ControlNode) -> Markup {
        let clock = self.draft.one(&node.id);
        let wrong = self.wrong(node).is_some();
        let described = described(node, wrong);
        let is_native = clock.is_empty() || is_clock(clock);
        html! {
            div .pair {
                div {
                    label for=(node.id) { "Date and time" }
                    input id=(node.id) name=(node.id) type=(if is_native { "datetime-local" } else { "text" })
                        step=[is_native.then_some("any")] value=(clock) autocomplete="off" aria-describedby=[&described]
                        aria-required=[node.field.required.then_some("true")] aria-invalid=[wrong.then_some("true")];
                }
                div {
                    label for=(zone(&node.id)) { "Offset" }
                    input id=(zone(&node.id)) name=(zone(&node.id)) type="text" value=(self.draft.one(&zone(&node.id)))
                        placeholder="your clock's" size="12" autocomplete="off" spellcheck="false" aria-describedby=[&described];
                }
            }
        }
    }

    fn items(&self, node: &ControlNode, item: &Field) -> Markup {
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

    /// The server's default, and a button to use it, if it is typed: default choices are marked instead.
    fn default(&self, node: &ControlNode) -> Markup {
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
                    button .quiet name="do" value={ "default:" (node.id) } formnovalidate { "Use it" span .vh { " for " (node.label()) } }
                }
            }
        }
    }

    pub(super) fn wrong(&self, node: &ControlNode) -> Option<&str> {
        self.wrongs.get(node.id.as_str()).copied()
    }
}
