use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer to a [`Request`](super::Request). Its JSON has exactly these keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the request.
    pub id: String,
    /// Whether the person agreed.
    pub ok: bool,
    /// What was entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Why not: `declined` is an explicit no, anything else means that the question was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Answer {
    /// Agreed, with `data` if something was entered.
    pub fn accept(id: &str, data: Option<Value>) -> Self {
        make_answer(id, true, data)
    }

    /// An explicit no.
    pub fn decline(id: &str) -> Self {
        Self { reason: Some("declined".to_owned()), ..make_answer(id, false, None) }
    }

    /// Closed without an answer.
    pub fn cancel(id: &str) -> Self {
        Self { reason: Some("cancelled".to_owned()), ..make_answer(id, false, None) }
    }
}

/// Builds an [`Answer`] without a reason.
///
/// ```
/// let answer = toolnexus::elicitation::make_answer("elc-1-1", true, Some(serde_json::json!({"name": "muthu"})));
/// assert_eq!(serde_json::to_string(&answer).unwrap(), r#"{"id":"elc-1-1","ok":true,"data":{"name":"muthu"}}"#);
/// ```
pub fn make_answer(id: impl Into<String>, ok: bool, data: Option<Value>) -> Answer {
    Answer { id: id.into(), ok, data, reason: None }
}
