//! The program with awkward web servers.

use std::{
    fmt::Write as _,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use serde_json::{Value, json};

use super::server::{Reply, Request, Server};
use crate::harness::Test;

/// A legacy server with one tool, `t`, whose calls are answered by `call`.
pub(super) fn legacy(call: impl Fn(&Request, &mut Reply) + Send + Sync + 'static) -> Server {
    Server::start(move |request, reply| match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            let result = json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "awkward", "version": "1"},
            });
            let body = json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}).to_string();
            reply.respond(200, "Content-Type: application/json\r\nMcp-Session-Id: one\r\n", body.as_bytes());
        }
        ("POST", "tools/list") => answer(request, reply, &json!({"tools": [{"name": "t", "inputSchema": {}}]})),
        ("POST", "tools/call") => call(request, reply),
        ("POST", "server/discover") => reply.empty(400),
        ("POST", _) => reply.empty(202),
        ("DELETE", _) => reply.empty(204),
        _ => reply.empty(405),
    })
}

/// A modern server with one tool, `t`, whose calls are answered by `call`.
pub(super) fn modern(call: impl Fn(&Request, &mut Reply) + Send + Sync + 'static) -> Server {
    Server::start(move |request, reply| match request.rpc().as_str() {
        "server/discover" => {
            answer(request, reply, &json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}));
        }
        "tools/list" => answer(request, reply, &json!({"tools": [{"name": "t", "inputSchema": {}}]})),
        "tools/call" => call(request, reply),
        _ => reply.empty(405),
    })
}

pub(super) fn answer(request: &Request, reply: &mut Reply, result: &Value) {
    reply.json(200, &json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}));
}

pub(super) fn done() -> Value {
    json!({"content": [{"type": "text", "text": "done"}]})
}

pub(super) fn call(server: &Server) -> Test {
    Test::new().args(["call", &server.url("/mcp"), "t"])
}

#[test]
fn a_website_is_no_server() {
    let website = Server::start(|_, reply| reply.respond(200, "Content-Type: text/html\r\n", b"<html>Welcome</html>"));
    call(&website).status(4).stderr_contains("text/html instead of JSON: <html>Welcome</html>").run();
    let missing = Server::start(|_, reply| reply.respond(404, "", b"nothing here"));
    call(&missing).status(4).stderr_contains("HTTP 404: nothing here").run();
    let down = Server::start(|_, reply| reply.respond(500, "", b"db down"));
    call(&down).status(4).stderr_contains("HTTP 500: db down").run();
    let nobody = Test::new().args(["call", "http://127.0.0.1:9/mcp", "t"]).status(4);
    nobody.stderr_contains("Connection refused").run();
}

#[test]
fn an_invalid_answer_ends_the_call_immediately() {
    type Answer = fn(&Request, &mut Reply);
    let cases: [(Answer, &str); 6] = [
        (|_, reply| reply.empty(202), "HTTP 202 without a body"),
        (
            |_, reply| reply.respond(200, "Content-Type: text/html\r\n", b"<p>Sorry"),
            "text/html instead of JSON: <p>Sorry",
        ),
        (
            |_, reply| {
                reply.stream("");
                reply.raw(b": working\n\n");
            },
            "the stream ended before the answer",
        ),
        (
            |_, reply| {
                reply.stream("Transfer-Encoding: chunked\r\n");
                reply.raw(b"1f\r\ndata: {\"id\":1,\"result\":{\"hal\r\n");
            },
            "the stream was cut off before the answer",
        ),
        (
            |_, reply| {
                reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"id\":1");
                reply.close();
            },
            "the answer was cut",
        ),
        (|_, reply| reply.respond(503, "", b"busy"), "HTTP 503: busy"),
    ];
    for (answer, words) in cases {
        for server in [legacy(answer), modern(answer)] {
            let run = call(&server).status(4).stderr_contains(words).run();
            assert!(run.took < Duration::from_secs(5), "{words}: {:?}", run.took);
            let calls = server.seen().iter().filter(|request| request.rpc() == "tools/call").count();
            assert_eq!(calls, 1, "{words}: a lost call was repeated");
        }
    }
}

#[test]
fn an_id_that_comes_back_in_another_spelling_is_known() {
    for spelling in [|id: &Value| json!(id.to_string()), |id: &Value| json!(id.as_f64())] {
        for is_stream in [false, true] {
            let server = legacy(move |request, reply| {
                let message = json!({"jsonrpc": "2.0", "id": spelling(&request.json()["id"]), "result": done()});
                if is_stream {
                    reply.stream("");
                    reply.event(&message);
                    // It counts when it comes, not when the stream ends.
                    reply.wait_for_close();
                } else {
                    reply.json(200, &message);
                }
            });
            let run = call(&server).stdout("done\n").stderr("").run();
            assert!(run.took < Duration::from_secs(10), "{:?}", run.took);
        }
    }
    let without = legacy(|_, reply| reply.json(200, &json!({"jsonrpc": "2.0", "id": null, "result": done()})));
    let told =
        "tools/call got no result: there was no usable answer: the body is not a message (it has a result but no id";
    call(&without).status(4).stderr_contains(told).run();
}

