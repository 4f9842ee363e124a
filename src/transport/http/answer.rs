use std::time::{Duration, SystemTime};

use futures_util::StreamExt as _;
use reqwest::{
    Response,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use serde_json::{Value, value::RawValue};
use tokio::time::timeout;

use super::tls::innermost;
use crate::{
    protocol::{Frame, RpcError},
    text::with_causes,
    transport::{
        Limits, TransportError,
        sse::{Events, SseError},
    },
};

/// How many bytes of a refusal are read.
const REFUSAL: u64 = 1 << 20;
/// How many characters of a body are quoted.
const QUOTED: usize = 200;
/// Some servers write it before JSON.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The media type in lower case, without parameters; empty if there is none.
pub(super) fn media_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// How long the server asks us to wait: `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(SystemTime::now()).unwrap_or_default())
}

/// The events of a `text/event-stream` response.
pub(super) fn events(response: Response, limits: &Limits) -> Events {
    let bytes = response.bytes_stream().map(|chunk| chunk.map_err(|error| SseError::Cut(innermost(&error))));
    Events::new(bytes, limits.max_message)
}

/// The whole body of an answer.
///
/// # Errors
/// If it is too large, pauses for too long, or is cut off.
pub(super) async fn body(mut response: Response, limits: &Limits) -> Result<Vec<u8>, TransportError> {
    let too_large = TransportError::TooLarge { limit: limits.max_message };
    let announced = response.content_length().unwrap_or(0);
    if announced > limits.max_message {
        return Err(too_large);
    }
    // The announced length may be wrong: no more than this is reserved for it.
    let mut body = Vec::with_capacity(usize::try_from(announced.min(1 << 20)).unwrap_or(0));
    loop {
        let chunk = timeout(limits.between_bytes, response.chunk()).await;
        match chunk.map_err(|_| TransportError::Silent(limits.between_bytes))? {
            Ok(Some(chunk)) if (body.len() + chunk.len()) as u64 > limits.max_message => return Err(too_large),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => {
                return Err(TransportError::NoAnswer(format!("the answer was cut off: {}", innermost(&error))));
            }
        }
    }
}

/// The beginning of a refusal's body, as much of it as arrives.
pub(super) async fn refusal(mut response: Response, pause: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    while (body.len() as u64) < REFUSAL {
        match timeout(pause, response.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            _ => break,
        }
    }
    body
}

/// The messages in a body: one, or the batch of 2025-03-26.
pub(super) fn frames(mut body: Vec<u8>) -> Result<Vec<Frame>, (Vec<u8>, String)> {
    if body.starts_with(BYTE_ORDER_MARK) {
        body.drain(..BYTE_ORDER_MARK.len());
    }
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        let parts: Result<Vec<&RawValue>, _> = serde_json::from_slice(&body);
        let parsed = parts.map_err(|error| error.to_string()).and_then(|parts| {
            let parse = |part: &RawValue| Frame::parse(part.get().into()).map_err(|error| with_causes(&error));
            parts.into_iter().map(parse).collect()
        });
        return parsed.map_err(|reason| (body, reason));
    }
    let kept = quote(&body);
    Frame::parse(body).map(|frame| vec![frame]).map_err(|error| (kept.into_bytes(), with_causes(&error)))
}

/// The JSON-RPC error in the body of a refusal. Many web servers answer `{"error": "…"}`, which is not one.
pub(super) fn rpc_error(body: &[u8]) -> Option<RpcError> {
    let message: Value = serde_json::from_slice(body).ok()?;
    let error = message.get("error")?;
    error.get("code")?.as_i64()?;
    Some(RpcError::from_value(error))
}

/// The beginning of a body on one line, for an error message. Not yet safe for a terminal.
pub(super) fn quote(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * QUOTED)]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_rpc_errors_are_errors() {
        let body = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
        assert_eq!(rpc_error(body), Some(RpcError::new(-32000, "no")));
        for body in [r#"{"error":"Not found"}"#, r#"{"detail":"Not Found"}"#, "<html>", "", r#"{"error":{"code":"x"}}"#]
        {
            assert_eq!(rpc_error(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn batches_are_taken_apart() {
        let batch = br#" [{"id":1,"result":{}}, {"method":"notifications/message"}]"#;
        assert_eq!(frames(batch.to_vec()).expect("two messages").len(), 2);
        assert!(frames(b"[1]".to_vec()).is_err());
        assert!(frames(b"<!doctype html>".to_vec()).is_err());
    }

    #[test]
    fn quotes_are_short_and_on_one_line() {
        assert_eq!(quote(b"<html>\n  <b>x</b>"), "<html> <b>x</b>");
        assert_eq!(quote("é".repeat(500).as_bytes()).chars().count(), QUOTED + 1);
    }
}
