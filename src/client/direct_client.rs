use std::{
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value, json, value::RawValue};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::{
    BeforeSending, CallEnd, Caller, ClientError, ClientOptions, PendingCall, ServerInfo, ToolCall,
    call::OpenCall,
    clock::Patience,
    conversation::{Conversation, refusal},
    exchange::Exchange,
    known_tools::{KnownTools, changes},
    negotiate::Opener,
    wire::{WireRequest, gone},
};
use crate::protocol::{Era, Tool, code};

/// Which of a client's connections a request uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Route {
    /// The one in the revision that was negotiated.
    #[default]
    Found,
    /// The legacy one, for tools that can ask only there.
    ByHandshake,
}

/// The client of a server that this process itself started or reached. A lost connection is opened again when it is
/// next needed.
pub(super) struct DirectClient {
    pub(super) opener: Opener,
    session: Mutex<Arc<Conversation>>,
    /// A second, legacy connection, for the tools that can ask only there.
    by_handshake: Mutex<Option<Arc<Conversation>>>,
    info: std::sync::Mutex<Arc<ServerInfo>>,
    pub(super) known_tools: KnownTools,
    is_closed: AtomicBool,
}

impl DirectClient {
    /// Opens the conversation through `opener`.
    pub(super) async fn open(opener: Opener, stop: &CancellationToken) -> Result<Self, ClientError> {
        let session = opener.open(stop).await?;
        let info = std::sync::Mutex::new(Arc::clone(&session.info));
        let (session, by_handshake) = (Mutex::new(Arc::new(session)), Mutex::default());
        Ok(Self {
            opener,
            session,
            by_handshake,
            info,
            known_tools: KnownTools::default(),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Whether the connection has ended. One that is being opened has not.
    pub(super) fn is_over(&self) -> bool {
        self.session.try_lock().is_ok_and(|session| session.is_over())
    }

    /// Why the connection has ended, where the server ended it.
    pub(super) fn why_it_ended(&self) -> Option<String> {
        self.session.try_lock().ok().and_then(|session| Some(session.ended()?.reason.clone()))
    }

    /// What the server says about itself.
    pub(super) fn info(&self) -> Arc<ServerInfo> {
        Arc::clone(&self.info.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All of `tools/list`, page by page. Entries that are not tools are left out with a notice.
    ///
    /// # Errors
    /// If a page cannot be fetched.
    pub(super) async fn list_tools(&self, stop: &CancellationToken) -> Result<Vec<Tool>, ClientError> {
        let info = self.info();
        // A server that declares capabilities is not asked for what it does not declare. One that declares nothing at
        // all may just be sloppy.
        if !info.capabilities.is_empty() && !info.declares("tools") {
            return Ok(Vec::new());
        }
        let entries = match self.list("tools/list", "tools", stop).await {
            Err(ClientError::Rpc { error, .. }) if error.code == code::METHOD_NOT_FOUND && !info.declares("tools") => {
                Vec::new()
            }
            listed => listed?,
        };
        Ok(self.tools_of(entries).await)
    }

    /// The tools as last listed, if that was not long ago and the server has not reported a change; otherwise like
    /// [`DirectClient::list_tools`].
    ///
    /// # Errors
    /// If a page cannot be fetched.
    pub(super) async fn known_tools(&self, stop: &CancellationToken) -> Result<Vec<Tool>, ClientError> {
        let session = self.session("tools/list", stop).await?;
        if let Some(known) = self.known_tools.get(&session) {
            return Ok(known);
        }
        let before = changes(&session);
        let tools = self.list_tools(stop).await?;
        self.known_tools.set(&session, before, &tools);
        Ok(tools)
    }

    /// All entries of a listing: `prompts/list` with the key `prompts`, and so on, page by page.
    ///
    /// # Errors
    /// If a page cannot be fetched.
    pub(super) async fn list(
        &self,
        method: &str,
        key: &str,
        stop: &CancellationToken,
    ) -> Result<Vec<Value>, ClientError> {
        self.pages(method, key, stop).await
    }

    /// Calls a tool, with everything that may happen on the way: questions, rounds, links, tasks.
    ///
    /// # Errors
    /// If there is no result.
    pub(super) async fn call_tool(&self, call: ToolCall, stop: &CancellationToken) -> Result<CallEnd, ClientError> {
        let ToolCall { name, arguments, tool, timeout, on_task, on_progress, caller } = call;
        let params = Map::from_iter([("name".to_owned(), json!(name)), ("arguments".to_owned(), arguments.into())]);
        OpenCall::begin(self, "tools/call", params, timeout, caller, stop)
            .await?
            .of(tool, on_task, on_progress)
            .run()
            .await
    }

    /// `prompts/get` or `resources/read`, with everything that may happen on the way.
    ///
    /// # Errors
    /// If there is no result.
    pub(super) async fn call(
        &self,
        method: &str,
        params: Map<String, Value>,
        caller: Option<Caller>,
        stop: &CancellationToken,
    ) -> Result<CallEnd, ClientError> {
        OpenCall::begin(self, method, params, None, caller, stop).await?.run().await
    }

    /// Continues a call that was put aside in an earlier run. Entries of `inputs` that have a response are not asked
    /// again. `before_sending` gets the call with all answers before they are sent; if it refuses, nothing is sent.
    ///
    /// # Errors
    /// If there is no result; [`ClientError::Interrupted`] if `before_sending` refused.
    pub(super) async fn resume(
        &self,
        pending: PendingCall,
        before_sending: BeforeSending<'_>,
        caller: Option<Caller>,
        stop: &CancellationToken,
    ) -> Result<CallEnd, ClientError> {
        if pending.kept.is_some() {
            return Err(ClientError::call_gone(&pending.method, None));
        }
        let params = pending.params.as_object().cloned().unwrap_or_default();
        OpenCall::begin(self, &pending.method, params, None, caller, stop).await?.resume(pending, before_sending).await
    }

    /// Any other request, within the time limit of a listing. Returns the result's own bytes. A lost request is sent
    /// again once.
    ///
    /// # Errors
    /// If there is no result.
    pub(super) async fn request(
        &self,
        method: &str,
        params: Option<Map<String, Value>>,
        stop: &CancellationToken,
    ) -> Result<Box<RawValue>, ClientError> {
        let (ask, patience) = (WireRequest::new(method, params), self.opener.patience());
        let (_, frame) = self
            .exchange(Exchange { ask, patience, scope: None, is_repeatable: true, line: Route::Found }, stop)
            .await?;
        if let Some(error) = refusal(method, &frame) {
            return Err(error);
        }
        let invalid = || ClientError::Invalid { method: method.to_owned(), reason: "the result is not text".into() };
        frame.into_body().ok_or_else(invalid)
    }

    /// Listens for changes until `stop` fires or the server ends it: `subscriptions/listen` with this filter
    /// (2026-07-28, *Subscriptions*), or `resources/subscribe` for each of its `resourceSubscriptions` on a legacy
    /// server. Changes arrive as notices.
    ///
    /// # Errors
    /// If the server refuses or the connection is lost.
    pub(super) async fn listen(&self, filter: Map<String, Value>, stop: &CancellationToken) -> Result<(), ClientError> {
        let method = "subscriptions/listen";
        let session = self.session(method, stop).await?;
        if session.info.era() == Era::Legacy {
            return self.listen_by_handshake(&session, &filter, stop).await;
        }
        let ask = WireRequest::new(method, Some(Map::from_iter([("notifications".to_owned(), Value::Object(filter))])));
        let patience = Patience::at_most(session.wire.clock(), Duration::MAX / 4);
        match session.request(ask, patience, None, stop).await {
            Ok(frame) => refusal(method, &frame).map_or(Ok(()), Err),
            Err(_) if stop.is_cancelled() => Ok(()),
            Err(failure) => Err(failure.into_error(method, true)),
        }
    }

    async fn listen_by_handshake(
        &self,
        session: &Conversation,
        filter: &Map<String, Value>,
        stop: &CancellationToken,
    ) -> Result<(), ClientError> {
        let method = "resources/subscribe";
        for uri in filter.get("resourceSubscriptions").and_then(Value::as_array).into_iter().flatten() {
            let params = Map::from_iter([("uri".to_owned(), uri.clone())]);
            match self.request(method, Some(params), stop).await {
                Err(_) if stop.is_cancelled() => return Ok(()),
                answered => drop(answered?),
            }
        }
        tokio::select! {
            () = stop.cancelled() => Ok(()),
            () = session.wire.setup().over.cancelled() => {
                Err(ClientError::Lost { method: method.to_owned(), source: gone() })
            }
        }
    }

    /// Ends the connection: open questions are answered with cancel, and the server gets its grace period.
    pub(super) async fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        let by_handshake = self.by_handshake.lock().await.take();
        let end_second = async {
            if let Some(session) = &by_handshake {
                session.wire.close().await;
            }
        };
        tokio::join!(async { self.current().await.wire.close().await }, end_second);
    }

    pub(super) fn options(&self) -> &ClientOptions {
        self.opener.options()
    }

    pub(super) fn is_http(&self) -> bool {
        self.opener.is_http()
    }

    pub(super) fn next_id(&self) -> u64 {
        self.opener.ids().fetch_add(1, Ordering::Relaxed)
    }

    /// The current session, even if it is over.
    pub(super) async fn current(&self) -> Arc<Conversation> {
        Arc::clone(&*self.session.lock().await)
    }

    /// A session on this connection for `method`, opened again if the last one is over.
    pub(super) async fn session_of(
        &self,
        line: Route,
        method: &str,
        stop: &CancellationToken,
    ) -> Result<Arc<Conversation>, ClientError> {
        if line == Route::Found {
            return self.session(method, stop).await;
        }
        let mut slot = self.by_handshake.lock().await;
        match slot.take().filter(|session| !session.is_over()) {
            Some(session) => Ok(Arc::clone(slot.insert(session))),
            None if self.is_closed.load(Ordering::Relaxed) => {
                Err(ClientError::Interrupted { method: method.to_owned() })
            }
            None => Ok(Arc::clone(slot.insert(Arc::new(self.opener.open_by_handshake(stop).await?)))),
        }
    }

    /// A session for `method`, opened again if the last one is over.
    pub(super) async fn session(
        &self,
        method: &str,
        stop: &CancellationToken,
    ) -> Result<Arc<Conversation>, ClientError> {
        let mut session = self.session.lock().await;
        if session.is_over() {
            if self.is_closed.load(Ordering::Relaxed) {
                return Err(ClientError::Interrupted { method: method.to_owned() });
            }
            let words = if self.is_http() {
                "the connection was lost and is being reopened"
            } else {
                "it had ended and is being started again; what it had in memory is lost"
            };
            session.wire.setup().warn(words);
            session.wire.close().await;
            *session = self.adopt(self.opener.open(stop).await?);
        }
        Ok(Arc::clone(&session))
    }

    /// Negotiates again, unless somebody has already done so.
    pub(super) async fn replace(&self, old: &Arc<Conversation>, stop: &CancellationToken) -> Result<(), ClientError> {
        let mut session = self.session.lock().await;
        if Arc::ptr_eq(&session, old) {
            old.wire.close().await;
            *session = self.adopt(self.opener.reopen(stop).await?);
        }
        Ok(())
    }

    fn adopt(&self, session: Conversation) -> Arc<Conversation> {
        *self.info.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&session.info);
        Arc::new(session)
    }
}
