//! The demo server over HTTP, in both eras.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use toolnexus::{
    protocol::{Frame, Id, Revision},
    transport::{Grace, Limits, Transport, http},
};
use url::Url;

use super::transport::{endpoint, frame};
use crate::harness::Test;

/// A running demo server.
pub(crate) struct Demo {
    child: Child,
    pub(crate) url: String,
}

impl Demo {
    pub(crate) fn start() -> Self {
        Self::start_at("0")
    }

    fn start_at(port: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolnexus"));
        command.args(["demo-server", "--http", port]).env_clear().stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("piped");
        BufReader::new(stderr).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("serving ").expect("an address").to_owned();
        Self { child, url }
    }

    fn connect(&self) -> Box<dyn Transport> {
        http::connect(&endpoint(&self.url), Limits::default(), None).expect("a transport")
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn call(id: u64, method: &str, params: &Value) -> Frame {
    Frame::request(&Id::from(id), method, Some(params))
}

#[tokio::test]
async fn a_legacy_client_is_asked_on_the_stream_of_its_call() {
    let demo = Demo::start();
    let mut client = demo.connect();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}}}});
    client.send(call(1, "initialize", &hello).into()).expect("sent");
    assert_eq!(frame(&mut client).await["result"]["protocolVersion"], "2025-11-25");
    client.agree(Revision::V2025_11_25);
    client.send(Frame::notification("notifications/initialized", None).into()).expect("sent");
    client.send(call(2, "tools/call", &json!({"name": "greet"})).into()).expect("sent");
    let question = frame(&mut client).await;
    assert_eq!(question["method"], "elicitation/create");
    let id = Id::from_value(&question["id"]).expect("an id");
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    client.send(Frame::result(&id, &answer).into()).expect("sent");
    assert_eq!(frame(&mut client).await["result"]["content"][0]["text"], "Hello, Ada!");
    let counted = json!({"name": "countdown", "arguments": {"from": 2}, "_meta": {"progressToken": "t"}});
    client.send(call(3, "tools/call", &counted).into()).expect("sent");
    assert_eq!(frame(&mut client).await["params"]["progress"], 1);
    assert_eq!(frame(&mut client).await["params"]["progress"], 2);
    assert_eq!(frame(&mut client).await["id"], 3);
    client.close(Grace::Exactly(Duration::from_millis(200))).await;
}

#[tokio::test]
async fn a_modern_client_is_asked_by_results() {
    let demo = Demo::start();
    let mut client = demo.connect();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    client.send(call(1, "server/discover", &json!({"_meta": meta})).into()).expect("sent");
    assert_eq!(frame(&mut client).await["result"]["supportedVersions"], json!(["2026-07-28"]));
    client.send(call(2, "tools/call", &json!({"name": "greet", "_meta": meta})).into()).expect("sent");
    let asked = frame(&mut client).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    let answers = json!({"form": {"action": "accept", "content": {"name": "Ada"}}});
    let again =
        json!({"name": "greet", "_meta": meta, "inputResponses": answers, "requestState": asked["requestState"]});
    client.send(call(3, "tools/call", &again).into()).expect("sent");
    assert_eq!(frame(&mut client).await["result"]["content"][0]["text"], "Hello, Ada!");
    client.send(call(4, "no/such", &json!({"_meta": meta})).into()).expect("sent");
    assert_eq!(frame(&mut client).await["error"]["code"], -32601);
    client.close(Grace::Exactly(Duration::from_millis(200))).await;
}

#[test]
fn a_call_that_was_put_aside_is_finished_by_a_server_that_was_started_again() {
    let demo = Demo::start();
    let url = Url::parse(&demo.url).expect("an address");
    let port = url.port().expect("a port").to_string();
    let test = Test::new().entry("web", json!({"url": demo.url}));
    let run = |args: &[&str]| {
        let output = test.command().args(args).stdin(Stdio::null()).output().expect("the program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (status, told) = run(&["call", "web", "greet", "--defer", "call.json", "-o", "json"]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((status, &told["status"]), (Some(75), &json!("pending")));
    drop(demo);
    assert_eq!(run(&["resume", "call.json", "--answer", "name=Ada"]).0, Some(4));
    let _demo = Demo::start_at(&port);
    assert_eq!(run(&["resume", "call.json", "--answer", "name=Ada"]), (Some(0), "Hello, Ada!\n".to_owned()));
    assert!(!test.folder().join("call.json").exists());
}
