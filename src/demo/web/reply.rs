use std::convert::Infallible;

use futures_util::stream;
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Response, StatusCode,
    body::{Bytes, Frame as Chunk},
    header::{CONTENT_TYPE, HeaderValue},
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::task::AbortOnDropHandle;

use crate::protocol::{Frame, RpcError, code};

/// The body of a response.
pub(super) type DemoBody = UnsyncBoxBody<Bytes, Infallible>;

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Response<DemoBody> {
    response(status, None, Full::default().boxed_unsync())
}

/// A response that is one message.
pub(super) fn message(status: StatusCode, frame: &Frame) -> Response<DemoBody> {
    let body = Full::from(frame.bytes().to_vec()).boxed_unsync();
    response(status, Some("application/json"), body)
}

/// A refusal that does not answer a particular message.
pub(super) fn refusal(status: StatusCode, error: &RpcError) -> Response<DemoBody> {
    let body = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error.to_value()}).to_string();
    response(status, Some("application/json"), Full::from(body).boxed_unsync())
}

/// A stream of messages: `first`, then those that follow. `work` is ended when the client disconnects.
pub(super) fn messages(
    first: Frame,
    rest: UnboundedReceiver<Frame>,
    work: Option<AbortOnDropHandle<()>>,
) -> Response<DemoBody> {
    let state = (Some(first), rest, work);
    let events = stream::unfold(state, |(first, mut rest, work)| async move {
        let frame = match first {
            Some(frame) => frame,
            None => rest.recv().await?,
        };
        let event = [b"event: message\ndata: ", frame.bytes(), b"\n\n"].concat();
        Some((Ok::<_, Infallible>(Chunk::data(Bytes::from(event))), (None, rest, work)))
    });
    let mut response = response(StatusCode::OK, Some("text/event-stream"), StreamBody::new(events).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert("cache-control", HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The status of a modern response (2026-07-28, *Streamable HTTP*): errors about the request itself are refusals.
pub(super) fn status(frame: &Frame) -> StatusCode {
    let error = frame.body_value().ok().and_then(|body| body.get("code")?.as_i64());
    match error {
        Some(code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(code::UNSUPPORTED_VERSION | code::HEADER_MISMATCH | code::MISSING_CAPABILITY) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn response(status: StatusCode, kind: Option<&'static str>, body: DemoBody) -> Response<DemoBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if let Some(kind) = kind {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    response
}
