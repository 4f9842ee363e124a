use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    Choices, Field, FieldError, FieldKind, Form, ListField, NumberField, TextField,
    decimal::Decimal,
    fault::Fault,
    value::{canonical_text, same, unsendable},
    words,
};

impl Field {
    /// Checks a JSON value as written in a file: exact types, bounds, choices by value.
    ///
    /// # Errors
    /// The rule that is broken.
    pub fn check(&self, value: &Value) -> Result<(), FieldError> {
        match (&self.kind, value) {
            (_, Value::Null) if self.nullable => Ok(()),
            (FieldKind::Text(rules), Value::String(text)) => self.check_text(rules, text),
            (FieldKind::Number(rules), Value::Number(_)) => self.check_number(rules, value),
            (FieldKind::Boolean, Value::Bool(_)) => Ok(()),
            (FieldKind::Json, value) => self.check_sendable(value),
            (FieldKind::Text(rules), value) if *rules == TextField::default() && self.has_no_type() => {
                self.check_sendable(value)
            }
            (FieldKind::Choice(field), value) => self.check_choice(&field.choices, value),
            (FieldKind::List(rules), Value::Array(values)) => self.check_list(rules, values),
            (FieldKind::Const(fixed), value) if same(fixed, value) => Ok(()),
            (FieldKind::Const(fixed), value) => {
                Err(self.error(format!("{} is not {}", self.quote(value), words::quote(fixed))))
            }
            (kind, value) => Err(self.error(words::wrong_type(&self.quote(value), value, kind.wanted()))),
        }?;
        self.check_whole(value)
    }

    /// Whether nothing is known about `value`, because checking it would take too long.
    pub(super) fn is_unaffordable(&self, value: &Value) -> bool {
        self.checker.as_ref().is_some_and(|checker| !checker.is_affordable(value))
    }

    /// About how many steps it takes to search `value` for the field's own pattern.
    pub(super) fn search_steps(&self, value: &Value) -> u64 {
        match (&self.kind, value) {
            (FieldKind::Text(TextField { pattern: Some(pattern), .. }), Value::String(text)) => pattern.steps(text),
            _ => 0,
        }
    }

    /// Whether the schema leaves the type open; a person is then asked for text, and a file may hold anything.
    fn has_no_type(&self) -> bool {
        self.schema.get("type").is_none()
    }

    fn check_sendable(&self, value: &Value) -> Result<(), FieldError> {
        match unsendable(value) {
            Some(number) => Err(self.error(format!("{number} is not a number that can be sent"))),
            None => Ok(()),
        }
    }

    /// An error about this field.
    pub(super) fn error(&self, reason: impl Into<String>) -> FieldError {
        FieldError::new(&self.key, reason)
    }

    /// Typed text in a reason; a secret is not repeated.
    pub(super) fn show_text(&self, text: &str) -> String {
        match text {
            _ if self.secret => "this".to_owned(),
            "" => "nothing".to_owned(),
            text if text.trim() != text => words::quote(&Value::from(text)),
            text => words::cut(text, 40),
        }
    }

    fn quote(&self, value: &Value) -> String {
        if self.secret { "this".to_owned() } else { words::quote(value) }
    }

    fn check_text(&self, rules: &TextField, text: &str) -> Result<(), FieldError> {
        let shown = || self.show_text(text);
        let length = text.chars().count() as u64;
        let range = || words::range(rules.min_length, rules.max_length, "character", "characters").unwrap_or_default();
        if rules.min_length.is_some_and(|low| length < low) {
            return Err(self.error(format!("{} is too short: {}", shown(), range())));
        }
        if rules.max_length.is_some_and(|high| length > high) {
            return Err(self.error(format!("{} is too long: {}, not {length}", shown(), range())));
        }
        if let Some(format) = rules.format.as_ref().filter(|format| !format.fits(text)) {
            return Err(self.error(format.refusal(&shown())));
        }
        if let Some(pattern) = rules.pattern.as_ref().filter(|pattern| !pattern.fits(text)) {
            return Err(self.error(format!("{} does not match {}", shown(), words::cut(pattern.source(), 80))));
        }
        Ok(())
    }

