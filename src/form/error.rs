use super::fault::Fault;

/// Why a value is refused, or what is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", if key.is_empty() { reason.clone() } else { format!("{key}: {reason}") })]
pub struct FieldError {
    /// The field's key; empty for the whole content.
    pub key: String,
    /// The broken rule: `17 is below the minimum, 18`. Not yet safe for a terminal.
    pub reason: String,
}

impl FieldError {
    /// An error about the field `key`.
    pub fn new(key: &str, reason: impl Into<String>) -> Self {
        Self { key: key.to_owned(), reason: reason.into() }
    }
}

/// A fault in the whole content becomes an error of the field that it is in.
impl From<Fault> for FieldError {
    fn from(fault: Fault) -> Self {
        let path = fault.path.strip_prefix('/').unwrap_or_default();
        let (key, inside) = path.split_once('/').unwrap_or((path, ""));
        let key = key.replace("~1", "/").replace("~0", "~");
        let reason = if inside.is_empty() { fault.reason } else { format!("at /{inside}, {}", fault.reason) };
        Self { key, reason }
    }
}
