use std::{sync::Arc, time::Duration};

use reqwest::{
    Method,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    answer,
    fetch::{Fetched, HttpPeer, HttpRequest, challenge},
    listen::Cursor,
};
use crate::{
    protocol::{Frame, FrameKind, Id, RpcError},
    transport::{Incoming, Junk, Outgoing, TransportError, is_passing},
};

/// How long other messages wait until the last message of a handshake is accepted.
const HANDSHAKE_WAIT: Duration = Duration::from_secs(2);

/// A message to be sent.
pub(super) struct Post {
    pub(super) out: Outgoing,
    /// The headers for a modern message; `None` for a legacy one.
    pub(super) mirrored: Option<HeaderMap>,
    /// Fires when this message may be sent.
    pub(super) gate: CancellationToken,
    /// Lets later messages be sent when dropped.
    pub(super) opens: Option<DropGuard>,
}

impl HttpPeer {
    /// Sends a message, and handles the response.
    pub(super) async fn exchange(self: Arc<Self>, mut post: Post) {
        post.gate.cancelled().await;
        let mut opens = post.opens.take();
        let is_handshake = opens.is_some();
        if let Err(error) = self.open_if_two_endpoints().await {
            return self.failed(&post.out.frame, error).await;
        }
        if let FrameKind::Request { id, method } = post.out.frame.kind() {
            if let Err(error) = self.ask(id, method, &post).await {
                self.failed(&post.out.frame, error).await;
            }
            return;
        }
        let mut delivery = Box::pin(timeout(self.limits.between_bytes, self.deliver(&post)));
        let delivered = if let Ok(delivered) = timeout(HANDSHAKE_WAIT, &mut delivery).await {
            delivered
        } else {
            drop(opens.take());
            delivery.await
        };
        match delivered {
            Ok(Ok(())) if is_handshake => self.listen_if_legacy(&post),
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.failed(&post.out.frame, error).await,
            Err(_) => self.failed(&post.out.frame, TransportError::Silent(self.limits.between_bytes)).await,
        }
    }

    async fn failed(&self, frame: &Frame, error: TransportError) {
        if let FrameKind::Request { id, .. } = frame.kind() {
            return self.tell(Incoming::Failed { id: id.clone(), error }).await;
        }
        let what = match (frame.method(), frame.id()) {
            (Some(method), _) => method.to_owned(),
            (None, Some(id)) => format!("the reply to {id}"),
            (None, None) => "a reply".to_owned(),
        };
        self.tell(Incoming::Undelivered { what, error }).await;
    }

    /// Sends a notification or a reply. Any 2xx response is fine.
    async fn deliver(&self, post: &Post) -> Result<(), TransportError> {
        let fetched = self.post(post).await?;
        let pause = self.limits.between_bytes;
        if fetched.status().is_success() {
            // If the body is read to its end, the next message can use the connection.
            drop(timeout(Duration::from_secs(1), answer::refusal(fetched.response, pause)).await);
            return Ok(());
        }
        Err(self.read_refusal(fetched).await.into_error())
    }

    /// Opens the stream of a new legacy session in parallel to its first request, which does not wait for it: most
    /// servers ask on the call's own stream.
    fn listen_if_legacy(self: &Arc<Self>, post: &Post) {
        if post.mirrored.is_none() && self.posts_to.get().is_none() {
            let peer = Arc::clone(self);
            self.spawn(async move { peer.listen().await });
        }
    }

    /// Sends a request and passes on its answer.
    async fn ask(self: &Arc<Self>, id: &Id, method: &str, post: &Post) -> Result<(), TransportError> {
        let fetched = self.post(post).await?;
        if !fetched.status().is_success() {
            let status = fetched.status().as_u16();
            let refusal = self.read_refusal(fetched).await;
            return match refusal {
                Refusal::Rpc(error) => {
                    self.tell(Incoming::Frame(Frame::error(id, &error))).await;
                    Ok(())
                }
                Refusal::Other(_) if method == "initialize" && matches!(status, 400 | 404 | 405) => {
                    self.fall_back(post, refusal.into_error()).await
                }
                Refusal::Other(error) => Err(error),
            };
        }
        if self.posts_to.get().is_some() {
            self.take_inline(id, fetched).await;
            return Ok(());
        }
        if method == "initialize" {
            self.keep_session(&fetched.response);
        }
        self.read_answer(id, fetched, post.mirrored.is_none()).await
    }

    /// Switches to HTTP+SSE if the server speaks it; otherwise the failure that led here counts.
    async fn fall_back(self: &Arc<Self>, post: &Post, error: TransportError) -> Result<(), TransportError> {
        if self.posts_to.get().is_some() || self.open_two_endpoints().await.is_err() {
            return Err(error);
        }
        let fetched = self.post(post).await?;
        if !fetched.status().is_success() {
            return Err(self.read_refusal(fetched).await.into_error());
        }
        if let Some(id) = post.out.frame.id() {
            self.take_inline(id, fetched).await;
        }
        Ok(())
    }

    /// With HTTP+SSE the answer arrives on the stream. Some servers put it into the response instead.
    async fn take_inline(&self, id: &Id, fetched: Fetched) {
        if answer::media_type(&fetched.response) != "application/json" {
            return;
        }
        let Ok(body) = answer::body(fetched.response, &self.limits).await else { return };
        // Anything that is not a message just means that it was accepted.
        for frame in answer::frames(body).unwrap_or_default() {
            self.pass_on(frame, Some(id)).await;
        }
    }

