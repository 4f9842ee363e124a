use serde_json::{Map, Value};

/// The outcome of showing a form to a person.
#[derive(Clone, Debug, PartialEq)]
pub enum Filled {
    /// Filled and sent: the content, checked against the form.
    Accept(Map<String, Value>),
    /// An explicit no.
    Decline,
    /// Closed without an answer.
    Cancel,
    /// Withdrawn before it was answered.
    Withdrawn,
    /// It cannot be asked here, with the reason.
    Impossible(String),
}
