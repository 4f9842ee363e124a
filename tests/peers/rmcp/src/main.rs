//! A server on the official Rust SDK, in the newest revision: its tool asks in rounds. usage: rmcp-peer [PORT] — over
//! HTTP at PORT, or over stdio

use std::{collections::BTreeMap, env, error::Error};

use rmcp::{
    ErrorData, ServerHandler, ServiceExt as _,
    handler::server::{
        tool::{InputResponses, RequestState},
        wrapper::Parameters,
    },
    model::{
        CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams, InputRequest,
        InputRequiredResult, ProtocolVersion, ServerCapabilities, ServerConfig,
    },
    schemars::JsonSchema,
    tool, tool_handler, tool_router,
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use serde::Deserialize;
use serde_json::json;

#[derive(Clone)]
struct Greeter;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    greeting: String,
}

#[tool_router]
impl Greeter {
    #[tool(description = "Greets by a name that it asks for")]
    async fn greet(
        &self,
        Parameters(arguments): Parameters<Arguments>,
        RequestState(state): RequestState,
        InputResponses(responses): InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        if state.as_deref() != Some("asked.once/+=\"") {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            let schema = serde_json::from_value(schema).map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
            let params = ElicitRequestParams::FormElicitationParams {
                meta: None,
                message: "What is your name?".into(),
                requested_schema: schema,
            };
            let asked = BTreeMap::from([("who".to_owned(), InputRequest::Elicitation(ElicitRequest::new(params)))]);
            return Ok(InputRequiredResult::new(Some(asked), Some("asked.once/+=\"".into())).into());
        }
        let who = responses.as_ref().and_then(|responses| responses.get("who"));
        let who = who.ok_or_else(|| ErrorData::invalid_params("nobody answered", None))?;
        let words = match who["content"]["name"].as_str() {
            Some(name) => format!("{}, {name}!", arguments.greeting),
            None => format!("not greeted: {}", who["action"].as_str().unwrap_or_default()),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(words)]).into())
    }
}

#[tool_handler]
impl ServerHandler for Greeter {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.protocol_version = ProtocolVersion::V_2026_07_28;
        info
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(port) = env::args().nth(1) else {
        Greeter.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let config = StreamableHttpServerConfig::default();
    let service: StreamableHttpService<Greeter, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Greeter), Default::default(), config);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
