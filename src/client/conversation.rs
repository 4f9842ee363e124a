use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    ClientError, CredentialsFate, ServerInfo, Unauthorized,
    capabilities::{Offer, client_info},
    clock::Patience,
    scope::CallScope,
    wire::{Failure, Wire, WireRequest},
};
use crate::{
    protocol::{Era, Frame, FrameKind, Revision, RpcError, code},
    transport::TransportError,
};

/// The level from which modern servers are asked to log, as legacy ones do without being asked.
const LOG_LEVEL: &str = "warning";

/// A connection whose revision is known.
pub(super) struct Conversation {
    pub(super) wire: Wire,
    pub(super) info: Arc<ServerInfo>,
    pub(super) manner: Manner,
    /// Whether the server has shown which revision it speaks, or this is only remembered from an earlier run.
    proven: AtomicBool,
}

/// What every request of a modern connection says about us, and `initialize` of a legacy one.
#[derive(Clone, Debug)]
pub(super) struct Manner {
    pub(super) offer: Offer,
    /// Minimum level of the server's log.
    pub(super) log_level: Option<String>,
}

impl Manner {
    /// `params` with the `_meta` that a request of `revision` needs (2026-07-28, *basic*, `_meta`). Existing keys in
    /// `_meta` are kept.
    pub(super) fn with_meta(
        &self,
        params: Option<Map<String, Value>>,
        revision: Revision,
        token: Option<u64>,
    ) -> Option<Map<String, Value>> {
        let mut meta = Map::new();
        if let Some(token) = token {
            meta.insert("progressToken".into(), json!(token));
        }
        if revision.era() == Era::Modern {
            meta.insert("io.modelcontextprotocol/protocolVersion".into(), json!(revision.as_str()));
            meta.insert("io.modelcontextprotocol/clientInfo".into(), client_info());
            let capabilities = self.offer.capabilities(Era::Modern);
            meta.insert("io.modelcontextprotocol/clientCapabilities".into(), capabilities);
            // A modern server logs nothing unless it is asked to (2026-07-28, *logging*).
            let level = self.log_level.as_deref().unwrap_or(LOG_LEVEL);
            meta.insert("io.modelcontextprotocol/logLevel".into(), json!(level));
        }
        if meta.is_empty() {
            return params;
        }
        let mut params = params.unwrap_or_default();
        if let Some(Value::Object(own)) = params.remove("_meta") {
            meta.extend(own);
        }
        params.insert("_meta".into(), Value::Object(meta));
        Some(params)
    }
}

impl Conversation {
    /// A session; `proven` says whether the server itself has shown which revision it speaks.
    pub(super) fn new(wire: Wire, info: ServerInfo, manner: Manner, proven: bool) -> Self {
        Self { wire, info: Arc::new(info), manner, proven: AtomicBool::new(proven) }
    }

    /// Whether the server has shown which revision it speaks.
    pub(super) fn is_proven(&self) -> bool {
        self.proven.load(Ordering::Relaxed)
    }

    /// The server has shown which revision it speaks.
    pub(super) fn prove(&self) {
        self.proven.store(true, Ordering::Relaxed);
    }

    /// Sends a request in the form that the revision requires.
    pub(super) async fn request(
        &self,
        mut ask: WireRequest,
        patience: Patience,
        scope: Option<&CallScope>,
        stop: &CancellationToken,
    ) -> Result<Frame, Failure> {
        ask.params = self.manner.with_meta(ask.params, self.info.revision, scope.map(|scope| scope.token));
        self.wire.request(ask, patience, scope, stop).await
    }
}

/// The error of an error frame as a [`ClientError`]; `None` for a result.
pub(super) fn refusal(method: &str, frame: &Frame) -> Option<ClientError> {
    let FrameKind::Error { .. } = frame.kind() else { return None };
    let error = RpcError::from_value(&frame.body_value().unwrap_or_default());
    let offered = error.data.as_ref().and_then(|data| data.get("supported")).filter(|_| {
        // 2026-07-28, *Versioning*: the server has other versions.
        error.code == code::UNSUPPORTED_VERSION
    });
    Some(match offered {
        Some(offered) => ClientError::version(offered),
        None => ClientError::Rpc { method: method.to_owned(), error: Box::new(error) },
    })
}

/// What the body of a refusal says to a person: the text in it, where it is the JSON object that most servers send.
fn told(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let text = |key: &str| parsed.as_ref()?.get(key)?.as_str().filter(|text| !text.trim().is_empty());
    let said = ["error_description", "message", "detail", "error"].into_iter().find_map(text);
    said.unwrap_or(body).to_owned()
}

impl Failure {
    /// The failure of `method` as a [`ClientError`]. `was_ready` distinguishes a lost connection from one that was
    /// never ready.
    pub(super) fn into_error(self, method: &str, was_ready: bool) -> ClientError {
        let method = method.to_owned();
        match self {
            Self::TimedOut(after) => ClientError::TimedOut { method, after },
            Self::Stopped => ClientError::Interrupted { method },
            Self::Transport(TransportError::Credentials(error)) => {
                let fate = CredentialsFate::Missing;
                ClientError::Unauthorized(Unauthorized { reason: error.reason, fate, ..Unauthorized::default() })
            }
            Self::Transport(TransportError::Http { status: 403, challenge: Some(said), .. }) => {
                let reason = format!("HTTP 403: {said}");
                let scopes = said.scopes();
                ClientError::Unauthorized(Unauthorized { reason, scopes, is_step_up: true, ..Unauthorized::default() })
            }
            Self::Transport(TransportError::Http { status: 401, body, challenge, .. }) => {
                let said = challenge.as_ref().map_or_else(|| told(&body), ToString::to_string);
                let scopes = challenge.map(|challenge| challenge.scopes()).unwrap_or_default();
                let reason = format!("HTTP 401: {said}");
                ClientError::Unauthorized(Unauthorized { reason, scopes, ..Unauthorized::default() })
            }
            Self::Transport(source) if was_ready => ClientError::Lost { method, source },
            Self::Transport(source) => ClientError::Connect(source),
        }
    }
}

impl ClientError {
    /// There is no revision in common; `offered` is the server's list.
    pub(super) fn version(offered: &Value) -> Self {
        let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let offered = match offered {
            Value::Array(versions) if versions.is_empty() => "none".to_owned(),
            Value::String(version) if version.is_empty() => "none".to_owned(),
            Value::Array(versions) => versions.iter().map(words).collect::<Vec<_>>().join(", "),
            other => words(other),
        };
        let spoken = Revision::ALL.map(Revision::as_str).join(", ");
        Self::Version { offered, spoken }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modern_requests_say_who_asks() {
        let offer = Offer { elicitation: None, roots: false };
        let manner = Manner { offer, log_level: Some("debug".into()) };
        let own = json!({"name": "x", "_meta": {"traceparent": "t"}}).as_object().cloned();
        let dressed = manner.with_meta(own.clone(), Revision::V2026_07_28, Some(4)).expect("params");
        let meta = &dressed["_meta"];
        assert_eq!((&meta["progressToken"], &meta["traceparent"]), (&json!(4), &json!("t")));
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "toolnexus");
        assert_eq!(meta["io.modelcontextprotocol/logLevel"], "debug");
        assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
        assert_eq!(manner.with_meta(own.clone(), Revision::V2025_11_25, None), own);
        assert_eq!(manner.with_meta(None, Revision::V2025_11_25, None), None);
    }
}
