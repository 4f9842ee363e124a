use serde_json::{Number, Value};

use super::{Choice, Choices, Field, FieldKind, ListField, NumberField, TextField, words};

impl Field {
    /// The field's rules in one line, for somebody who types a value: `required, 2 to 20 characters`, `optional, whole
    /// number, 18 to 99`, `choose 1 to 2`. Not yet safe for a terminal: a pattern is the server's text.
    pub fn rules(&self) -> String {
        let mut parts = self.rule_parts();
        // If the field cannot be repeated, values are separated by commas.
        if let (Some(items), Some(wanted)) = (self.plain_items(), parts.last_mut()) {
            let items = if items == "string" { "values" } else { "numbers" };
            *wanted = format!("{items} separated by commas, or a JSON list");
        }
        parts.join(", ")
    }

    /// The rules that `reason`, why a value was refused, does not already mention: ` (whole number, 18 to 99)`, or
    /// nothing.
    pub fn rules_beside(&self, reason: &str) -> String {
        let words = |text: &str| text.replace(',', "");
        let said = words(reason);
        let says = |part: &String| matches!(part.as_str(), "required" | "optional") || said.contains(&words(part));
        let parts: Vec<String> = self.rule_parts().into_iter().filter(|part| !says(part)).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    fn rule_parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        match &self.kind {
            // The number to choose already implies that something is required.
            FieldKind::List(rules) if self.required && rules.min_items.is_some_and(|low| low > 0) => {}
            _ => parts.push(if self.required { "required" } else { "optional" }.to_owned()),
        }
        match &self.kind {
            FieldKind::Text(rules) => rules.add_to(&mut parts),
            FieldKind::Number(rules) => rules.add_to(&mut parts),
            FieldKind::Boolean => parts.push("yes or no".to_owned()),
            FieldKind::Choice(_) => {}
            FieldKind::List(rules) => parts.push(rules.range()),
            FieldKind::Const(value) => parts.push(format!("always {}", words::cut(&words::bare(value), 40))),
            FieldKind::Json => parts.push(match self.plain_items() {
                Some("string") => "list of text values".to_owned(),
                Some(_) => "list of numbers".to_owned(),
                None => "JSON".to_owned(),
            }),
        }
        parts
    }

    /// Everything that is needed to write a value, in one line: `required, text, 2 to 20 characters`, `optional, one of
    /// free, pro, default free`. Not yet safe for a terminal.
    pub fn summary(&self) -> String {
        let mut parts = self.rule_parts();
        let values =
            |choices: &[Choice]| words::some_of(choices.iter().map(|choice| words::bare(&choice.value)), choices.len());
        // The rules of the other kinds already name the kind.
        match &self.kind {
            FieldKind::Text(_) => parts.insert(1, self.kind.name().to_owned()),
            FieldKind::Choice(field) => parts.push(format!("one of {}", values(&field.choices))),
            FieldKind::List(field) => {
                if let Some(range) = parts.last_mut() {
                    *range = format!("{range} of {}", values(&field.choices));
                }
            }
            FieldKind::Number(_) | FieldKind::Boolean | FieldKind::Const(_) | FieldKind::Json => {}
        }
        parts.extend(self.default_words());
        parts.join(", ")
    }

    /// `default 3`, as a person would say the value; `None` without a default, and for secrets.
    pub fn default_words(&self) -> Option<String> {
        let default = self.default.as_ref().filter(|_| !self.secret)?;
        match self.show(default).as_str() {
            "" => Some("default empty".to_owned()),
            shown => Some(format!("default {}", words::cut(shown, 40))),
        }
    }

    /// A value for a person, as in a review: titles for choices, yes and no, text as it is, everything else as JSON. A
    /// secret is a row of dots. Not yet safe for a terminal.
    pub fn show(&self, value: &Value) -> String {
        let label = |choices: &Choices, value: &Value| {
            let known = choices.of_value(value);
            known.map_or_else(|| words::bare(value), Choice::label)
        };
        match (&self.kind, value) {
            _ if self.secret => "••••••".to_owned(),
            (FieldKind::Boolean, Value::Bool(yes)) => if *yes { "yes" } else { "no" }.to_owned(),
            (FieldKind::Choice(field), value) => label(&field.choices, value),
            (FieldKind::List(_), Value::Array(values)) if values.is_empty() => "none".to_owned(),
            (FieldKind::List(field), Value::Array(values)) => {
                values.iter().map(|value| label(&field.choices, value)).collect::<Vec<_>>().join(", ")
            }
            (_, value) => words::bare(value),
        }
    }

    /// A value as text in an editor, which [`Field::parse`] reads as the same value again.
    pub fn edit(&self, value: &Value) -> String {
        match &self.kind {
            FieldKind::Json => serde_json::to_string(value).unwrap_or_default(),
            FieldKind::List(_) => value.to_string(),
            _ => words::bare(value),
        }
    }
}

impl FieldKind {
    /// The kind in a person's words: `text`, `whole number`, `choice`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Number(rules) if rules.integer => "whole number",
            Self::Number(_) => "number",
            Self::Boolean => "yes or no",
            Self::Choice(_) => "choice",
            Self::List(_) => "list of choices",
            Self::Const(_) => "fixed value",
            Self::Json => "JSON",
        }
    }

    /// The expected JSON type, for a sentence.
    pub(super) fn wanted(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Number(rules) if rules.integer => "a whole number",
            Self::Number(_) => "a number",
            Self::Boolean => "true or false",
            Self::List(_) => "a list",
            Self::Choice(_) | Self::Const(_) | Self::Json => "another value",
        }
    }
}

impl TextField {
    fn add_to(&self, parts: &mut Vec<String>) {
        parts.extend(self.format.as_ref().and_then(super::Format::wanted).map(str::to_owned));
        parts.extend(words::range(self.min_length, self.max_length, "character", "characters"));
        parts.extend(self.pattern.as_ref().map(|pattern| format!("matches {}", words::cut(pattern.source(), 40))));
    }
}

impl NumberField {
    fn add_to(&self, parts: &mut Vec<String>) {
        parts.push(if self.integer { "whole number" } else { "number" }.to_owned());
        let bound = |word: &str, bound: &Option<Number>| bound.as_ref().map(|bound| format!("{word} {bound}"));
        match (&self.minimum, &self.maximum) {
            (Some(low), Some(high)) => parts.push(format!("{low} to {high}")),
            (low, high) => parts.extend(bound("at least", low).or_else(|| bound("at most", high))),
        }
        parts.extend(bound("above", &self.exclusive_minimum));
        parts.extend(bound("below", &self.exclusive_maximum));
        parts.extend(bound("a multiple of", &self.multiple_of));
    }
}

impl ListField {
    /// How many to choose: `choose 1 to 2`, `choose at most 3`, `choose any`.
    pub fn range(&self) -> String {
        match (self.min_items.filter(|low| *low > 0), self.max_items) {
            (None, None) => "choose any".to_owned(),
            (Some(low), Some(high)) if low == high => format!("choose {low}"),
            (Some(low), Some(high)) => format!("choose {low} to {high}"),
            (Some(low), None) => format!("choose at least {low}"),
            (None, Some(high)) => format!("choose at most {high}"),
        }
    }
}
