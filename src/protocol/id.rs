use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// A JSON-RPC id. It keeps its JSON type: `7` and `"7"` are different ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Value", try_from = "Value")]
pub enum Id {
    /// A number, with its original digits.
    Number(Number),
    /// A string.
    String(String),
}

impl Id {
    /// The id in `value`, or `None` for anything but a string or a number.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::Number(number.clone())),
            Value::String(text) => Some(Self::String(text.clone())),
            _ => None,
        }
    }

    /// The whole number that a string spells, or that is written as `7.0`, as an id: what some peers make of a number.
    pub fn as_number(&self) -> Option<Self> {
        match self {
            Self::String(text) => text.parse::<u64>().ok().map(Self::from),
            Self::Number(number) => {
                let text = number.to_string();
                let (whole, rest) = text.split_once('.')?;
                let is_whole = !rest.is_empty() && rest.bytes().all(|digit| digit == b'0');
                is_whole.then(|| whole.parse::<u64>().ok().map(Self::from)).flatten()
            }
        }
    }

    /// Whether an answer with this id is one to the request `asked`.
    pub fn answers(&self, asked: &Self) -> bool {
        self == asked || self.as_number().as_ref() == Some(asked)
    }

    /// The id as JSON.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(text) => Value::String(text.clone()),
        }
    }
}

impl From<Id> for Value {
    fn from(id: Id) -> Self {
        id.to_value()
    }
}

impl TryFrom<Value> for Id {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        Self::from_value(&value).ok_or("an id is a string or a number")
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::String(text) => write!(f, "{text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::from_str;

    use super::*;

    #[test]
    fn a_number_is_known_again_in_other_spellings() {
        let asked = Id::from(7);
        for same in ["7", "\"7\"", "7.0", "7.00"] {
            assert!(from_str::<Id>(same).expect("an id").answers(&asked), "{same}");
        }
        for other in ["8", "\"7.0\"", "7.5", "-7.0", "\"x\"", "70"] {
            assert!(!from_str::<Id>(other).expect("an id").answers(&asked), "{other}");
        }
    }
}
