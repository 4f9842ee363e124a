use std::{fmt, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Map, Value, json, value::RawValue};

use super::{Id, RpcError};

/// One JSON-RPC message: the bytes as they were received or will be sent, and the parsed head.
///
/// What is inside `params`, `result` or `error` is parsed on demand and leniently, so that one odd part never loses a
/// message. What is passed on are the peer's own bytes.
#[derive(Clone)]
pub struct Frame {
    bytes: Vec<u8>,
    kind: FrameKind,
    body: Option<Range<usize>>,
}

/// What a frame is.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameKind {
    /// A method with an id: expects a response.
    Request {
        /// The id to answer under.
        id: Id,
        /// The method's name.
        method: String,
    },
    /// A method without an id.
    Notification {
        /// The method's name.
        method: String,
    },
    /// A `result` for our request.
    Response {
        /// The id of the request.
        id: Id,
    },
    /// An `error` for our request, or for one that the peer could not identify.
    Error {
        /// The id of the request; `None` if it is `null` or missing.
        id: Option<Id>,
    },
}

/// Why bytes are not a frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Not JSON, or not a JSON object.
    #[error("it is not a JSON object")]
    NotJson(#[from] serde_json::Error),
    /// An object, but neither a request, a notification nor a response.
    #[error("it has no method, result or error")]
    NotRpc,
    /// A result for no request.
    #[error("it has a result but no id, which says for which request")]
    NoId,
}

impl Frame {
    /// Parses one message. `jsonrpc` may be missing; if a key is repeated, the last one counts.
    ///
    /// # Errors
    /// [`FrameError`] for bytes that are not JSON or not a JSON-RPC message.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, FrameError> {
        let envelope: Envelope<'_> = serde_json::from_slice(&bytes)?;
        let id = envelope.id.as_ref().and_then(Id::from_value);
        // Some servers answer with the method beside the result.
        let is_answer = id.is_some() && (envelope.result.is_some() || envelope.error.is_some());
        let (kind, body) = match (envelope.method.filter(|_| !is_answer), id) {
            (Some(method), Some(id)) => (FrameKind::Request { id, method }, envelope.params),
            (Some(method), None) => (FrameKind::Notification { method }, envelope.params),
            (None, id) if envelope.error.is_some() => (FrameKind::Error { id }, envelope.error),
            (None, Some(id)) if envelope.result.is_some() => (FrameKind::Response { id }, envelope.result),
            (None, None) if envelope.result.is_some() => return Err(FrameError::NoId),
            (None, _) => return Err(FrameError::NotRpc),
        };
        let body = body.map(|raw| {
            let start = raw.get().as_ptr().addr() - bytes.as_ptr().addr();
            start..start + raw.get().len()
        });
        Ok(Self { bytes, kind, body })
    }

    /// The request `{jsonrpc, id, method, params?}`.
    pub fn request(id: &Id, method: &str, params: Option<&Value>) -> Self {
        Self::build(Some(id), Some(method), params.map(|params| ("params", params)))
    }

    /// The notification `{jsonrpc, method, params?}`.
    pub fn notification(method: &str, params: Option<&Value>) -> Self {
        Self::build(None, Some(method), params.map(|params| ("params", params)))
    }

    /// The response `{jsonrpc, id, result}`.
    pub fn result(id: &Id, result: &Value) -> Self {
        Self::build(Some(id), None, Some(("result", result)))
    }

    /// The response `{jsonrpc, id, error}`.
    pub fn error(id: &Id, error: &RpcError) -> Self {
        Self::build(Some(id), None, Some(("error", &error.to_value())))
    }

    fn build(id: Option<&Id>, method: Option<&str>, body: Option<(&str, &Value)>) -> Self {
        let mut object = Map::new();
        object.insert("jsonrpc".into(), json!("2.0"));
        if let Some(id) = id {
            object.insert("id".into(), id.to_value());
        }
        if let Some(method) = method {
            object.insert("method".into(), json!(method));
        }
        let head = Value::Object(object).to_string();
        let mut bytes = head.into_bytes();
        let mut range = None;
        if let Some((key, value)) = body {
            bytes.pop();
            bytes.extend_from_slice(format!(",\"{key}\":").as_bytes());
            let start = bytes.len();
            bytes.extend_from_slice(value.to_string().as_bytes());
            range = Some(start..bytes.len());
            bytes.push(b'}');
        }
        let kind = match (id.cloned(), method, body) {
            (Some(id), Some(method), _) => FrameKind::Request { id, method: method.to_owned() },
            (None, Some(method), _) => FrameKind::Notification { method: method.to_owned() },
            (id, None, Some(("error", _))) => FrameKind::Error { id },
            (Some(id), None, _) => FrameKind::Response { id },
            (None, None, _) => FrameKind::Error { id: None },
        };
        Self { bytes, kind, body: range }
    }

    /// What the frame is.
    pub fn kind(&self) -> &FrameKind {
        &self.kind
    }

    /// The whole message, without a line end.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The method of a request or notification.
    pub fn method(&self) -> Option<&str> {
        match &self.kind {
            FrameKind::Request { method, .. } | FrameKind::Notification { method } => Some(method),
            FrameKind::Response { .. } | FrameKind::Error { .. } => None,
        }
    }

    /// The id, if there is one.
    pub fn id(&self) -> Option<&Id> {
        match &self.kind {
            FrameKind::Request { id, .. } | FrameKind::Response { id } => Some(id),
            FrameKind::Error { id } => id.as_ref(),
            FrameKind::Notification { .. } => None,
        }
    }

    /// The bytes of `params`, `result` or `error`, whichever the frame has.
    pub fn body(&self) -> Option<&str> {
        // The range was taken from a `RawValue`, or written by `build`, so it is valid UTF-8.
        self.body.clone().and_then(|range| std::str::from_utf8(&self.bytes[range]).ok())
    }

    /// The bytes of the body, without copying them.
    pub fn into_body(mut self) -> Option<Box<RawValue>> {
        let body = self.body.take()?;
        self.bytes.truncate(body.end);
        self.bytes.drain(..body.start);
        RawValue::from_string(String::from_utf8(self.bytes).ok()?).ok()
    }

    /// The parsed body; `Value::Null` if there is none.
    ///
    /// # Errors
    /// If the body is not JSON.
    pub fn body_value(&self) -> Result<Value, serde_json::Error> {
        self.body().map_or(Ok(Value::Null), serde_json::from_str)
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({})", String::from_utf8_lossy(&self.bytes))
    }
}