    fn check_number(&self, rules: &NumberField, value: &Value) -> Result<(), FieldError> {
        let Value::Number(number) = value else { return Ok(()) };
        let decimal = Decimal::from_number(number);
        let shown = self.quote(value);
        let broken = |reason: String| Err(self.error(format!("{shown} is {reason}")));
        if !decimal.is_finite() {
            return broken("not a number that can be sent".into());
        }
        if rules.integer && !decimal.is_integer() {
            return broken("not a whole number".into());
        }
        let bounds = [
            (&rules.minimum, "below the minimum,", Decimal::lt as fn(&Decimal, &Decimal) -> bool),
            (&rules.maximum, "above the maximum,", Decimal::gt),
            (&rules.exclusive_minimum, "not greater than", Decimal::le),
            (&rules.exclusive_maximum, "not less than", Decimal::ge),
        ];
        for (bound, how, is_broken) in bounds {
            if let Some(bound) = bound
                && is_broken(&decimal, &Decimal::from_number(bound))
            {
                return broken(format!("{how} {bound}"));
            }
        }
        match &rules.multiple_of {
            Some(unit) if decimal.is_multiple_of(&Decimal::from_number(unit)) == Some(false) => {
                broken(format!("not a multiple of {unit}"))
            }
            _ => Ok(()),
        }
    }

    fn check_choice(&self, choices: &Choices, value: &Value) -> Result<(), FieldError> {
        if choices.of_value(value).is_some() {
            return Ok(());
        }
        let titled = choices.iter().find(|choice| choice.title.as_deref().is_some_and(|title| *value == *title));
        if let Some(choice) = titled {
            let shown = words::quote(&choice.value);
            return Err(self.error(format!("{} is a title; write its value, {shown}", words::quote(value))));
        }
        let values = choices.iter().map(|choice| words::quote(&choice.value));
        Err(self.error(format!("{} is not one of {}", self.quote(value), words::some_of(values, choices.len()))))
    }

    fn check_list(&self, rules: &ListField, values: &[Value]) -> Result<(), FieldError> {
        values.iter().try_for_each(|value| self.check_choice(&rules.choices, value))?;
        let count = values.len() as u64;
        if rules.min_items.is_some_and(|low| count < low) || rules.max_items.is_some_and(|high| count > high) {
            let chosen = match count {
                0 => "nothing is chosen".to_owned(),
                1 => "1 is chosen".to_owned(),
                count => format!("{count} are chosen"),
            };
            return Err(self.error(format!("{chosen}: {}", rules.range())));
        }
        let mut seen = HashSet::new();
        match values.iter().find(|value| rules.unique && !seen.insert(canonical_text(value))) {
            Some(value) => Err(self.error(format!("{} is chosen twice", words::quote(value)))),
            None => Ok(()),
        }
    }

    /// Checks `value` against the whole schema, if the field's kind does not cover all of it.
    fn check_whole(&self, value: &Value) -> Result<(), FieldError> {
        // A value that would take too long to check is left for the server to judge.
        let faults = self.checker.as_ref().and_then(|checker| checker.faults(value).ok());
        let Some(Fault { path, reason }) = faults.and_then(|faults| faults.into_iter().next()) else {
            return Ok(());
        };
        match path.as_str() {
            _ if self.secret => Err(self.error("this does not fit the schema")),
            "" => Err(self.error(reason)),
            path => Err(self.error(format!("at {path}, {reason}"))),
        }
    }
}

impl Form {
    /// Everything that is wrong with `content`: fields that are missing or wrong, in the form's order, then unknown
    /// keys, then rules about the whole.
    pub fn check(&self, content: &Map<String, Value>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for field in &self.fields {
            match content.get(&field.key) {
                Some(value) => errors.extend(field.check(value).err()),
                None if field.required => errors.push(field.error("required, but missing")),
                None => {}
            }
        }
        if !self.open {
            let known: HashSet<&str> = self.fields.iter().map(|field| field.key.as_str()).collect();
            let unknown = content.keys().filter(|key| !known.contains(key.as_str()));
            errors.extend(unknown.map(|key| FieldError::new(key, self.unknown(key))));
        }
        if errors.is_empty()
            && let Some(checker) = &self.checker
        {
            let faults = checker.faults(&Value::Object(content.clone())).unwrap_or_default();
            errors.extend(faults.into_iter().map(FieldError::from));
        }
        errors
    }

    /// The content of an untouched form: every field's default.
    pub fn defaults(&self) -> Map<String, Value> {
        let filled = |field: &Field| Some((field.key.clone(), field.default.clone()?));
        self.fields.iter().filter_map(filled).collect()
    }

    fn unknown(&self, key: &str) -> String {
        let near = words::nearest(key, self.fields.iter().map(|field| field.key.as_str()));
        match near {
            Some(near) => format!("not a field of this form; did you mean {near}?"),
            None => "not a field of this form".to_owned(),
        }
    }
}
