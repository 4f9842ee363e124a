use std::sync::Arc;

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::{
    attachment::{Attachment, Wanted},
    message::{End, Operation},
};
use crate::{
    client::{Attached, BeforeSending, CallEnd, CallReport, ClientError, PendingCall, ServerInfo, ToolCall},
    elicitation::ServerName,
    protocol::Tool,
};

impl Attached for Attachment {
    fn server(&self) -> &ServerName {
        &self.shared.options.server
    }

    fn info(&self) -> Arc<ServerInfo> {
        Arc::clone(&self.info)
    }

    fn list_tools<'a>(
        &'a self,
        fresh: bool,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<Tool>, ClientError>> {
        async move {
            let body = self.body(Operation::Tools { fresh }, "tools/list", stop).await?;
            Ok(list("tools/list", &body)?.into_iter().filter_map(Tool::from_value).collect())
        }
        .boxed()
    }

    fn list<'a>(
        &'a self,
        method: &'a str,
        key: &'a str,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<Value>, ClientError>> {
        async move {
            let operation = Operation::List { method: method.to_owned(), key: key.to_owned() };
            let body = self.body(operation, method, stop).await?;
            list(method, &body)
        }
        .boxed()
    }

    fn call_tool<'a>(
        &'a self,
        call: ToolCall,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>> {
        async move {
            let ToolCall { name, arguments, tool, timeout, on_task, on_progress, .. } = call;
            let operation = Operation::CallTool {
                name,
                arguments,
                is_known: tool.is_some(),
                reports: on_progress.is_some(),
                timeout,
            };
            self.call_end(Wanted { on_task, on_progress, ..plain(operation, "tools/call", stop) }).await
        }
        .boxed()
    }

    fn call<'a>(
        &'a self,
        method: &'a str,
        params: Map<String, Value>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>> {
        async move {
            let operation = Operation::Call { method: method.to_owned(), params };
            self.call_end(plain(operation, method, stop)).await
        }
        .boxed()
    }

    fn resume<'a>(
        &'a self,
        pending: PendingCall,
        before_sending: BeforeSending<'a>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<CallEnd, ClientError>> {
        async move {
            let method = pending.method.clone();
            let before_sending = Some(before_sending);
            self.call_end(Wanted { before_sending, ..plain(Operation::Resume { pending }, &method, stop) }).await
        }
        .boxed()
    }

    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Option<Map<String, Value>>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Box<RawValue>, ClientError>> {
        async move {
            let operation = Operation::Request { method: method.to_owned(), params };
            let body = self.body(operation, method, stop).await?;
            raw(method, body)
        }
        .boxed()
    }

    fn listen<'a>(
        &'a self,
        filter: Map<String, Value>,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), ClientError>> {
        async move {
            match self.body(Operation::Listen { filter }, "subscriptions/listen", stop).await {
                Err(_) if stop.is_cancelled() => Ok(()),
                ended => ended.map(drop),
            }
        }
        .boxed()
    }

    fn is_over(&self) -> bool {
        self.shared.operations().is_none()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.shared.over.cancel();
        std::future::ready(()).boxed()
    }
}

impl Attachment {
    /// The result of an operation that is not a call.
    async fn body(&self, operation: Operation, method: &str, stop: &CancellationToken) -> Result<Vec<u8>, ClientError> {
        Ok(self.operate(plain(operation, method, stop)).await?.1)
    }

    /// How a call ends.
    async fn call_end(&self, wanted: Wanted<'_>) -> Result<CallEnd, ClientError> {
        let method = wanted.method;
        match self.operate(wanted).await? {
            (End::Done { unanswered }, body) => {
                Ok(CallEnd::Done(CallReport { result: raw(method, body)?, unanswered }))
            }
            (End::Deferred(pending), _) => Ok(CallEnd::Deferred(pending)),
            (End::Plain | End::Failed(_), _) => Err(odd(method)),
        }
    }
}

/// An operation without callbacks.
fn plain<'a>(operation: Operation, method: &'a str, stop: &'a CancellationToken) -> Wanted<'a> {
    Wanted { operation, method, on_task: None, on_progress: None, before_sending: None, stop }
}

fn odd(method: &str) -> ClientError {
    ClientError::Invalid { method: method.to_owned(), reason: "the keeper's answer cannot be read".to_owned() }
}

fn raw(method: &str, body: Vec<u8>) -> Result<Box<RawValue>, ClientError> {
    let text = String::from_utf8(body).map_err(|_| odd(method))?;
    RawValue::from_string(text).map_err(|_| odd(method))
}

fn list(method: &str, body: &[u8]) -> Result<Vec<Value>, ClientError> {
    serde_json::from_slice(body).map_err(|_| odd(method))
}