#[test]
fn comments_and_drips_are_no_progress() {
    type Answer = fn(&Request, &mut Reply);
    let comments: Answer = |_, reply| {
        reply.stream("");
        while !reply.is_gone() {
            reply.raw(b": still here\n\n");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let drip: Answer = |_, reply| {
        reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n");
        while !reply.is_gone() {
            reply.raw(b" ");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    for answer in [comments, drip] {
        for server in [legacy(answer), modern(answer)] {
            let run = call(&server).args(["--timeout", "0.5"]).status(7).run();
            assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
        }
    }
}

#[test]
fn ten_thousand_notifications_come_in_order() {
    let server = legacy(|request, reply| {
        let token = request.json()["params"]["_meta"]["progressToken"].clone();
        reply.stream("");
        let mut events = String::new();
        for n in 1..=10_000 {
            let params = json!({"progressToken": token, "progress": n});
            let note = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
            write!(events, "data: {note}\n\n").expect("written");
        }
        reply.raw(events.as_bytes());
        reply.event(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": done()}));
    });
    let run = call(&server).args(["-o", "events"]).run();
    let steps: Vec<f64> = run.events().iter().filter_map(|event| event["progress"].as_f64()).collect();
    assert_eq!(steps.len(), 10_000);
    assert!(steps.is_sorted());
}

#[test]
fn twenty_megabytes_of_result_arrive() {
    let server = modern(|request, reply| {
        answer(request, reply, &json!({"content": [{"type": "text", "text": "x".repeat(20_000_000)}]}));
    });
    let run = call(&server).run();
    assert_eq!(run.stdout.len(), 20_000_001);
    let entry = json!({"url": server.url("/mcp"), "maxMessage": 1_000_000});
    let small = Test::new().entry("s", entry).args(["call", "s", "t"]).status(4);
    small.stderr_contains("maxMessage").run();
}

#[test]
fn a_lost_session_is_begun_again_once() {
    let calls = AtomicUsize::new(0);
    let server = legacy(move |request, reply| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => reply.respond(404, "", b"Session not found"),
        _ => answer(request, reply, &done()),
    });
    call(&server).stdout("done\n").run();
    let rpc: Vec<String> = server.seen().iter().map(Request::rpc).filter(|rpc| !rpc.is_empty()).collect();
    let expected = [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
        "initialize",
        "notifications/initialized",
        "tools/call",
    ];
    assert_eq!(rpc, expected);
    let again = server.seen().into_iter().filter(|request| request.rpc() == "initialize").nth(1).expect("a second one");
    assert_eq!(again.header("mcp-session-id"), None);

    let gone = legacy(|_, reply| reply.respond(404, "", b"Session not found"));
    call(&gone).status(4).stderr_contains("session").run();
    assert_eq!(gone.seen().iter().filter(|request| request.rpc() == "tools/call").count(), 2);
}

#[test]
fn a_server_that_requires_a_sign_in_has_its_own_error() {
    let server = Server::start(|_, reply| {
        reply.respond(401, "WWW-Authenticate: Bearer resource_metadata=\"http://x/\"\r\n", b"");
    });
    let run = call(&server).args(["-o", "json"]).status(5).run();
    assert_eq!(run.error()["exit"], 5);
    let picky = modern(|request, reply| answer(request, reply, &done()));
    call(&picky).args(["-H", "X-Team: blue", "--bearer-env", "TOKEN"]).env("TOKEN", "s3cret").run();
    for request in picky.seen() {
        assert_eq!(request.header("x-team"), Some("blue"));
        assert_eq!(request.header("authorization"), Some("Bearer s3cret"));
    }
}

#[test]
fn notifications_and_streams_may_be_answered_in_any_way() {
    for (status, body) in [(200, ""), (204, ""), (200, "ok"), (202, "{}")] {
        let server = Server::start(move |request, reply| match (request.method.as_str(), request.rpc().as_str()) {
            ("POST", "initialize") => {
                reply.stream("X-Note: charset follows\r\n");
                reply.raw(b": hi\n\nid: 1\ndata:\n\nevent: ping\ndata: 12:00\n\n");
                let result = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}});
                reply.event(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}));
            }
            ("POST", "tools/list") => answer(request, reply, &json!({"tools": [{"name": "t"}]})),
            ("POST", "tools/call") => answer(request, reply, &done()),
            ("POST", "server/discover") => {
                let message = "Unsupported protocol version (supported: 2025-06-18)";
                reply.json(400, &json!({"error": {"code": -32000, "message": message}}));
            }
            ("POST", _) => reply.respond(status, "Content-Type: text/plain\r\n", body.as_bytes()),
            _ => reply.respond(404, "Content-Type: text/html\r\n", b"<html>"),
        });
        call(&server).stdout("done\n").stderr("").run();
        let called = server.wait_for(|request| request.rpc() == "tools/call");
        assert_eq!(called.header("mcp-protocol-version"), Some("2025-06-18"));
    }
}

