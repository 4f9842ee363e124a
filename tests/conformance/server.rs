//! The server that the official conformance suite tests: the server's half of elicitation over Streamable HTTP, with
//! the tools that the scenarios on elicitation and on input-required results need. Prints its address and serves.

#![expect(clippy::print_stdout, reason = "it prints its address")]

use std::{
    collections::{HashMap, HashSet},
    io,
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot};
use toolnexus::{
    demo::{DemoConversation, DemoOutbox, serve_http},
    elicitation::{ServerHalfError, Verdict, build_callback, build_request, parse_result},
    protocol::{Frame, FrameKind, Id, RpcError, code},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let issued = Arc::new(Mutex::new(HashSet::new()));
    serve_http(listener, move || Arc::new(Server { issued: Arc::clone(&issued), replies: Mutex::default() })).await
}

struct Server {
    /// Every `requestState` that was issued: any other one was tampered with.
    issued: Arc<Mutex<HashSet<String>>>,
    replies: Mutex<HashMap<Id, oneshot::Sender<Vec<u8>>>>,
}

impl DemoConversation for Server {
    fn receive(self: Arc<Self>, frame: Frame, out: DemoOutbox) -> BoxFuture<'static, ()> {
        async move {
            match frame.kind().clone() {
                FrameKind::Request { id, method } => {
                    let params = frame.body_value().unwrap_or_default();
                    let is_modern = params.pointer("/_meta/io.modelcontextprotocol~1protocolVersion").is_some();
                    let answer = if is_modern {
                        self.modern(&method, &params)
                    } else {
                        self.legacy(&method, &params, &out).await
                    };
                    out(match answer {
                        Ok(result) => Frame::result(&id, &result),
                        Err(error) => Frame::error(&id, &error),
                    });
                }
                FrameKind::Response { id } | FrameKind::Error { id: Some(id) } => {
                    let reply = self.replies.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                    drop(reply.map(|reply| reply.send(frame.bytes().to_vec())));
                }
                FrameKind::Notification { .. } | FrameKind::Error { id: None } => {}
            }
        }
        .boxed()
    }
}

impl Server {
    async fn legacy(&self, method: &str, params: &Value, out: &DemoOutbox) -> Result<Value, RpcError> {
        match method {
            "initialize" => Ok(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "conformance", "version": "1"},
            })),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(tools()),
            "tools/call" => {
                let schema = match params["name"].as_str() {
                    Some("test_elicitation_sep1034_defaults") => defaults(),
                    Some("test_elicitation_sep1330_enums") => enums(),
                    _ => return Err(RpcError::new(code::INVALID_PARAMS, "Unknown tool")),
                };
                let (action, content) = match self.ask(&schema, out).await? {
                    Verdict::Accept(content) => ("accept", content),
                    Verdict::Decline => ("decline", json!({})),
                    Verdict::Cancel => ("cancel", json!({})),
                };
                Ok(text(&format!("Elicitation completed: action={action}, content={content}")))
            }
            _ => Err(RpcError::method_not_found()),
        }
    }

    async fn ask(&self, schema: &Value, out: &DemoOutbox) -> Result<Verdict, RpcError> {
        let id = Id::from("question");
        let (sender, receiver) = oneshot::channel();
        self.replies.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), sender);
        let verdict = round_trip(build_request(&id, "Please fill this in.", schema), receiver, Arc::clone(out)).await;
        verdict.map_err(|error| RpcError::new(code::INTERNAL_ERROR, error.to_string()))
    }

    fn modern(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let mut result = match method {
            "server/discover" => {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "prompts": {}}})
            }
            "tools/list" => tools(),
            "prompts/list" => json!({"prompts": [{"name": "test_input_required_result_prompt"}]}),
            "tools/call" | "prompts/get" => self.rounds(params)?,
            _ => return Err(RpcError::method_not_found()),
        };
        if !method.contains("call") && !method.contains("get") {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        if result.get("resultType").is_none() {
            result["resultType"] = json!("complete");
        }
        Ok(result)
    }

    /// A call with rounds: asks for the inputs that are still missing.
    fn rounds(&self, params: &Value) -> Result<Value, RpcError> {
        let state = params["requestState"].as_str();
        if state.is_some_and(|state| !self.issued.lock().unwrap_or_else(PoisonError::into_inner).contains(state)) {
            return Err(RpcError::new(code::INVALID_PARAMS, "requestState was tampered with"));
        }
        let capabilities = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let name = params["name"].as_str().unwrap_or_default();
        let responses = &params["inputResponses"];
        let (inputs, done) = match name.strip_prefix("test_input_required_result_") {
            Some("elicitation") => {
                (vec![form("user_name", "What is your name?", "name", "string")], greeting(responses))
            }
            Some("sampling") => (vec![sampling("capital_question")], text(&responses.to_string())),
            Some("list_roots") => (vec![roots()], text(&responses.to_string())),
            Some("request_state" | "tampered_state") => {
                (vec![form("confirm", "Please confirm", "ok", "boolean")], text("state-ok"))
            }
            Some("multiple_inputs") => (
                vec![form("user_name", "What is your name?", "name", "string"), sampling("greeting"), roots()],
                text("all"),
            ),
            Some("multi_round") if state == Some("multi_round-2") => {
                (vec![form("step2", "Step 2: What is your favorite color?", "color", "string")], text("done"))
            }
            Some("multi_round") if is_answered("step1", responses) => {
                return Ok(self.asked(
                    vec![form("step2", "Step 2: What is your favorite color?", "color", "string")],
                    "multi_round-2",
                ));
            }
            Some("multi_round") => (vec![form("step1", "Step 1: What is your name?", "name", "string")], text("done")),
            Some("capabilities") => {
                let all = vec![form("user_name", "What is your name?", "name", "string"), sampling("greeting")];
                (all.into_iter().filter(|input| is_declared(input, capabilities)).collect(), text("done"))
            }
            Some("prompt") => {
                let message = json!({"role": "user", "content": {"type": "text", "text": responses.to_string()}});
                (
                    vec![form("user_context", "What context should the prompt use?", "context", "string")],
                    json!({"messages": [message]}),
                )
            }
            _ => return Err(RpcError::new(code::INVALID_PARAMS, "Unknown tool")),
        };
        let missing: Vec<_> = inputs.into_iter().filter(|(key, _)| !is_answered(key, responses)).collect();
        if missing.is_empty() { Ok(done) } else { Ok(self.asked(missing, &format!("{name}-1"))) }
    }

    fn asked(&self, inputs: Vec<Input>, state: &str) -> Value {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner).insert(state.to_owned());
        let inputs: serde_json::Map<String, Value> =
            inputs.into_iter().map(|(key, input)| (key.to_owned(), input)).collect();
        json!({"resultType": "input_required", "inputRequests": inputs, "requestState": state})
    }
}

