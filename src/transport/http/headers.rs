use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    protocol::header_value,
    transport::{Outgoing, TransportError},
};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Headers with secret values, marked so that no library shows them.
pub(super) fn configured(headers: &[(String, String)]) -> Result<HeaderMap, TransportError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let wrong = |what| {
            TransportError::Settings(format!("the header {name:?} cannot be used: its {what} is not allowed in HTTP"))
        };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("name"))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong("value"))?;
        value.set_sensitive(true);
        map.append(key, value);
    }
    Ok(map)
}

/// The headers that mirror a modern message (2026-07-28, *Streamable HTTP*, Request Metadata), `None` for a legacy one,
/// which has no revision in its `_meta`. They are taken from the message itself, so that the two can never differ.
pub(super) fn mirrored(out: &Outgoing) -> Option<HeaderMap> {
    let params: Params = serde_json::from_str(out.frame.body()?).ok()?;
    let version = params.meta?.version?;
    let method = out.frame.method()?;
    let mut map = HeaderMap::new();
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            map.insert(name, value);
        }
    };
    set(VERSION, &version);
    set(METHOD, method);
    let name = match method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id,
        _ => None,
    };
    if let Some(Value::String(name)) = name {
        set(NAME, &header_value(&name));
    }
    for (name, value) in &out.headers {
        if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
            set(name, value);
        }
    }
    Some(map)
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
    name: Option<Value>,
    uri: Option<Value>,
    #[serde(rename = "taskId")]
    task_id: Option<Value>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::{Frame, Id};

    fn headers(method: &str, params: &Value, extra: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        let frame = Frame::request(&Id::from(1), method, Some(params));
        let headers = extra.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let text = |value: &HeaderValue| value.to_str().expect("ASCII").to_owned();
        let map = mirrored(&Outgoing { frame, headers })?;
        Some(map.iter().map(|(name, value)| (name.to_string(), text(value))).collect())
    }

    #[test]
    fn modern_messages_are_mirrored_and_legacy_ones_are_not() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let call = json!({"name": "grüße", "arguments": {}, "_meta": meta});
        let mut got = headers("tools/call", &call, &[("Mcp-Param-Region", "eu")]).expect("modern");
        got.sort();
        let expected = [
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?Z3LDvMOfZQ==?="),
            ("mcp-param-region", "eu"),
            ("mcp-protocol-version", "2026-07-28"),
        ];
        assert_eq!(got, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let listed = headers("tools/list", &json!({"_meta": meta, "name": "x"}), &[]).expect("modern");
        assert!(!listed.iter().any(|(name, _)| name == "mcp-name"));
        assert_eq!(headers("tools/call", &json!({"name": "x", "_meta": {"progressToken": 1}}), &[]), None);
    }
}
