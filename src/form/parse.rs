use std::collections::HashMap;

use serde_json::Value;

use super::{Choice, Choices, Field, FieldError, FieldKind, Form, NumberField, decimal::Decimal, value::same, words};

impl Field {
    /// The value that `typed` stands for. Text without a format is taken as it is, everything else without surrounding
    /// spaces. A choice is named by its value, its title, or its number from 1 if that cannot mean another choice.
    /// Several choices are separated by commas, or are a JSON list, and so are the values of a list without choices.
    /// `null` means null if that is a distinct value, except in text fields.
    ///
    /// # Errors
    /// Why the value is refused; the person should then be asked again.
    pub fn parse(&self, typed: &str) -> Result<Value, FieldError> {
        let trimmed = typed.trim();
        let value = match &self.kind {
            FieldKind::Text(rules) => {
                let bare = rules.format.as_ref().is_some_and(|format| format.wanted().is_some());
                Value::from(if bare { trimmed } else { typed })
            }
            _ if self.nullable && trimmed == "null" => Value::Null,
            FieldKind::Number(rules) => self.parse_number(rules, trimmed)?,
            FieldKind::Boolean => self.parse_boolean(trimmed)?,
            FieldKind::Choice(field) => self.pick(&field.choices, trimmed)?,
            FieldKind::List(field) => self.parse_list(&field.choices, trimmed)?,
            FieldKind::Const(value) => value.clone(),
            FieldKind::Json => return self.parse_json(typed),
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Whether the field is a list, so that several entries make one value.
    pub fn takes_several(&self) -> bool {
        matches!(self.kind, FieldKind::List(_)) || self.plain_items().is_some()
    }

    /// The values that `typed` stands for, as one of several entries for a list; their number is not checked.
    ///
    /// # Errors
    /// As for [`Field::parse`].
    pub fn parse_some(&self, typed: &str) -> Result<Vec<Value>, FieldError> {
        let list = match &self.kind {
            FieldKind::List(field) => self.parse_list(&field.choices, typed.trim())?,
            // If the key can be repeated, commas are not needed, and may be part of the text.
            _ => match (self.plain_items(), typed.trim_start().starts_with('[')) {
                (Some("string"), false) => Value::Array(vec![typed.into()]),
                (Some(_), false) => Value::Array(vec![self.item(typed)?]),
                _ => self.parse(typed)?,
            },
        };
        Ok(if let Value::Array(values) = list { values } else { vec![list] })
    }

    /// Whether the field is a list of strings or numbers without choices.
    pub fn is_free_list(&self) -> bool {
        self.plain_items().is_some()
    }

    /// One number of a list.
    fn item(&self, typed: &str) -> Result<Value, FieldError> {
        let value = serde_json::from_str(typed.trim()).ok().filter(Value::is_number);
        value.ok_or_else(|| {
            let shown = self.show_text(typed.trim());
            let several = if typed.contains(',') {
                format!("; for several, repeat {}=… or write a JSON list", self.key)
            } else {
                String::new()
            };
            self.error(format!("{shown} is not a number{several}"))
        })
    }

    /// What an empty entry means: `None` leaves the field out; a value is sent.
    ///
    /// # Errors
    /// The field is required, and an empty entry is not a valid value.
    pub fn parse_empty(&self) -> Result<Option<Value>, FieldError> {
        if !self.required {
            return Ok(None);
        }
        let value = match &self.kind {
            FieldKind::Const(value) => value.clone(),
            // Text may be empty only if the server says so.
            FieldKind::Text(rules) if rules.min_length == Some(0) && self.check(&Value::from("")).is_ok() => "".into(),
            FieldKind::List(rules) if rules.min_items == Some(0) => Value::Array(Vec::new()),
            _ if self.nullable => Value::Null,
            _ => return Err(self.error("an answer is required")),
        };
        Ok(Some(value))
    }

    /// The value as the server's own schema spells it: a whole number without a fraction, a choice as listed.
    #[must_use]
    pub fn canonical(&self, value: Value) -> Value {
        let listed =
            |choices: &Choices, value: Value| choices.of_value(&value).map_or(value, |choice| choice.value.clone());
        match (&self.kind, value) {
            (FieldKind::Number(rules), Value::Number(number)) if rules.integer => {
                let decimal = Decimal::from_number(&number);
                Value::Number(if decimal.is_integer() && decimal.is_finite() { decimal.to_integer() } else { number })
            }
            (FieldKind::Choice(field), value) => listed(&field.choices, value),
            (FieldKind::List(field), Value::Array(values)) => {
                values.into_iter().map(|value| listed(&field.choices, value)).collect()
            }
            (_, value) => value,
        }
    }

    fn parse_number(&self, rules: &NumberField, typed: &str) -> Result<Value, FieldError> {
        let wanted = if rules.integer { "whole number" } else { "number" };
        let shown = self.show_text(typed);
        let Some(decimal) = Decimal::parse(typed) else {
            let point = point_for_comma(typed).map_or_else(String::new, |hint| format!("; {hint}"));
            return Err(self.error(format!("{shown} is not a {wanted}{point}")));
        };
        if !decimal.is_finite() {
            return Err(self.error(format!("{shown} is not a number that can be sent")));
        }
        match rules.integer {
            true if !decimal.is_integer() => Err(self.error(format!("{shown} is not a whole number"))),
            true => Ok(Value::Number(decimal.to_integer())),
            false => Ok(Value::Number(decimal.to_number())),
        }
    }

    fn parse_boolean(&self, typed: &str) -> Result<Value, FieldError> {
        match typed.to_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "on" | "1" => Ok(Value::Bool(true)),
            "false" | "f" | "no" | "n" | "off" | "0" => Ok(Value::Bool(false)),
            _ => Err(self.error(format!("{} is neither yes nor no", self.show_text(typed)))),
        }
    }

    fn parse_list(&self, choices: &[Choice], typed: &str) -> Result<Value, FieldError> {
        if typed.is_empty() {
            return Ok(Value::Array(Vec::new()));
        }
        if typed.starts_with('[')
            && let Ok(Value::Array(values)) = serde_json::from_str(typed)
        {
            return Ok(Value::Array(values));
        }
        // A title may contain a comma.
        if let Ok(one) = self.pick(choices, typed) {
            return Ok(Value::Array(vec![one]));
        }
        let mut picked: Vec<Value> = Vec::new();
        for part in typed.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let value = self.pick(choices, part)?;
            if !picked.contains(&value) {
                picked.push(value);
            }
        }
        Ok(Value::Array(picked))
    }