async fn round_trip(
    request: Frame,
    reply: oneshot::Receiver<Vec<u8>>,
    out: DemoOutbox,
) -> Result<Verdict, ServerHalfError> {
    let write = move |frame| {
        out(frame);
        Ok(())
    };
    let mut reply = Some(reply);
    let read = move || {
        let reply = reply.take();
        async { reply.ok_or(io::ErrorKind::UnexpectedEof)?.await.map_err(io::Error::other) }
    };
    match build_callback(Some(write), Some(read)) {
        Some(mut callback) => callback.send(request).await,
        None => Ok(Verdict::Cancel),
    }
}

type Input = (&'static str, Value);

fn form(key: &'static str, message: &str, field: &str, kind: &str) -> Input {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    (
        key,
        json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}),
    )
}

fn sampling(key: &'static str) -> Input {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": "What is the capital of France?"}}]);
    (key, json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}}))
}

fn roots() -> Input {
    ("client_roots", json!({"method": "roots/list", "params": {}}))
}

fn is_answered(key: &str, responses: &Value) -> bool {
    let Some(response) = responses.get(key).filter(|response| response.is_object()) else { return false };
    // A response with an action is an answer to a form; sampling and roots have none.
    response.get("action").is_none() || parse_result(response).is_ok()
}

fn is_declared((_, input): &Input, capabilities: &Value) -> bool {
    let needed = match input["method"].as_str() {
        Some("elicitation/create") => "elicitation",
        _ => "sampling",
    };
    capabilities.get(needed).is_some()
}

fn greeting(responses: &Value) -> Value {
    let name = responses["user_name"]["content"]["name"].as_str().unwrap_or("stranger");
    text(&format!("Hello, {name}!"))
}

fn text(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}]})
}

fn tools() -> Value {
    let tool = |name: &str| json!({"name": name, "description": "Asks.", "inputSchema": {"type": "object"}});
    let rounds = [
        "elicitation",
        "sampling",
        "list_roots",
        "request_state",
        "tampered_state",
        "multiple_inputs",
        "multi_round",
        "capabilities",
    ];
    let mut tools: Vec<Value> = rounds.iter().map(|name| tool(&format!("test_input_required_result_{name}"))).collect();
    tools.extend(["test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"].map(tool));
    json!({"tools": tools})
}

fn defaults() -> Value {
    json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true}}})
}

fn enums() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]);
    json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}}}})
}
