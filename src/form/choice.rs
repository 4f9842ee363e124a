use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use super::{value::canonical_text, words};

/// One choice: what is shown and what is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value that is sent, of any type.
    pub value: Value,
    /// `title` or the entry of `enumNames`; `None` shows the value.
    pub title: Option<String>,
    /// `description` of the option.
    pub description: Option<String>,
}

impl Choice {
    /// The label of the choice: its title, or else its value (text as it is, everything else as JSON).
    pub fn label(&self) -> String {
        self.title.clone().unwrap_or_else(|| words::bare(&self.value))
    }
}

/// The choices of a field, in the server's order. Fields with the same reference share them.
#[derive(Clone, Debug)]
pub struct Choices(Arc<ListedChoices>);

#[derive(Debug)]
struct ListedChoices {
    choices: Vec<Choice>,
    /// The place of each value, by its text; built on first use.
    places: OnceLock<HashMap<String, usize>>,
}

impl Choices {
    /// The choice whose value is equal to `value`, as JSON Schema compares values.
    pub fn of_value(&self, value: &Value) -> Option<&Choice> {
        let places = self.0.places.get_or_init(|| {
            let all = self.0.choices.iter().enumerate().rev();
            all.map(|(place, choice)| (canonical_text(&choice.value), place)).collect()
        });
        places.get(&canonical_text(value)).and_then(|place| self.0.choices.get(*place))
    }
}

impl From<Vec<Choice>> for Choices {
    fn from(choices: Vec<Choice>) -> Self {
        Self(Arc::new(ListedChoices { choices, places: OnceLock::new() }))
    }
}

impl Deref for Choices {
    type Target = [Choice];

    fn deref(&self) -> &[Choice] {
        &self.0.choices
    }
}

impl PartialEq for Choices {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_as_json_schema_compares_them() {
        let values = [json!("a"), json!(1), json!(null), json!({"a": 1, "b": [2]}), json!("1"), json!("a")];
        let choice = |value: &Value| Choice { value: value.clone(), title: None, description: None };
        let choices = Choices::from(values.iter().map(choice).collect::<Vec<_>>());
        let place = |text: &str| {
            let value: Value = serde_json::from_str(text).expect("JSON");
            choices.of_value(&value).and_then(|found| choices.iter().position(|choice| std::ptr::eq(choice, found)))
        };
        for (text, expected) in [
            ("\"a\"", Some(0)),
            ("1.0", Some(1)),
            ("10e-1", Some(1)),
            ("null", Some(2)),
            ("{\"b\": [2.0], \"a\": 1}", Some(3)),
            ("\"1\"", Some(4)),
            ("true", None),
            ("2", None),
        ] {
            assert_eq!(place(text), expected, "{text}");
        }
    }
}
