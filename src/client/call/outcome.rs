use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, value::RawValue};

use super::PendingInput;
use crate::client::ClientError;

/// The type of a modern server's result (2026-07-28, *basic*, ResultType).
#[derive(Debug)]
pub(super) enum ResultType {
    /// The final one.
    Complete,
    /// More input is needed first.
    InputRequired(InputRequired),
    /// A task will produce it.
    Task(Box<TaskState>),
}

/// `InputRequiredResult` (2026-07-28, *mrtr*).
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InputRequired {
    /// The server's questions, in its order.
    pub(super) inputs: Vec<PendingInput>,
    /// `requestState` as received.
    pub(super) state: Option<Value>,
}

/// A server's task, of either era, read leniently.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TaskState {
    /// Empty where it is not text.
    #[serde(rename = "taskId", default, deserialize_with = "text")]
    pub(super) id: String,
    /// In small letters, whatever the server writes; empty where it is not text.
    #[serde(default, deserialize_with = "small_letters")]
    pub(super) status: String,
    #[serde(rename = "statusMessage", default)]
    pub(super) message: Option<Value>,
    /// Milliseconds, in 2026-07-28.
    #[serde(rename = "pollIntervalMs", default)]
    pub(super) poll: Option<Value>,
    /// The same in 2025-11-25; some servers send both.
    #[serde(rename = "pollInterval", default)]
    pub(super) old_poll: Option<Value>,
    /// Milliseconds from its creation until the server forgets it, in 2026-07-28.
    #[serde(rename = "ttlMs", default)]
    pub(super) ttl: Option<Value>,
    /// The same in 2025-11-25.
    #[serde(rename = "ttl", default)]
    pub(super) old_ttl: Option<Value>,
    #[serde(rename = "inputRequests", default)]
    pub(super) inputs: Option<Value>,
    #[serde(default)]
    pub(super) result: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().unwrap_or_default().to_owned())
}

fn small_letters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(text(deserializer)?.to_ascii_lowercase())
}

#[derive(Deserialize)]
struct ResultHead {
    #[serde(rename = "resultType", default)]
    result_type: Option<Value>,
}

#[derive(Deserialize)]
struct InputRequiredResult {
    #[serde(rename = "inputRequests", default)]
    inputs: Option<Value>,
    #[serde(rename = "requestState", default)]
    state: Option<Value>,
}

/// Reads the result of `method`. A missing `resultType` means `complete`.
///
/// # Errors
/// [`ClientError::Invalid`] for an unknown `resultType`, or for an `input_required` that requires nothing.
pub(super) fn read(method: &str, result: &RawValue) -> Result<ResultType, ClientError> {
    let invalid = |reason: String| ClientError::Invalid { method: method.to_owned(), reason };
    let unreadable = |error: serde_json::Error| invalid(format!("the result cannot be read: {error}"));
    // A result that is not an object has no type either, and is passed on unchanged.
    let head = serde_json::from_str::<ResultHead>(result.get()).unwrap_or(ResultHead { result_type: None });
    match head.result_type {
        None | Some(Value::Null) => Ok(ResultType::Complete),
        Some(Value::String(kind)) => match kind.as_str() {
            "complete" => Ok(ResultType::Complete),
            "input_required" => {
                let asking: InputRequiredResult = serde_json::from_str(result.get()).map_err(unreadable)?;
                let inputs = read_inputs(asking.inputs).map_err(invalid)?;
                if inputs.is_empty() && asking.state.is_none() {
                    return Err(invalid("the result requires input but does not say which".into()));
                }
                Ok(ResultType::InputRequired(InputRequired { inputs, state: asking.state }))
            }
            "task" => {
                let task: TaskState = serde_json::from_str(result.get()).map_err(unreadable)?;
                if task.id.is_empty() {
                    return Err(invalid("the result is a task without a taskId".into()));
                }
                Ok(ResultType::Task(Box::new(task)))
            }
            other => Err(invalid(format!("the result has the unknown type {other:?}"))),
        },
        Some(other) => Err(invalid(format!("the result has the unknown type {other}"))),
    }
}

/// The entries of `inputRequests`, in the server's order.
///
/// # Errors
/// If it is not an object of objects; in our words.
pub(super) fn read_inputs(inputs: Option<Value>) -> Result<Vec<PendingInput>, String> {
    let entries: Map<String, Value> = match inputs {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(entries)) => entries,
        Some(_) => return Err("inputRequests is not an object".into()),
    };
    let read = |(key, input): (String, Value)| match input {
        Value::Object(input) => Ok(PendingInput { key, input, request: None, response: None }),
        _ => Err(format!("the input request {key:?} is not an object")),
    };
    entries.into_iter().map(read).collect()
}

impl PendingInput {
    /// Its method.
    pub(super) fn method(&self) -> &str {
        self.input.get("method").and_then(Value::as_str).unwrap_or_default()
    }

    /// Its params.
    pub(super) fn params(&self) -> &Value {
        self.input.get("params").unwrap_or(&Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str) -> Result<ResultType, String> {
        let raw = RawValue::from_string(text.to_owned()).expect("JSON");
        read("tools/call", &raw).map_err(|error| error.to_string())
    }

    #[test]
    fn result_types_are_told_apart() {
        for text in ["{}", "7", r#"{"resultType":"complete"}"#, r#"{"resultType":null,"content":[]}"#] {
            assert!(matches!(outcome(text), Ok(ResultType::Complete)), "{text}");
        }
        assert!(matches!(outcome(r#"{"resultType":"task","taskId":"1","status":"working"}"#), Ok(ResultType::Task(_))));
        for text in [
            r#"{"resultType":"later"}"#,
            r#"{"resultType":7}"#,
            r#"{"resultType":"task"}"#,
            r#"{"resultType":"input_required"}"#,
            r#"{"resultType":"input_required","inputRequests":{}}"#,
            r#"{"resultType":"input_required","inputRequests":[]}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":1}}"#,
        ] {
            assert!(outcome(text).is_err(), "{text}");
        }
    }

    #[test]
    fn questions_keep_their_order_and_the_state_its_shape() {
        let text = r#"{"resultType":"input_required","requestState":"\u0061/=","inputRequests":{"b":{},"a":{}}}"#;
        let Ok(ResultType::InputRequired(asking)) = outcome(text) else { panic!("input required") };
        assert_eq!(asking.state, Some(Value::String("a/=".into())));
        assert_eq!(asking.inputs.iter().map(|input| input.key.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    }
}