    pub(super) async fn post(&self, post: &Post) -> Result<Fetched, TransportError> {
        let mut headers = post.mirrored.clone().unwrap_or_else(|| self.version_header());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let url = self.posts_to.get().unwrap_or(&self.url);
        // A call may have an effect each time; other requests only ask.
        let is_repeatable = post.out.frame.method() != Some("tools/call");
        self.fetch(HttpRequest {
            method: Method::POST,
            url,
            headers,
            body: Some(post.out.frame.bytes()),
            is_repeatable,
        })
        .await
    }

    async fn read_answer(&self, id: &Id, fetched: Fetched, resumable: bool) -> Result<(), TransportError> {
        let (status, kind) = (fetched.status().as_u16(), answer::media_type(&fetched.response));
        if kind == "text/event-stream" {
            let events = answer::events(fetched.response, &self.limits);
            return self.follow_to_answer(id, events, Cursor::default(), resumable).await;
        }
        let body = answer::body(fetched.response, &self.limits).await?;
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(TransportError::NoAnswer(format!("HTTP {status} without a body")));
        }
        let frames = answer::frames(body).map_err(|(body, reason)| {
            let quoted = answer::quote(&body);
            TransportError::NoAnswer(match kind.as_str() {
                "application/json" => format!("the body is not a message ({reason}): {quoted}"),
                "" => format!("the body is not a message and has no type: {quoted}"),
                kind => format!("{kind} instead of JSON: {quoted}"),
            })
        })?;
        let mut answered = false;
        for frame in frames {
            answered |= self.pass_on(frame, Some(id)).await;
        }
        if answered {
            Ok(())
        } else {
            Err(TransportError::NoAnswer("the body is the answer to another request".into()))
        }
    }

    /// Passes a message to the client; returns `true` if it answers `asked`. An error without an id also counts as the
    /// answer.
    pub(super) async fn pass_on(&self, frame: Frame, asked: Option<&Id>) -> bool {
        let (frame, answers) = match (frame.kind(), asked) {
            (FrameKind::Response { id } | FrameKind::Error { id: Some(id) }, Some(asked)) => {
                let answers = id.answers(asked);
                (frame, answers)
            }
            (FrameKind::Error { id: None }, Some(asked)) => {
                let error = frame.body_value().unwrap_or_default();
                (Frame::error(asked, &RpcError::from_value(&error)), true)
            }
            (FrameKind::Request { .. } | FrameKind::Notification { .. }, Some(asked)) => {
                self.tell(Incoming::During(asked.clone(), frame)).await;
                return false;
            }
            _ => (frame, false),
        };
        self.tell(Incoming::Frame(frame)).await;
        answers
    }

    /// Passes on the data of a cut-off event, if it is a complete answer to `asked`.
    pub(super) async fn pass_on_answer(&self, data: String, asked: Option<&Id>) -> bool {
        let is_answer = |frame: &Frame| matches!(frame.kind(), FrameKind::Response { id } | FrameKind::Error { id: Some(id) } if asked.is_some_and(|asked| id.answers(asked)));
        let answer = answer::frames(data.into_bytes()).ok().and_then(|frames| frames.into_iter().find(is_answer));
        match answer {
            Some(frame) => self.pass_on(frame, asked).await,
            None => false,
        }
    }

    /// Passes the data of an event to the client; returns `true` if it answers `asked`.
    pub(super) async fn pass_on_data(&self, data: String, asked: Option<&Id>) -> bool {
        match answer::frames(data.into_bytes()) {
            Ok(frames) => {
                let mut answered = false;
                for frame in frames {
                    answered |= self.pass_on(frame, asked).await;
                }
                answered
            }
            Err((body, reason)) => {
                self.tell(Incoming::Junk(Junk { preview: answer::quote(&body), reason })).await;
                false
            }
        }
    }

    async fn read_refusal(&self, fetched: Fetched) -> Refusal {
        let (status, in_session) = (fetched.status().as_u16(), fetched.in_session);
        let challenge = challenge(&fetched.response);
        let retry_after = answer::retry_after(&fetched.response);
        let body = answer::refusal(fetched.response, self.limits.between_bytes).await;
        let error = answer::rpc_error(&body);
        // Some servers answer 400 where 404 would be right.
        let names_session = || error.as_ref().is_some_and(|error| error.message.to_lowercase().contains("session"));
        if in_session && (status == 404 || (status == 400 && names_session())) {
            return Refusal::Other(TransportError::SessionLost { status });
        }
        match error {
            // Gateway errors are temporary: their text is kept, and the message may be sent again.
            Some(error) if status != 401 && challenge.is_none() && !(is_passing(status) && status != 500) => {
                Refusal::Rpc(error)
            }
            Some(error) => Refusal::Other(TransportError::Http { status, body: error.message, challenge, retry_after }),
            None => Refusal::Other(TransportError::Http { status, body: answer::quote(&body), challenge, retry_after }),
        }
    }
}

/// The meaning of a response with an error status.
enum Refusal {
    /// A JSON-RPC error.
    Rpc(RpcError),
    /// Anything else.
    Other(TransportError),
}

impl Refusal {
    fn into_error(self) -> TransportError {
        match self {
            Self::Rpc(error) => TransportError::NoAnswer(error.to_string()),
            Self::Other(error) => error,
        }
    }
}
