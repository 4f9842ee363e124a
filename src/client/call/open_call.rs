use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::{
    BeforeSending, CallEnd, CallReport, PendingCall, TaskSink,
    links::RequiredLinks,
    outcome::{self, ResultType},
    rounds::Rounds,
    waiting::LinkPause,
};
use crate::{
    client::{
        Caller, ClientError, ClientOptions, NoticeKind, ProgressSink,
        clock::{Clock, Patience},
        conversation::{Conversation, refusal},
        direct_client::{DirectClient, Route},
        exchange::Exchange,
        scope::{CallScope, OpenScope},
        wire::WireRequest,
    },
    elicitation::{CallName, Resolver, Waited},
    protocol::{Era, RpcError, Tool, code},
};

/// A call in progress.
pub(in crate::client) struct OpenCall<'a> {
    pub(super) client: &'a DirectClient,
    pub(super) session: Arc<Conversation>,
    /// The connection that the call goes over.
    pub(super) line: Route,
    /// `tools/call`, `prompts/get` or `resources/read`.
    pub(super) method: String,
    /// The original params.
    pub(super) params: Map<String, Value>,
    pub(super) tool: Option<Tool>,
    pub(super) on_task: Option<TaskSink>,
    pub(super) scope: Arc<CallScope>,
    open: Option<OpenScope>,
    pub(super) patience: Patience,
    /// Fires when the call is given up, by its caller or by a person who was waiting for a link.
    pub(super) stop: CancellationToken,
    pub(super) waiting: Option<LinkPause>,
    /// The links that a person says are finished, while the answer to an earlier request is still on its way.
    pub(super) said_done: Vec<String>,
}

