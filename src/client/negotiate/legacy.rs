use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{
        ClientError, ServerInfo,
        capabilities::client_info,
        clock::Patience,
        conversation::{Manner, refusal},
        wire::{Wire, WireRequest},
    },
    protocol::{Era, Frame, FrameKind, Revision, RpcError},
    text::with_causes,
    transport::TransportError,
};

const METHOD: &str = "initialize";
/// How long to wait for the answer to `logging/setLevel`.
const LEVEL: Duration = Duration::from_secs(1);

/// The handshake (2025-11-25, *lifecycle*): offers `offered`, accepts any legacy revision, and tries once more with a
/// revision that a refusal names.
///
/// # Errors
/// [`ClientError::Version`] if the server wants a revision that we do not speak, otherwise why there is no answer.
pub(in crate::client) async fn initialize(
    wire: &Wire,
    manner: &Manner,
    offered: Revision,
    patience: Patience,
    stop: &CancellationToken,
) -> Result<ServerInfo, ClientError> {
    let mut answer = offer(wire, manner, offered, patience, stop).await;
    let named = match &answer {
        Ok(frame) => named_instead(frame, offered),
        Err(ClientError::Connect(TransportError::Http { status: 400, body, .. })) => named_in_words(body, offered),
        Err(_) => None,
    };
    if let Some(other) = named {
        answer = offer(wire, manner, other, patience, stop).await;
    }
    let frame = answer?;
    if let Some(error) = refusal(METHOD, &frame) {
        return Err(error);
    }
    let info = read(&frame)?;
    wire.agree(info.revision);
    wire.notify("notifications/initialized", None);
    if let Some(level) = manner.log_level.as_ref().filter(|_| info.declares("logging")) {
        set_level(wire, level, stop).await;
    }
    Ok(info)
}

async fn offer(
    wire: &Wire,
    manner: &Manner,
    revision: Revision,
    patience: Patience,
    stop: &CancellationToken,
) -> Result<Frame, ClientError> {
    let params = Map::from_iter([
        ("protocolVersion".to_owned(), json!(revision.as_str())),
        ("capabilities".to_owned(), manner.offer.capabilities(Era::Legacy)),
        ("clientInfo".to_owned(), client_info()),
    ]);
    // 2025-11-25, *cancellation*: `initialize` is never cancelled.
    let ask = WireRequest::new(METHOD, Some(params)).uncancellable();
    wire.request(ask, patience, None, stop).await.map_err(|failure| failure.into_error(METHOD, false))
}

fn read(frame: &Frame) -> Result<ServerInfo, ClientError> {
    let invalid = |reason: &str| ClientError::Invalid { method: METHOD.to_owned(), reason: reason.to_owned() };
    let result = frame.body_value().map_err(|error| invalid(&error.to_string()))?;
    let version = result.get("protocolVersion").ok_or_else(|| invalid("the result has no protocolVersion"))?;
    match version.as_str().and_then(Revision::parse) {
        Some(revision) if revision.era() == Era::Legacy => Ok(ServerInfo::from_result(revision, &result)),
        Some(revision) => Err(invalid(&format!("the result names {revision}, a revision without {METHOD}"))),
        _ => Err(ClientError::version(version)),
    }
}

/// The newest legacy revision that a refusal names in its data or its message, other than `offered`. A refusal because
/// of the version that names none comes from an old server, which speaks the oldest revision.
fn named_instead(frame: &Frame, offered: Revision) -> Option<Revision> {
    let FrameKind::Error { .. } = frame.kind() else { return None };
    let error = RpcError::from_value(&frame.body_value().ok()?);
    let supported = error.data.as_ref().and_then(|data| data.get("supported"));
    let words = supported.map_or_else(|| error.message.clone(), Value::to_string);
    let is_about_it = supported.is_none() && error.message.to_lowercase().contains("version");
    named_in_words(&words, offered).or(Some(Revision::V2024_11_05).filter(|oldest| is_about_it && *oldest != offered))
}

/// The newest legacy revision in `words` other than `offered`.
fn named_in_words(words: &str, offered: Revision) -> Option<Revision> {
    let is_other = |revision: &Revision| revision.era() == Era::Legacy && *revision != offered;
    Revision::ALL.into_iter().filter(is_other).rfind(|revision| words.contains(revision.as_str()))
}

/// Asks for log messages from `level` on (2025-11-25, *logging*). A server that refuses, or is slow to answer, logs as
/// it likes.
async fn set_level(wire: &Wire, level: &str, stop: &CancellationToken) {
    let params = Map::from_iter([("level".to_owned(), json!(level))]);
    let ask = WireRequest::new("logging/setLevel", Some(params)).uncancellable();
    let patience = Patience::at_most(wire.clock(), LEVEL);
    let refused = match wire.request(ask, patience, None, stop).await {
        Ok(frame) => refusal("logging/setLevel", &frame),
        // A lost connection is noticed by the next request.
        Err(_) => None,
    };
    if let Some(error) = refused {
        wire.setup().warn(format!("its log level could not be set: {}", with_causes(&error)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_may_name_another_revision() {
        let named = |text: &str| {
            let frame = Frame::parse(text.as_bytes().to_vec()).expect("a frame");
            named_instead(&frame, Revision::V2025_11_25)
        };
        let words =
            r#"{"id":1,"error":{"code":-32000,"message":"Unsupported protocol version (supported: 2025-06-18)"}}"#;
        assert_eq!(named(words), Some(Revision::V2025_06_18));
        let data =
            r#"{"id":1,"error":{"code":-32602,"message":"no 2025-11-25","data":{"supported":["2024-11-05","x"]}}}"#;
        assert_eq!(named(data), Some(Revision::V2024_11_05));
        assert_eq!(named(r#"{"id":1,"error":{"code":-32602,"message":"2025-11-25 is not for me"}}"#), None);
        let nothing = r#"{"id":1,"error":{"code":-32602,"message":"Unsupported protocol version"}}"#;
        assert_eq!(named(nothing), Some(Revision::V2024_11_05));
        assert_eq!(named(r#"{"id":1,"result":{}}"#), None);
    }
}
