/// Why a value is not taken, or what is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", if key.is_empty() { reason.clone() } else { format!("{key}: {reason}") })]
pub struct FieldError {
    /// The field's key; empty when the whole content is meant.
    pub key: String,
    /// The rule that is broken: `17 is below 18`. Not made safe for a terminal.
    pub reason: String,
}

impl FieldError {
    /// The error of the field `key`.
    pub fn new(key: &str, reason: impl Into<String>) -> Self {
        Self { key: key.to_owned(), reason: reason.into() }
    }
}
