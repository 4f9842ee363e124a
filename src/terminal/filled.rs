use serde_json::{Map, Value};

/// What became of a form that a person was shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Filled {
    /// Filled and sent: the content, checked against the form.
    Accept(Map<String, Value>),
    /// An explicit no.
    Decline,
    /// Closed without an answer.
    Cancel,
    /// Taken back before it was answered.
    Withdrawn,
    /// It cannot be asked here, and why.
    Impossible(String),
}
