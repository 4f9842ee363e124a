use hyper::{HeaderMap, header};
use serde_json::Value;

use crate::protocol::{Frame, Revision, RpcError, code, header_text};

/// Whether a request comes from this machine and not from somebody else's web page (2026-07-28, *Streamable HTTP*,
/// Security): `Host` and, if present, `Origin` are loopback.
pub(super) fn is_local(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let origin = text(header::ORIGIN);
    let origin_host = origin.map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
    text(header::HOST).is_none_or(is_loopback) && origin_host.is_none_or(is_loopback)
}

/// Whether `HOST[:PORT]` is this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// The revision in `_meta` of a modern request.
pub(super) fn modern_version(params: &Value) -> Option<&str> {
    params.get("_meta")?.get("io.modelcontextprotocol/protocolVersion")?.as_str()
}

/// Checks that a modern request has its metadata, and that the headers mirror the body (2026-07-28, *Streamable HTTP*,
/// Server Validation).
pub(super) fn mirror(headers: &HeaderMap, frame: &Frame, params: &Value) -> Result<(), RpcError> {
    let capabilities = params.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities"));
    if modern_version(params).is_none() || capabilities.is_none() {
        return Err(RpcError::new(
            code::INVALID_PARAMS,
            "_meta lacks the protocol version or the client's capabilities",
        ));
    }
    let mismatch = |name: &str| {
        RpcError::new(code::HEADER_MISMATCH, format!("Header mismatch: {name} is missing or differs from the body"))
    };
    let equals = |name: &str, expected: Option<&str>| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        if value.is_some() && value == expected { Ok(()) } else { Err(mismatch(name)) }
    };
    equals("MCP-Protocol-Version", modern_version(params))?;
    equals("Mcp-Method", frame.method())?;
    let named = match frame.method() {
        Some("tools/call" | "prompts/get") => params.get("name"),
        Some("resources/read") => params.get("uri"),
        _ => None,
    };
    if let Some(name) = named.and_then(Value::as_str) {
        let sent = headers.get("Mcp-Name").and_then(|value| value.to_str().ok()).and_then(header_text);
        if sent.as_deref() != Some(name) {
            return Err(mismatch("Mcp-Name"));
        }
    }
    Ok(())
}

/// Whether a legacy request names a revision that we speak, or none.
pub(super) fn knows_revision(headers: &HeaderMap) -> bool {
    let version = headers.get("MCP-Protocol-Version").map(|value| value.to_str().unwrap_or_default());
    version.is_none_or(|version| Revision::parse(version).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::Id;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value"))).collect()
    }

    #[test]
    fn only_this_machine_may_ask() {
        for host in ["localhost", "localhost:80", "127.0.0.1:3000", "[::1]:3000", "[::1]"] {
            assert!(is_local(&headers(&[("host", host)])), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "192.168.0.1:80", ""] {
            assert!(!is_local(&headers(&[("host", host)])), "{host}");
            let origin = format!("http://{host}");
            assert!(!is_local(&headers(&[("host", "localhost"), ("origin", &origin)])), "{origin}");
        }
        assert!(is_local(&headers(&[("host", "localhost"), ("origin", "http://localhost:8080")])));
        assert!(!is_local(&headers(&[("host", "localhost"), ("origin", "null")])));
    }

    #[test]
    fn headers_mirror_the_body() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": "grüße", "_meta": meta});
        let frame = Frame::request(&Id::from(1), "tools/call", Some(&params));
        let good = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?Z3LDvMOfZQ==?="),
        ];
        assert!(mirror(&headers(&good), &frame, &params).is_ok());
        for missing in 0..3 {
            let rest: Vec<_> = good.iter().enumerate().filter(|(n, _)| *n != missing).map(|(_, pair)| *pair).collect();
            assert!(mirror(&headers(&rest), &frame, &params).is_err());
            let mut wrong = good;
            wrong[missing].1 = "other";
            assert!(mirror(&headers(&wrong), &frame, &params).is_err());
        }
    }
}