impl<'a> OpenCall<'a> {
    /// A call of `method`, which may be silent for `silence`.
    ///
    /// # Errors
    /// If there is no connection.
    pub(in crate::client) async fn begin(
        client: &'a DirectClient,
        method: &str,
        params: Map<String, Value>,
        silence: Option<Duration>,
        caller: Option<Caller>,
        stop: &CancellationToken,
    ) -> Result<Self, ClientError> {
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).unwrap_or_default();
        let (line, session) = Self::line(client, method, name, stop).await?;
        let options = client.options();
        let own = caller.as_ref().map(|caller| (caller.silence, caller.total));
        let (usual, total) = own.unwrap_or((options.times.call_silence, options.times.call_total));
        let silence = silence.unwrap_or(usual);
        // Another caller's question does not pause this caller's clock.
        let clock = if caller.is_some() { Clock::new() } else { session.wire.clock().clone() };
        let is_tool = method == "tools/call";
        let scope = Arc::new(CallScope::new(client.next_id(), CallName::from(name), is_tool, clock, caller));
        let patience = Patience::new(&scope.clock, silence, total);
        let stop = stop.child_token();
        let mut call = Self {
            client,
            session,
            line,
            method: method.to_owned(),
            params,
            tool: None,
            on_task: None,
            scope,
            open: None,
            patience,
            stop,
            waiting: None,
            said_done: Vec::new(),
        };
        if call.era() == Era::Legacy {
            let floor = Arc::clone(&call.session.wire.setup().floor);
            tokio::select! {
                biased;
                () = call.stop.cancelled() => return Err(call.interrupted()),
                () = floor.take(&call.scope) => {}
            }
        }
        call.open_scope();
        Ok(call)
    }

    /// The call of this tool; `on_task` is called when it becomes a task, `on_progress` with its progress.
    pub(in crate::client) fn of(
        mut self,
        tool: Option<Tool>,
        on_task: Option<TaskSink>,
        on_progress: Option<ProgressSink>,
    ) -> Self {
        (self.tool, self.on_task) = (tool, on_task);
        self.scope.tell_progress_to(on_progress);
        self
    }

    /// Runs the call to its end.
    ///
    /// # Errors
    /// If there is no result.
    pub(in crate::client) async fn run(mut self) -> Result<CallEnd, ClientError> {
        let params = self.params.clone();
        let end = self.steps(params, Rounds::default()).await;
        self.learn(&end);
        self.leave(end).await
    }

    /// Continues a call that was put aside.
    ///
    /// # Errors
    /// If there is no result.
    pub(in crate::client) async fn resume(
        mut self,
        pending: PendingCall,
        before_sending: BeforeSending<'_>,
    ) -> Result<CallEnd, ClientError> {
        let end = self.take_up(pending, before_sending).await;
        self.leave(end).await
    }

    async fn leave(mut self, end: Result<CallEnd, ClientError>) -> Result<CallEnd, ClientError> {
        self.scope.leave_floor();
        if end.is_ok() {
            self.session.wire.setup().floor.learn(&self.scope);
        }
        if let Some(waiting) = self.waiting.take() {
            waiting.end().await;
        }
        if let Some(open) = self.open.take() {
            open.finish().await;
        }
        end
    }

    /// From a request to the call's end.
    pub(super) async fn steps(
        &mut self,
        mut params: Map<String, Value>,
        mut rounds: Rounds,
    ) -> Result<CallEnd, ClientError> {
        let mut links = RequiredLinks::default();
        if let Some(task) = self.legacy_task() {
            params.insert("task".into(), task);
        }
        loop {
            let frame = self.send(params.clone()).await?;
            if let Some(error) = refusal(&self.method, &frame) {
                match error {
                    ClientError::Rpc { error, .. } if error.code == code::URL_ELICITATION_REQUIRED => {
                        self.open_links(&mut links, *error).await?;
                        continue;
                    }
                    ClientError::Rpc { error, .. } if self.may_ask_by_handshake(&error.message) => {
                        let Some(again) = self.begin_again().await? else { return Err(self.refused(error)) };
                        (params, rounds, links) = (again, Rounds::default(), RequiredLinks::default());
                        continue;
                    }
                    error => return Err(error),
                }
            }
            let result = frame.into_body().ok_or_else(|| self.invalid("the result is not text"))?;
            if self.era() == Era::Legacy {
                return self.end_of_legacy(result).await;
            }
            match outcome::read(&self.method, &result)? {
                ResultType::Complete => {
                    let Some(again) = self.begin_again_after(&result).await? else { return Ok(self.done(result)) };
                    (params, rounds, links) = (again, Rounds::default(), RequiredLinks::default());
                }
                ResultType::Task(task) => return self.follow_task(*task, Vec::new()).await,
                ResultType::InputRequired(asking) => match self.round(&mut rounds, asking).await? {
                    Ok(next) => params = next,
                    Err(pending) => return Ok(CallEnd::Deferred(Box::new(pending))),
                },
            }
        }
    }

    pub(super) fn done(&self, result: Box<RawValue>) -> CallEnd {
        CallEnd::Done(CallReport { result, unanswered: self.scope.unanswered() })
    }

    /// Sends the call's request, or a later one, while somebody may be waiting for a link.
    async fn send(&mut self, params: Map<String, Value>) -> Result<crate::protocol::Frame, ClientError> {
        let mut ask = WireRequest::new(&self.method, Some(params));
        ask.headers = self.headers();
        let is_repeatable = !self.scope.is_tool || self.tool.as_ref().is_some_and(Tool::is_repeatable);
        self.exchange(ask, is_repeatable).await
    }

    /// Sends a request of the call.
    ///
    /// # Errors
    /// If there is no response, or the call is given up.
    pub(super) async fn exchange(
        &mut self,
        ask: WireRequest,
        is_repeatable: bool,
    ) -> Result<crate::protocol::Frame, ClientError> {
        let exchange =
            Exchange { ask, patience: self.patience, scope: Some(&self.scope), is_repeatable, line: self.line };
        let (session, frame) = {
            let request = self.client.exchange(exchange, &self.stop);
            tokio::pin!(request);
            loop {
                let Some(waiting) = &mut self.waiting else { break request.await? };
                tokio::select! {
                    biased;
                    response = &mut request => break response?,
                    waited = waiting.over() => {
                        let links = self.waiting.take().map(|waiting| waiting.links);
                        self.said_done = links.filter(|_| waited == Waited::Continue).unwrap_or_default();
                    }
                }
            }
        };
        if !Arc::ptr_eq(&session, &self.session) {
            // The connection is a new one, whose driver does not know the call yet.
            self.session = session;
            self.open_scope();
        }
        Ok(frame)
    }

    pub(super) fn open_scope(&mut self) {
        self.open = Some(self.session.wire.open_scope(Arc::clone(&self.scope)));
    }

    fn headers(&self) -> Vec<(String, String)> {
        let arguments = self.params.get("arguments").and_then(Value::as_object);
        match (&self.tool, arguments) {
            (Some(tool), Some(arguments)) if self.era() == Era::Modern && self.client.is_http() => {
                crate::protocol::param_headers(tool, arguments)
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn era(&self) -> Era {
        self.session.info.era()
    }

    pub(super) fn options(&self) -> &ClientOptions {
        self.client.options()
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.scope.clock
    }

    /// Who answers the questions of the call.
    pub(super) fn resolver(&self) -> Option<&Arc<dyn Resolver>> {
        let own = self.scope.caller.as_ref().map(|caller| &caller.resolver);
        own.or(self.options().resolver.as_ref())
    }

    /// How long to wait for an accepted link.
    pub(super) fn url_wait(&self) -> Duration {
        self.scope.caller.as_ref().map_or(self.options().times.url_wait, |caller| caller.url_wait)
    }

    pub(super) fn notice(&self, kind: NoticeKind) {
        self.session.wire.setup().notice_of(self.scope.caller.as_ref(), kind);
    }

    pub(super) fn invalid(&self, reason: impl Into<String>) -> ClientError {
        ClientError::Invalid { method: self.method.clone(), reason: reason.into() }
    }

    pub(super) fn interrupted(&self) -> ClientError {
        ClientError::Interrupted { method: self.method.clone() }
    }

    pub(super) fn refused(&self, error: impl Into<Box<RpcError>>) -> ClientError {
        ClientError::Rpc { method: self.method.clone(), error: error.into() }
    }
}