#[derive(Default)]
struct Envelope<'a> {
    id: Option<Value>,
    method: Option<String>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EnvelopeVisitor;
        impl<'de> Visitor<'de> for EnvelopeVisitor {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "id" => envelope.id = Some(map.next_value()?),
                        "method" => envelope.method = map.next_value::<Value>()?.as_str().map(str::to_owned),
                        "params" => envelope.params = Some(map.next_value()?),
                        "result" => envelope.result = Some(map.next_value()?),
                        "error" => {
                            let raw: &RawValue = map.next_value()?;
                            envelope.error = (raw.get() != "null").then_some(raw);
                        }
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Frame {
        Frame::parse(text.as_bytes().to_vec()).expect("a frame")
    }

    #[test]
    fn ids_keep_their_type() {
        assert_eq!(parse(r#"{"id":"7","method":"ping"}"#).id(), Some(&Id::from("7")));
        assert_eq!(parse(r#"{"id":7,"method":"ping"}"#).id(), Some(&Id::from(7)));
    }

    #[test]
    fn an_answer_that_names_its_method_is_an_answer() {
        let answer = parse(r#"{"id":7,"method":"initialize","result":{}}"#);
        assert_eq!(answer.kind(), &FrameKind::Response { id: Id::from(7) });
        let without = Frame::parse(br#"{"id":null,"result":{}}"#.to_vec()).expect_err("no answer");
        assert_eq!(without.to_string(), "it has a result but no id, which says for which request");
    }

    #[test]
    fn body_is_the_bytes_as_received() {
        let frame = parse(r#"{"jsonrpc":"2.0", "id":1, "result": {"a" : 1.0,"a":10000000000000000000000 } }"#);
        assert_eq!(frame.body(), Some(r#"{"a" : 1.0,"a":10000000000000000000000 }"#));
        assert_eq!(frame.kind(), &FrameKind::Response { id: Id::from(1) });
        assert_eq!(frame.into_body().expect("a body").get(), r#"{"a" : 1.0,"a":10000000000000000000000 }"#);
    }

    #[test]
    fn of_a_repeated_key_the_last_one_counts() {
        assert_eq!(parse(r#"{"id":1,"id":2,"result":{}}"#).id(), Some(&Id::from(2)));
    }

    #[test]
    fn a_null_error_next_to_a_result_is_ignored() {
        let frame = parse(r#"{"id":1,"error":null,"result":{}}"#);
        assert_eq!(frame.kind(), &FrameKind::Response { id: Id::from(1) });
    }

    #[test]
    fn what_is_not_json_rpc_is_refused() {
        for text in ["Ready on stdio", "[1]", "12", "\"x\"", "{}", "{\"id\":1}", ""] {
            assert!(Frame::parse(text.as_bytes().to_vec()).is_err(), "{text}");
        }
    }

    #[test]
    fn built_frames_parse_back() {
        let params = json!({"name": "greet"});
        let built = Frame::request(&Id::from("a\n"), "tools/call", Some(&params));
        let parsed = Frame::parse(built.bytes().to_vec()).expect("a frame");
        assert_eq!(parsed.kind(), built.kind());
        assert_eq!(parsed.body(), built.body());
        assert_eq!(built.body_value().expect("JSON"), params);
        let error = Frame::error(&Id::from(1), &RpcError::method_not_found());
        assert_eq!(error.kind(), &FrameKind::Error { id: Some(Id::from(1)) });
    }
}
