//! What a program that uses this library usually imports.
//!
//! ```no_run
//! use toolnexus::prelude::*;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let resolver = wait_for(async |request: Request| Answer::accept(&request.id, Some(json!({"name": "Ada"}))));
//! let host = Host::from_config("mcp.json", Some(resolver))?;
//! let client = host.connect("forms").await?;
//! println!("{}", client.tool("greet", json!({})).await?.text());
//! host.disconnect_all().await;
//! # Ok(())
//! # }
//! ```

pub use futures_util::future::BoxFuture;
pub use serde_json::{Map, Value, json};
pub use tokio_util::sync::CancellationToken;

pub use crate::{
    client::{Client, ClientError, ToolError, ToolProgress, ToolRequest},
    elicitation::{
        Answer, Outcome, Question, QuestionBody, Request, Resolver, WaitFor, make_answer, wait_for, wait_for_blocking,
        wait_for_question,
    },
    host::{Host, HostError, HostOptions, ServerState, Status},
    protocol::{CallToolResult, ContentBlock, Tool},
    text::with_causes,
};
