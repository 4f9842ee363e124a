use std::{fmt, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::{
    BeforeSending, CallEnd, Caller, ClientError, ClientOptions, PendingCall, ProgressSink, ServerInfo, TaskSink,
    direct_client::DirectClient, negotiate::Opener,
};
use crate::{config::ServerConfig, elicitation::ServerName, protocol::Tool};

/// A `tools/call` to make.
#[derive(Clone, Debug, Default)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// The arguments object.
    pub arguments: Map<String, Value>,
    /// Its entry in `tools/list`, if known: says whether a lost call may be repeated, whether it must be a task, and
    /// which arguments are mirrored in HTTP headers.
    pub tool: Option<Tool>,
    /// How long the call may be silent; by default, what the configuration says.
    pub timeout: Option<Duration>,
    /// Called when the call becomes a task that outlives this process (2026-07-28).
    pub on_task: Option<TaskSink>,
    /// Called with the call's progress.
    pub on_progress: Option<ProgressSink>,
    /// Who makes the call, if several callers share the client.
    pub caller: Option<Caller>,
}

/// The client of one server: one that this process started or reached itself, or one that another process keeps.
pub struct Client(DirectOrAttached);

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("is_attached", &self.is_attached()).finish_non_exhaustive()
    }
}

enum DirectOrAttached {
    Direct(Box<DirectClient>),
    Attached(Box<dyn Attached>),
}

/// A client in another process. Its functions do what [`Client`] says about its own.
pub trait Attached: Send + Sync {
    /// See [`Client::server`].
    fn server(&self) -> &ServerName;
    /// See [`Client::info`].
    fn info(&self) -> Arc<ServerInfo>;
    /// See [`Client::list_tools`] and, without `fresh`, [`Client::known_tools`].
    fn list_tools<'a>(
        &'a self,
        fresh: bool,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<Tool>, ClientError>>;
    /// See [`Client::list`].
    fn list<'a>(
        &'a self,
        method: &'a str,
        key: &'a str,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<Value>, ClientError>>;
    /// See [`Client::call_tool`].
    fn call_tool<'a>(
        &'a self,
        call: ToolCall,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>>;
    /// See [`Client::call`].
    fn call<'a>(
        &'a self,
        method: &'a str,
        params: Map<String, Value>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>>;
    /// See [`Client::resume`].
    fn resume<'a>(
        &'a self,
        pending: PendingCall,
        before_sending: BeforeSending<'a>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>>;
    /// See [`Client::request`].
    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Option<Map<String, Value>>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Box<RawValue>, ClientError>>;
    /// See [`Client::listen`].
    fn listen<'a>(
        &'a self,
        filter: Map<String, Value>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), ClientError>>;
    /// See [`Client::is_over`].
    fn is_over(&self) -> bool;
    /// See [`Client::close`]; the server keeps running.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Finds the client of a server that another process keeps, or starts keeping it.
pub trait Attach: Send + Sync {
    /// The client; `None` if this process should start or reach the server itself.
    fn attach<'a>(
        &'a self,
        config: &'a ServerConfig,
        options: &'a ClientOptions,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Option<Result<Client, ClientError>>>;
}

impl Client {
    /// Starts or reaches the server, finds out which revision it speaks, and opens the conversation.
    ///
    /// # Errors
    /// If the server cannot be started or reached, has no revision in common with us, or takes longer than
    /// `times.start`, or if `stop` fires.
    pub async fn connect(
        config: ServerConfig,
        options: ClientOptions,
        stop: &CancellationToken,
    ) -> Result<Self, ClientError> {
        Self::open(Opener::new(config, options), stop).await
    }

    /// The client of a server that another process keeps.
    pub fn attached(attached: impl Attached + 'static) -> Self {
        Self(DirectOrAttached::Attached(Box::new(attached)))
    }

    /// Opens the conversation through `opener`.
    pub(super) async fn open(opener: Opener, stop: &CancellationToken) -> Result<Self, ClientError> {
        Ok(Self(DirectOrAttached::Direct(Box::new(DirectClient::open(opener, stop).await?))))
    }

