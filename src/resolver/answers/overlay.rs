use serde_json::Value;

use super::AnswersError;
use crate::form::Field;

/// `--answer` options: values for fields by name, which override a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// The options, in order. A repeated key gives the values of a list, and is an error for other fields.
    pub typed: Vec<(String, TypedAnswer)>,
}

/// The value of one `--answer`.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedAnswer {
    /// `KEY=TEXT`: what a person would type into the field.
    Text(String),
    /// `KEY:=JSON`: the value itself.
    Json(Value),
}

impl Overlay {
    /// Reads `KEY=TEXT` and `KEY:=JSON`, split at the first `=`.
    ///
    /// # Errors
    /// [`AnswersError::Typed`] for anything else.
    pub fn parse(options: &[String]) -> Result<Self, AnswersError> {
        let one = |text: &String| {
            let wrong = |reason: &str| AnswersError::Typed { text: text.clone(), reason: reason.to_owned() };
            let (key, value) = text.split_once('=').ok_or_else(|| wrong("expected KEY=TEXT or KEY:=JSON"))?;
            let (key, typed) = match key.strip_suffix(':') {
                Some(key) => {
                    let json =
                        serde_json::from_str(value).map_err(|error| wrong(&format!("no JSON after `:=`: {error}")))?;
                    (key, TypedAnswer::Json(json))
                }
                None => (key, TypedAnswer::Text(value.to_owned())),
            };
            if key.is_empty() { Err(wrong("it has no field name")) } else { Ok((key.to_owned(), typed)) }
        };
        Ok(Self { typed: options.iter().map(one).collect::<Result<_, _>>()? })
    }

    /// The keys that are named.
    pub(super) fn keys(&self) -> Vec<&String> {
        self.typed.iter().map(|(key, _)| key).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.typed.is_empty()
    }

    /// The value for `field`, if there is one. Text is read like text that a person types, except that commas separate
    /// only choices.
    pub(super) fn value(&self, field: &Field) -> Option<Result<Value, String>> {
        let given: Vec<&TypedAnswer> =
            self.typed.iter().filter(|(key, _)| *key == field.key).map(|(_, typed)| typed).collect();
        match given.as_slice() {
            [] => return None,
            [TypedAnswer::Json(value)] => return Some(Ok(value.clone())),
            [TypedAnswer::Text(text)] if !field.is_free_list() => {
                return Some(field.parse(text).map_err(|error| error.reason));
            }
            _ if !field.takes_several() => return Some(Err("given twice, but it takes only one value".to_owned())),
            _ => {}
        }
        let all = given.into_iter().map(|typed| match typed {
            TypedAnswer::Json(Value::Array(values)) => Ok(values.clone()),
            TypedAnswer::Json(value) => Ok(vec![value.clone()]),
            TypedAnswer::Text(text) => field.parse_some(text).map_err(|error| error.reason),
        });
        let lists: Result<Vec<Vec<Value>>, String> = all.collect();
        Some(lists.map(|lists| lists.concat().into()))
    }
}
