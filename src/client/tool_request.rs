use std::{fmt, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{CallEnd, Client, ClientError, ToolCall};
use crate::{
    elicitation::ServerName,
    protocol::{CallToolResult, Tool},
};

/// The progress of a call (2025-11-25, *basic/utilities/progress*).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolProgress {
    /// How far.
    pub progress: f64,
    /// The total.
    pub total: Option<f64>,
    /// What is being done, in the server's words, which are not yet safe for a terminal.
    pub message: Option<String>,
}

/// Receives the progress of one call.
#[derive(Clone)]
pub struct ProgressSink(Arc<dyn Fn(ToolProgress) + Send + Sync>);

impl ProgressSink {
    /// Calls `sink`, which must not block for long.
    pub fn new(sink: impl Fn(ToolProgress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Passes on `progress`.
    pub fn tell(&self, progress: ToolProgress) {
        (self.0)(progress);
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressSink")
    }
}

/// Why a tool gave no result. The cause says what happened; [`with_causes`](crate::prelude::with_causes) writes both.
#[derive(Debug, thiserror::Error)]
#[error("{server}: the tool {tool:?} gave no result")]
#[non_exhaustive]
pub struct ToolError {
    /// The server.
    pub server: ServerName,
    /// The tool.
    pub tool: String,
    /// What happened.
    pub source: ClientError,
}

/// A `tools/call` that is made when this is awaited: see [`Client::tool`].
#[derive(Debug)]
#[must_use = "the call is made when this is awaited"]
pub struct ToolRequest<'a> {
    client: &'a Client,
    call: ToolCall,
    /// Why it cannot be made.
    refused: Option<ClientError>,
    stop: CancellationToken,
}

impl Client {
    /// All tools of the server: [`Client::list_tools`], which ends when this is dropped.
    ///
    /// # Errors
    /// If a page of the list cannot be fetched.
    pub async fn tools(&self) -> Result<Vec<Tool>, ClientError> {
        self.list_tools(&CancellationToken::new()).await
    }

    /// A call of the tool `name`, with an object of arguments; `Value::Null` means an empty one. Its questions go to
    /// the host's resolver.
    ///
    /// ```no_run
    /// # async fn example(client: &toolnexus::client::Client) -> Result<(), toolnexus::client::ToolError> {
    /// use toolnexus::prelude::*;
    ///
    /// let result = client.tool("greet", json!({"loud": true})).await?;
    /// println!("{:?}", result.content);
    ///
    /// let stop = CancellationToken::new();
    /// let slow = client.tool("index", json!({})).on_progress(|at| println!("{}", at.progress)).cancelled_by(&stop);
    /// slow.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn tool(&self, name: impl Into<String>, arguments: Value) -> ToolRequest<'_> {
        let (arguments, refused) = match arguments {
            Value::Object(arguments) => (arguments, None),
            Value::Null => (Map::new(), None),
            other => (Map::new(), Some(ClientError::Arguments(other))),
        };
        let call = ToolCall { name: name.into(), arguments, ..ToolCall::default() };
        ToolRequest { client: self, call, refused, stop: CancellationToken::new() }
    }
}

impl ToolRequest<'_> {
    /// Gives up the call, and tells the server so, when `stop` fires.
    pub fn cancelled_by(mut self, stop: &CancellationToken) -> Self {
        self.stop = stop.clone();
        self
    }

    /// How long the call may be silent; progress and questions restart the count.
    pub fn timeout(mut self, silence: Duration) -> Self {
        self.call.timeout = Some(silence);
        self
    }

    /// Calls `sink` with the call's progress. It must not block for long.
    pub fn on_progress(mut self, sink: impl Fn(ToolProgress) + Send + Sync + 'static) -> Self {
        self.call.on_progress = Some(ProgressSink::new(sink));
        self
    }

    /// The tool's entry in [`Client::list_tools`]: says whether a lost call may be repeated, whether it must be a task,
    /// and which arguments are mirrored in HTTP headers.
    pub fn listed(mut self, tool: Tool) -> Self {
        self.call.tool = Some(tool);
        self
    }
}

impl<'a> IntoFuture for ToolRequest<'a> {
    type Output = Result<CallToolResult, ToolError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    /// Makes the call. If a resolver puts a question aside, the call is interrupted; [`Client::call_tool`] returns such
    /// a call instead.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let tool = self.call.name.clone();
            let ended = match self.refused.map_or(Ok(()), Err) {
                Ok(()) => self.client.call_tool(self.call, &self.stop).await,
                Err(refused) => Err(refused),
            };
            let ended = match ended {
                Ok(CallEnd::Done(report)) => return Ok(CallToolResult::from_raw(&report.result)),
                Ok(CallEnd::Deferred(pending)) => ClientError::Interrupted { method: pending.method },
                Err(error) => error,
            };
            Err(ToolError { server: self.client.server().clone(), tool, source: ended })
        })
    }
}