    /// Whether its connection has ended; the next request opens it again.
    pub fn has_ended(&self) -> bool {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.is_over(),
            DirectOrAttached::Attached(attached) => attached.is_over(),
        }
    }

    /// Why its connection has ended; `None` while it has not.
    pub fn why_it_ended(&self) -> Option<String> {
        let why = match &self.0 {
            DirectOrAttached::Direct(direct) => direct.why_it_ended(),
            DirectOrAttached::Attached(_) => None,
        };
        self.has_ended().then(|| why.unwrap_or_else(|| "the connection has ended".to_owned()))
    }

    /// Whether another process keeps the server.
    pub fn is_attached(&self) -> bool {
        matches!(self.0, DirectOrAttached::Attached(_))
    }

    /// Whether it is no longer of use: the process that keeps its server is gone. A client of our own opens its
    /// connection again.
    pub fn is_over(&self) -> bool {
        matches!(&self.0, DirectOrAttached::Attached(attached) if attached.is_over())
    }

    /// The server's name.
    pub fn server(&self) -> &ServerName {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.opener.server(),
            DirectOrAttached::Attached(attached) => attached.server(),
        }
    }

    /// What the server says about itself.
    pub fn info(&self) -> Arc<ServerInfo> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.info(),
            DirectOrAttached::Attached(attached) => attached.info(),
        }
    }

    /// All of `tools/list`, page by page. Entries that are not tools are left out with a notice.
    ///
    /// # Errors
    /// If a page cannot be fetched.
    pub async fn list_tools(&self, stop: &CancellationToken) -> Result<Vec<Tool>, ClientError> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.list_tools(stop).await,
            DirectOrAttached::Attached(attached) => attached.list_tools(true, stop).await,
        }
    }

    /// The tools as last listed, if that was not long ago; otherwise like [`Client::list_tools`].
    ///
    /// # Errors
    /// If a page cannot be fetched.
    pub async fn known_tools(&self, stop: &CancellationToken) -> Result<Vec<Tool>, ClientError> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.known_tools(stop).await,
            DirectOrAttached::Attached(attached) => attached.list_tools(false, stop).await,
        }
    }

    /// Whether [`Client::known_tools`] may return a list that is not new.
    pub fn has_known_tools(&self) -> bool {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.known_tools.is_some(),
            DirectOrAttached::Attached(_) => true,
        }
    }

    /// All entries of a listing: `prompts/list` with the key `prompts`, and so on, page by page.
    ///
    /// # Errors
    /// If a page cannot be fetched.
    pub async fn list(&self, method: &str, key: &str, stop: &CancellationToken) -> Result<Vec<Value>, ClientError> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.list(method, key, stop).await,
            DirectOrAttached::Attached(attached) => attached.list(method, key, stop).await,
        }
    }

    /// Calls a tool, with everything that may happen on the way: questions, rounds, links, tasks.
    ///
    /// # Errors
    /// If there is no result.
    pub async fn call_tool(&self, call: ToolCall, stop: &CancellationToken) -> Result<CallEnd, ClientError> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.call_tool(call, stop).await,
            DirectOrAttached::Attached(attached) => attached.call_tool(call, stop).await,
        }
    }

    /// `prompts/get` or `resources/read`, with everything that may happen on the way. `caller` is who makes it, if
    /// several callers share the client.
    ///
    /// # Errors
    /// If there is no result.
    pub async fn call(
        &self,
        method: &str,
        params: Map<String, Value>,
        caller: Option<Caller>,
        stop: &CancellationToken,
    ) -> Result<CallEnd, ClientError> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.call(method, params, caller, stop).await,
            DirectOrAttached::Attached(attached) => attached.call(method, params, stop).await,
        }
    }

    /// Continues a call that was put aside in an earlier run. Entries of `inputs` that have a response are not asked
    /// again. `before_sending` gets the call with all answers before they are sent; if it refuses, nothing is sent.
    /// `caller` is who continues it, if several callers share the client.
    ///
    /// # Errors
    /// If there is no result; [`ClientError::Interrupted`] if `before_sending` refused.
    pub async fn resume(
        &self,
        pending: PendingCall,
        before_sending: BeforeSending<'_>,
        caller: Option<Caller>,
        stop: &CancellationToken,
    ) -> Result<CallEnd, ClientError> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.resume(pending, before_sending, caller, stop).await,
            DirectOrAttached::Attached(attached) => attached.resume(pending, before_sending, stop).await,
        }
    }

    /// Any other request, within the time limit of a listing. Returns the result's own bytes. A lost request is sent
    /// again once.
    ///
    /// # Errors
    /// If there is no result.
    pub async fn request(
        &self,
        method: &str,
        params: Option<Map<String, Value>>,
        stop: &CancellationToken,
    ) -> Result<Box<RawValue>, ClientError> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.request(method, params, stop).await,
            DirectOrAttached::Attached(attached) => attached.request(method, params, stop).await,
        }
    }

    /// Listens for changes until `stop` fires or the server ends it: `subscriptions/listen` with this filter
    /// (2026-07-28, *Subscriptions*), or `resources/subscribe` for each of its `resourceSubscriptions` on a legacy
    /// server. Changes arrive as notices.
    ///
    /// # Errors
    /// If the server refuses or the connection is lost.
    pub async fn listen(&self, filter: Map<String, Value>, stop: &CancellationToken) -> Result<(), ClientError> {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.listen(filter, stop).await,
            DirectOrAttached::Attached(attached) => attached.listen(filter, stop).await,
        }
    }

    /// Ends the connection: open questions are answered with cancel, and the server gets its grace period. A kept
    /// server keeps running.
    pub async fn close(&self) {
        match &self.0 {
            DirectOrAttached::Direct(direct) => direct.close().await,
            DirectOrAttached::Attached(attached) => attached.close().await,
        }
    }
}
