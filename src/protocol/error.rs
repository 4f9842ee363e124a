use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Error codes of JSON-RPC and MCP.
pub mod code {
    /// The message was not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The message was JSON, but not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Nobody serves this method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are wrong; also for an unknown tool.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something failed inside the peer.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// `HeaderMismatchError` (2026-07-28, *Streamable HTTP*).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// `MissingRequiredClientCapabilityError` (2026-07-28, *basic*).
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// `UnsupportedProtocolVersionError` (2026-07-28, *Versioning*).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// `URLElicitationRequiredError` (2025-11-25, *client/elicitation*).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// One of [`code`], or one of the peer's own.
    pub code: i64,
    /// The peer's words, not yet safe for a terminal.
    pub message: String,
    /// Whatever else the peer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The error with `data`.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// `-32601`, in JSON-RPC's words.
    pub fn method_not_found() -> Self {
        Self::new(code::METHOD_NOT_FOUND, "Method not found")
    }

    /// Reads an error object leniently: what is missing is filled in, so that no error is lost because of its shape.
    pub fn from_value(value: &Value) -> Self {
        let code = value.get("code").and_then(Value::as_i64).unwrap_or(code::INTERNAL_ERROR);
        let message = match value.get("message") {
            Some(Value::String(text)) => text.clone(),
            _ => value.to_string(),
        };
        Self { code, message, data: value.get("data").cloned() }
    }

    /// The error object `{code, message, data?}`.
    pub fn to_value(&self) -> Value {
        let mut object = Map::new();
        object.insert("code".into(), json!(self.code));
        object.insert("message".into(), json!(self.message));
        if let Some(data) = &self.data {
            object.insert("data".into(), data.clone());
        }
        Value::Object(object)
    }
}
