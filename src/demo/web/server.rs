use std::{convert::Infallible, io, sync::Arc};

use futures_util::{FutureExt as _, future::BoxFuture};
use http_body_util::{BodyExt as _, Limited};
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, header::HeaderValue, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpListener, sync::mpsc};
use tokio_util::task::AbortOnDropHandle;

use super::{
    checks,
    reply::{self, DemoBody},
    sessions::{Membership, Sessions},
};
use crate::{
    demo::{DemoOutbox, DemoSession},
    protocol::{Frame, FrameKind, RpcError, code},
    text::with_causes,
};

/// The largest message, in bytes.
const MAX_MESSAGE: usize = 16 << 20;

/// One client's conversation with a server, independent of the transport.
pub trait DemoConversation: Send + Sync {
    /// Handles one message; the response, and what belongs to it, goes to `out`.
    fn receive(self: Arc<Self>, frame: Frame, out: DemoOutbox) -> BoxFuture<'static, ()>;
}

impl DemoConversation for DemoSession {
    fn receive(self: Arc<Self>, frame: Frame, out: DemoOutbox) -> BoxFuture<'static, ()> {
        Self::receive(self, frame, out).boxed()
    }
}

/// Serves Streamable HTTP of both eras at `/mcp` until the process ends: a session for each legacy client, a new
/// conversation for each modern request.
///
/// # Errors
/// If connections cannot be accepted.
pub async fn serve_http(
    listener: TcpListener,
    open: impl Fn() -> Arc<dyn DemoConversation> + Send + Sync + 'static,
) -> io::Result<()> {
    let sessions = Arc::new(Sessions::new(open));
    loop {
        let (stream, _) = listener.accept().await?;
        let sessions = Arc::clone(&sessions);
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let sessions = Arc::clone(&sessions);
                async move { Ok::<_, Infallible>(answer(&sessions, request).await) }
            });
            // If a client disconnects, there is nothing to do.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn answer(sessions: &Sessions, request: Request<Incoming>) -> Response<DemoBody> {
    let (head, body) = request.into_parts();
    if !checks::is_local(&head.headers) {
        let error = RpcError::new(code::INVALID_REQUEST, "Only requests from this machine are allowed");
        return reply::refusal(StatusCode::FORBIDDEN, &error);
    }
    if head.uri.path() != "/mcp" {
        return reply::empty(StatusCode::NOT_FOUND);
    }
    match head.method {
        Method::POST => {}
        Method::DELETE if sessions.end(&head.headers) => return reply::empty(StatusCode::NO_CONTENT),
        _ => return reply::empty(StatusCode::METHOD_NOT_ALLOWED),
    }
    let Ok(body) = Limited::new(body, MAX_MESSAGE).collect().await else {
        return reply::empty(StatusCode::PAYLOAD_TOO_LARGE);
    };
    let frame = match Frame::parse(body.to_bytes().to_vec()) {
        Ok(frame) => frame,
        Err(error) => {
            let error =
                RpcError::new(code::PARSE_ERROR, format!("the message cannot be read: {}", with_causes(&error)));
            return reply::refusal(StatusCode::BAD_REQUEST, &error);
        }
    };
    let params = frame.body_value().unwrap_or_default();
    let says_modern = head.headers.get("mcp-protocol-version").is_some_and(|version| version == "2026-07-28");
    if says_modern || checks::modern_version(&params).is_some() {
        return modern(sessions, &head.headers, frame, &params).await;
    }
    legacy(sessions, &head.headers, frame).await
}

/// One request of 2026-07-28. It ends when the client disconnects.
async fn modern(sessions: &Sessions, headers: &hyper::HeaderMap, frame: Frame, params: &Value) -> Response<DemoBody> {
    let FrameKind::Request { id, .. } = frame.kind().clone() else { return reply::empty(StatusCode::ACCEPTED) };
    if let Err(error) = checks::mirror(headers, &frame, params) {
        return reply::message(StatusCode::BAD_REQUEST, &Frame::error(&id, &error));
    }
    let (out, mut frames) = outbox();
    let work = AbortOnDropHandle::new(tokio::spawn(sessions.single().receive(frame, out)));
    match frames.recv().await {
        None => reply::empty(StatusCode::INTERNAL_SERVER_ERROR),
        Some(first) if first.id() == Some(&id) && first.method().is_none() => {
            reply::message(reply::status(&first), &first)
        }
        Some(first) => reply::messages(first, frames, Some(work)),
    }
}

/// One message of an earlier revision. Its work continues when the client disconnects.
async fn legacy(sessions: &Sessions, headers: &hyper::HeaderMap, frame: Frame) -> Response<DemoBody> {
    if !checks::knows_revision(headers) {
        let error = RpcError::new(code::INVALID_REQUEST, "Unsupported MCP-Protocol-Version");
        return reply::refusal(StatusCode::BAD_REQUEST, &error);
    }
    if frame.method() == Some("initialize") {
        let Some((id, conversation)) = sessions.begin() else {
            return reply::empty(StatusCode::INTERNAL_SERVER_ERROR);
        };
        let mut response = exchange(conversation, frame).await;
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert("mcp-session-id", id);
        }
        return response;
    }
    match sessions.find(headers) {
        Membership::Member(conversation) => exchange(conversation, frame).await,
        // A newer client's probe has no session yet.
        Membership::Nameless if frame.method() == Some("server/discover") => exchange(sessions.single(), frame).await,
        Membership::Nameless => {
            let error = RpcError::new(code::INVALID_REQUEST, "Mcp-Session-Id is missing");
            reply::refusal(StatusCode::BAD_REQUEST, &error)
        }
        Membership::Unknown => {
            reply::refusal(StatusCode::NOT_FOUND, &RpcError::new(code::INVALID_REQUEST, "Session not found"))
        }
    }
}

async fn exchange(conversation: Arc<dyn DemoConversation>, frame: Frame) -> Response<DemoBody> {
    let FrameKind::Request { id, .. } = frame.kind().clone() else {
        let nobody: DemoOutbox = Arc::new(|_| {});
        conversation.receive(frame, nobody).await;
        return reply::empty(StatusCode::ACCEPTED);
    };
    let (out, mut frames) = outbox();
    tokio::spawn(conversation.receive(frame, out));
    match frames.recv().await {
        // The call was cancelled before it sent anything.
        None => reply::empty(StatusCode::NO_CONTENT),
        Some(first) if first.id() == Some(&id) && first.method().is_none() => reply::message(StatusCode::OK, &first),
        Some(first) => reply::messages(first, frames, None),
    }
}

fn outbox() -> (DemoOutbox, mpsc::UnboundedReceiver<Frame>) {
    let (sender, frames) = mpsc::unbounded_channel();
    let out: DemoOutbox = Arc::new(move |frame| {
        // Nobody reads any more when the client is gone.
        drop(sender.send(frame));
    });
    (out, frames)
}
