use serde_json::Value;

use crate::{
    client::{ClientError, ServerInfo},
    protocol::{Era, Frame, FrameKind, Revision, RpcError, code},
    transport::TransportError,
};

/// What the answer to `server/discover` says about a server (2026-07-28, *stdio*, Backward Compatibility).
#[derive(Debug)]
pub(super) enum Discovered {
    /// It is modern, and this is what it says about itself.
    Modern(ServerInfo),
    /// It does not know the request, or knows only our legacy revisions.
    Legacy,
    /// The connection cannot be used.
    Failed(ClientError),
}

/// Reads a response to `server/discover`.
pub(super) fn read(frame: &Frame) -> Discovered {
    let body = frame.body_value().unwrap_or_default();
    match frame.kind() {
        FrameKind::Error { .. } => read_error(&RpcError::from_value(&body)),
        _ => choose(body.get("supportedVersions"), |revision| ServerInfo::from_result(revision, &body)),
    }
}

/// What it means that `server/discover` could not be delivered.
pub(super) fn read_failure(error: TransportError) -> Discovered {
    match error {
        // 2026-07-28, *Streamable HTTP*, Backward Compatibility: a 4xx without a modern error. Old servers fail or hang
        // up in other ways, too; one that is down will also fail the handshake.
        TransportError::Http { .. }
        | TransportError::NoAnswer(_)
        | TransportError::Unreachable { connected: true, .. } => Discovered::Legacy,
        error => Discovered::Failed(ClientError::Connect(error)),
    }
}

fn read_error(error: &RpcError) -> Discovered {
    let supported = error.data.as_ref().and_then(|data| data.get("supported"));
    match error.code {
        code::UNSUPPORTED_VERSION => choose(supported, ServerInfo::new),
        code::HEADER_MISMATCH | code::MISSING_CAPABILITY => {
            Discovered::Modern(ServerInfo::new(Revision::NEWEST_MODERN))
        }
        _ => Discovered::Legacy,
    }
}

/// Chooses the newest revision of the server's list that we also speak.
fn choose(versions: Option<&Value>, info: impl FnOnce(Revision) -> ServerInfo) -> Discovered {
    let Some(Value::Array(list)) = versions else { return Discovered::Legacy };
    match list.iter().filter_map(|version| Revision::parse(version.as_str()?)).max() {
        Some(revision) if revision.era() == Era::Modern => Discovered::Modern(info(revision)),
        None if list.iter().any(Value::is_string) => {
            Discovered::Failed(ClientError::version(&Value::Array(list.clone())))
        }
        Some(_) | None => Discovered::Legacy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::with_causes;

    fn verdict(text: &str) -> String {
        let frame = Frame::parse(text.as_bytes().to_vec()).expect("a frame");
        match read(&frame) {
            Discovered::Modern(info) => format!("modern {}", info.revision),
            Discovered::Legacy => "legacy".into(),
            Discovered::Failed(error) => with_causes(&error),
        }
    }

    #[test]
    fn only_a_list_of_versions_or_a_modern_error_is_modern() {
        let cases = [
            (r#""result":{"supportedVersions":["2025-11-25","2026-07-28"]}"#, "modern 2026-07-28"),
            (r#""result":{"supportedVersions":["2025-11-25"]}"#, "legacy"),
            (r#""result":{"supportedVersions":[]}"#, "legacy"),
            (r#""result":{}"#, "legacy"),
            (r#""result":null"#, "legacy"),
            (r#""result":{"tools":[]}"#, "legacy"),
            (r#""error":{"code":-32022,"message":"","data":{"supported":["2026-07-28"]}}"#, "modern 2026-07-28"),
            (r#""error":{"code":-32022,"message":"","data":{"supported":["2025-06-18"]}}"#, "legacy"),
            (r#""error":{"code":-32022,"message":""}"#, "legacy"),
            (r#""error":{"code":-32021,"message":""}"#, "modern 2026-07-28"),
            (r#""error":{"code":-32601,"message":""}"#, "legacy"),
            (r#""error":{"code":-32000,"message":"Server not initialized"}"#, "legacy"),
            (r#""error":"no""#, "legacy"),
        ];
        for (body, expected) in cases {
            assert_eq!(verdict(&format!("{{\"id\":1,{body}}}")), expected, "{body}");
        }
        let other = r#"{"id":1,"error":{"code":-32022,"message":"","data":{"supported":["2027-01-01"]}}}"#;
        assert!(verdict(other).contains("the server offers 2027-01-01"));
    }
}