#[test]
fn a_version_that_is_refused_leads_to_one_that_both_know() {
    let server = Server::start(|request, reply| match request.rpc().as_str() {
        "initialize" if request.json()["params"]["protocolVersion"] == "2025-06-18" => {
            answer(request, reply, &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}}));
        }
        "tools/list" => answer(request, reply, &json!({"tools": [{"name": "t"}]})),
        "tools/call" => answer(request, reply, &done()),
        "notifications/initialized" => reply.empty(202),
        _ if request.method == "GET" => reply.empty(405),
        _ => {
            let message = "Unsupported protocol version (supported: 2025-06-18)";
            reply.json(400, &json!({"error": {"code": -32000, "message": message}}));
        }
    });
    call(&server).stdout("done\n").run();
}

#[test]
fn a_trace_has_everything_but_secrets() {
    let server = legacy(|request, reply| {
        reply.stream("");
        reply.event(&json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": done()}));
    });
    let entry =
        json!({"url": server.url("/mcp?key=s3cret"), "headers": {"Authorization": "Bearer s3cret", "X-Key": "s3cret"}});
    let run = Test::new().entry("s", entry).args(["call", "s", "t", "--trace", "trace.jsonl"]).run();
    let path = run.path("trace.jsonl");
    let text = std::fs::read_to_string(&path).expect("a trace");
    assert!(!text.contains("s3cret"), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().all(|line| line["server"] == "s" && line["time"].is_string()), "{text}");
    assert!(lines.iter().any(|line| line["sent"]["method"] == "tools/call"), "{text}");
    assert!(lines.iter().any(|line| line["received"]["result"]["content"][0]["text"] == "done"), "{text}");
    assert!(lines.iter().any(|line| line["http"]["status"] == 405), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn questions_may_come_on_the_stream_of_the_session() {
    let stream: Mutex<Option<Reply>> = Mutex::new(None);
    let (answered, answers) = mpsc::channel();
    let answers = Mutex::new(answers);
    let server = Server::start(move |request, reply| match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => answer(
            request,
            reply,
            &json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}),
        ),
        ("POST", "tools/list") => answer(request, reply, &json!({"tools": [{"name": "t"}]})),
        ("POST", "tools/call") => {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
            let question = json!({"message": "Who?", "requestedSchema": schema});
            let mut stream = stream.lock().expect("mine");
            let stream = stream.as_mut().expect("the stream is opened before the first call");
            stream.event(&json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": question}));
            let said: Value = answers.lock().expect("mine").recv_timeout(Duration::from_secs(5)).expect("an answer");
            answer(request, reply, &json!({"content": [{"type": "text", "text": said.to_string()}]}));
        }
        ("POST", "server/discover") => reply.empty(400),
        ("POST", _) => {
            if request.json()["id"] == "q" {
                answered.send(request.json()["result"].clone()).expect("waited for");
            }
            reply.empty(202);
        }
        ("GET", _) => {
            reply.stream("");
            *stream.lock().expect("mine") = Some(reply.another());
            reply.wait_for_close();
        }
        _ => reply.empty(405),
    });
    let said = "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}\n";
    call(&server).args(["--answer", "name=Ada"]).stdout(said).run();
}

#[cfg(unix)]
#[test]
fn ctrl_c_tells_the_server_and_ends_the_session() {
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };
    for (server, is_legacy) in [(legacy(hang), true), (modern(hang), false)] {
        let child = call(&server).command().stderr(std::process::Stdio::null()).spawn();
        let mut child = child.expect("started");
        server.wait_for(|request| request.rpc() == "tools/call");
        kill(Pid::from_raw(i32::try_from(child.id()).expect("a pid")), Signal::SIGINT).expect("sent");
        assert_eq!(child.wait().expect("ended").code(), Some(130));
        let seen = server.seen();
        let told = seen.iter().any(|request| request.rpc() == "notifications/cancelled");
        let ended = seen.iter().any(|request| request.method == "DELETE");
        assert_eq!((told, ended), (is_legacy, is_legacy), "{seen:#?}");
    }
}

fn hang(_: &Request, reply: &mut Reply) {
    reply.stream("");
    reply.wait_for_close();
}