    /// The choice that `typed` names.
    fn pick(&self, choices: &[Choice], typed: &str) -> Result<Value, FieldError> {
        let lower = typed.to_lowercase();
        let by_value = || choices.iter().find(|choice| words::bare(&choice.value) == typed);
        let by_title = || only(choices, |choice| choice.title.as_deref().is_some_and(|title| title.trim() == typed));
        let by_json = || {
            let value: Value = serde_json::from_str(typed).ok()?;
            choices.iter().find(|choice| same(&choice.value, &value))
        };
        let by_any_case = || {
            only(choices, |choice| {
                let label = |text: &str| text.trim().to_lowercase() == lower;
                choice.title.as_deref().is_some_and(label) || label(&words::bare(&choice.value))
            })
        };
        let by_number = || {
            let looks_like_number = |text: &str| text.trim().parse::<f64>().is_ok();
            let numbers = choices.iter().any(|choice| {
                looks_like_number(&words::bare(&choice.value)) || choice.title.as_deref().is_some_and(looks_like_number)
            });
            let place: usize = typed.parse().ok().filter(|_| !numbers)?;
            choices.get(place.checked_sub(1)?)
        };
        let found = by_value().or_else(by_title).or_else(by_json).or_else(by_any_case).or_else(by_number);
        let labels = || choices.iter().map(Choice::label);
        found.map(|choice| choice.value.clone()).ok_or_else(|| {
            self.error(format!("{} is not one of {}", self.show_text(typed), words::some_of(labels(), choices.len())))
        })
    }

