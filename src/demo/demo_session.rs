use std::{
    collections::HashMap,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{asker::Asker, demo_call::DemoCall, modern, offers, ticks::Ticks, tools};
use crate::{
    elicitation::Modes,
    protocol::{Frame, FrameKind, Id, Revision, RpcError, code},
};

/// Where messages for the client go: all of a connection, or those that belong to one request.
pub type DemoOutbox = Arc<dyn Fn(Frame) + Send + Sync>;

/// The conversation with one client, independent of the transport: messages arrive through [`DemoSession::receive`] and
/// leave through the outbox that is passed with each.
#[derive(Debug, Default)]
pub struct DemoSession {
    state: Mutex<DemoState>,
    next_id: AtomicU64,
    ticks: Arc<Ticks>,
}

#[derive(Debug, Default)]
struct DemoState {
    /// What the client declared in `initialize`.
    modes: Option<Modes>,
    /// Our open questions.
    replies: HashMap<Id, oneshot::Sender<Vec<u8>>>,
    /// The calls in progress.
    calls: HashMap<Id, CancellationToken>,
}

impl DemoSession {
    /// Handles one message from the client: the response, and what belongs to it, goes to `out`. A tool call may take
    /// long, and other messages must be received meanwhile.
    pub async fn receive(self: Arc<Self>, frame: Frame, out: DemoOutbox) {
        match frame.kind().clone() {
            FrameKind::Response { id } | FrameKind::Error { id: Some(id) } => {
                if let Some(reply) = self.state().replies.remove(&id) {
                    // Nobody waits for the reply when the call is over.
                    drop(reply.send(frame.bytes().to_vec()));
                }
            }
            FrameKind::Notification { method } if method == "notifications/cancelled" => self.cancel(&frame),
            FrameKind::Request { id, method } => self.answer(&id, &method, &frame, &out).await,
            FrameKind::Notification { .. } | FrameKind::Error { id: None } => {}
        }
    }

    async fn answer(self: &Arc<Self>, id: &Id, method: &str, frame: &Frame, out: &DemoOutbox) {
        let stop = CancellationToken::new();
        self.state().calls.insert(id.clone(), stop.clone());
        let params = frame.body_value().unwrap_or_default();
        let result = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            result = self.result(id, method, &params, out) => Some(result),
        };
        self.state().calls.remove(id);
        match result {
            Some(Ok(result)) => out(Frame::result(id, &result)),
            Some(Err(error)) => out(Frame::error(id, &error)),
            None => {}
        }
    }

    async fn result(
        self: &Arc<Self>,
        id: &Id,
        method: &str,
        params: &Value,
        out: &DemoOutbox,
    ) -> Result<Value, RpcError> {
        if modern::is_modern(params) || method == "server/discover" {
            return modern::result(id, method, params, out).await;
        }
        match method {
            "initialize" => Ok(self.initialize(params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": tools::list()})),
            "tools/call" => {
                let modes = self.state().modes;
                let asker = Asker::Legacy { session: Arc::clone(self), out: Arc::clone(out) };
                tools::run(DemoCall::new(params, modes, asker, out)?).await
            }
            "logging/setLevel" => {
                self.ticks.log_from(params["level"].as_str().unwrap_or_default(), out);
                Ok(json!({}))
            }
            "resources/subscribe" | "resources/unsubscribe" => {
                let uri = params["uri"].as_str().unwrap_or_default();
                self.ticks.subscribe(uri, method == "resources/unsubscribe", out);
                Ok(json!({}))
            }
            _ => offers::result(method, params).unwrap_or_else(|| Err(RpcError::method_not_found())),
        }
    }

    fn initialize(&self, params: &Value) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str).and_then(Revision::parse);
        let revision = asked.map_or(Revision::NEWEST_LEGACY, |revision| revision.min(Revision::NEWEST_LEGACY));
        let modes = modes(params.get("capabilities"));
        self.state().modes = modes.map(|modes| Modes { url: modes.url && revision >= Revision::V2025_11_25, ..modes });
        json!({
            "protocolVersion": revision.as_str(),
            "capabilities": offers::capabilities(),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        })
    }

    /// A new id for a question, and its reply. When nobody waits for the reply any more, the question is withdrawn.
    pub(super) fn expect_reply(self: &Arc<Self>, out: &DemoOutbox) -> (Id, DemoReply) {
        let id = Id::String(format!("ask-{}", self.next_id.fetch_add(1, Ordering::Relaxed) + 1));
        let (sender, receiver) = oneshot::channel();
        self.state().replies.insert(id.clone(), sender);
        (id.clone(), DemoReply { id, receiver, session: Arc::clone(self), out: Arc::clone(out) })
    }

    fn cancel(&self, frame: &Frame) {
        let params = frame.body_value().unwrap_or_default();
        let id = params.get("requestId").and_then(Id::from_value);
        if let Some(stop) = id.and_then(|id| self.state().calls.remove(&id)) {
            stop.cancel();
        }
    }

    fn state(&self) -> MutexGuard<'_, DemoState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server's description of itself for people.
pub(super) const INSTRUCTIONS: &str = "A server for trying out clients. Each tool asks in a different way.";

pub(super) fn server_info() -> Value {
    json!({"name": "toolnexus-demo", "title": "toolnexus demo server", "version": env!("CARGO_PKG_VERSION")})
}

/// The elicitation modes in a client's capabilities; `{}` means only forms.
pub(super) fn modes(capabilities: Option<&Value>) -> Option<Modes> {
    let elicitation: &Map<String, Value> = capabilities?.get("elicitation")?.as_object()?;
    let url = elicitation.contains_key("url");
    Some(Modes { form: !url || elicitation.contains_key("form"), url })
}

/// The reply to a question, as bytes.
pub(super) struct DemoReply {
    id: Id,
    receiver: oneshot::Receiver<Vec<u8>>,
    session: Arc<DemoSession>,
    out: DemoOutbox,
}

impl Future for DemoReply {
    type Output = io::Result<Vec<u8>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.receiver).poll(context).map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }
}

impl Drop for DemoReply {
    fn drop(&mut self) {
        if self.session.state().replies.remove(&self.id).is_some() {
            let params = json!({"requestId": self.id.to_value(), "reason": "the call is over"});
            (self.out)(Frame::notification("notifications/cancelled", Some(&params)));
        }
    }
}

/// The error for a tool that does not exist.
pub(super) fn unknown_tool(name: &str) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, format!("Unknown tool: {name}"))
}