    /// JSON, or the parts of a list, or text if the schema accepts it and it does not look like broken JSON.
    fn parse_json(&self, typed: &str) -> Result<Value, FieldError> {
        let read = serde_json::from_str::<Value>(typed.trim());
        if let Ok(value) = &read
            && self.check(value).is_ok()
        {
            return Ok(value.clone());
        }
        let meant_as_json = typed.trim_start().starts_with(['{', '[', '"']);
        let text = Value::from(typed);
        if !typed.trim().is_empty() && !meant_as_json && self.takes_text() && self.check(&text).is_ok() {
            return Ok(text);
        }
        if !meant_as_json && let Some(list) = self.parts(typed) {
            return self.check(&list).map(|()| list);
        }
        match read {
            Ok(value) => self.check(&value).map(|()| value),
            Err(error) => Err(self.error(format!("{} is not JSON: {error}", self.show_text(typed.trim())))),
        }
    }

    /// The parts between commas, if the field is a list of plain values; `None` if it is not, or if there are no parts.
    fn parts(&self, typed: &str) -> Option<Value> {
        let texts = typed.split(',').map(str::trim).filter(|part| !part.is_empty());
        let parts: Vec<Value> = match self.plain_items()? {
            "string" => texts.map(Value::from).collect(),
            _ => texts.map(serde_json::from_str).collect::<Result<_, _>>().ok()?,
        };
        (!parts.is_empty()).then(|| parts.into())
    }

    /// The type of the items, if the field is a list of strings or numbers without choices.
    pub(crate) fn plain_items(&self) -> Option<&str> {
        let is_list = self.kind == FieldKind::Json && self.schema.get("type").is_some_and(|name| name == "array");
        let items = self.schema.get("items").filter(|_| is_list)?.get("type")?.as_str()?;
        matches!(items, "string" | "integer" | "number").then_some(items)
    }

    /// Whether a JSON field may be text, as far as its schema says.
    fn takes_text(&self) -> bool {
        self.checker.is_some() || self.schema.get("type").is_none()
    }
}

impl Form {
    /// The content as the server's own schema spells it: see [`Field::canonical`].
    #[must_use]
    pub fn canonical(&self, content: serde_json::Map<String, Value>) -> serde_json::Map<String, Value> {
        let fields: HashMap<&str, &Field> = self.fields.iter().map(|field| (field.key.as_str(), field)).collect();
        let spell = |(key, value): (String, Value)| match fields.get(key.as_str()) {
            Some(field) => (key, field.canonical(value)),
            None => (key, value),
        };
        content.into_iter().map(spell).collect()
    }
}

/// What to write instead of a number with commas.
fn point_for_comma(typed: &str) -> Option<String> {
    let without = typed.replace(',', "");
    let pointed = typed.replacen(',', ".", 1);
    let thousands =
        typed.split(',').skip(1).all(|group| group.split('.').next().is_some_and(|digits| digits.len() == 3));
    let is_number = |text: &str| Decimal::parse(text).is_some();
    // In `1.000,5` the comma can only be the decimal point.
    if let Some((whole, fraction)) = typed.split_once(',').filter(|(whole, _)| whole.contains('.')) {
        let pointed = format!("{}.{fraction}", whole.replace('.', ""));
        let groups = whole.split('.').skip(1).all(|digits| digits.len() == 3);
        return (groups && is_number(&pointed)).then(|| format!("use a point as the decimal point: write {pointed}"));
    }
    match typed.contains(',') && is_number(&without) {
        false => None,
        true if !is_number(&pointed) => Some(format!("write {without}, without commas")),
        true if thousands => Some(format!("write {without}, or {pointed} if the comma is the decimal point")),
        true => Some(format!("use a point as the decimal point: write {pointed}")),
    }
}

/// The only choice for which `fits` is true.
fn only(choices: &[Choice], fits: impl Fn(&Choice) -> bool) -> Option<&Choice> {
    let mut found = choices.iter().filter(|choice| fits(choice));
    found.next().filter(|_| found.next().is_none())
}
