//! What is between us and a server: gateways that fail for a moment, load balancers with cookies, streams that are cut
//! off.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::json;

use super::{
    awkward::{answer, call, done, legacy, modern},
    server::{Reply, Request, Server},
};
use crate::harness::Test;

/// A server that is only modern, and answers the first `failures` requests of `method` with `status` and `head`.
fn failing(method: &'static str, failures: usize, status: u16, head: &'static str) -> Server {
    let seen = AtomicUsize::new(0);
    Server::start(move |request, reply| match request.rpc().as_str() {
        rpc if rpc == method && seen.fetch_add(1, Ordering::SeqCst) < failures => {
            reply.respond(status, head, b"the gateway is tired");
        }
        "server/discover" => {
            answer(request, reply, &json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}));
        }
        "tools/list" => answer(request, reply, &json!({"tools": [{"name": "t", "inputSchema": {}}]})),
        "tools/call" => answer(request, reply, &done()),
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            reply.json(404, &json!({"jsonrpc": "2.0", "id": request.json()["id"], "error": error}));
        }
    })
}

fn times(server: &Server, method: &str) -> usize {
    server.seen().iter().filter(|request| request.rpc() == method).count()
}

#[test]
fn a_gateway_that_fails_once_says_nothing_of_the_era() {
    for status in [408, 425, 429, 500, 502, 503, 504, 522, 529] {
        for method in ["server/discover", "tools/list"] {
            let server = failing(method, 1, status, "");
            let test = call(&server).stdout("done\n").stderr_contains(&format!("HTTP {status}: trying again in 0.5 s"));
            let again = test.again();
            test.run();
            assert_eq!((times(&server, method), times(&server, "initialize")), (2, 0), "{status} {method}");
            again.args(["call", &server.url("/mcp"), "t"]).stdout("done\n").stderr("").run();
        }
    }
}

#[test]
fn a_gateway_that_fails_at_the_handshake_is_tried_again() {
    let seen = AtomicUsize::new(0);
    let inner = |request: &Request, reply: &mut Reply| answer(request, reply, &done());
    let server = Server::start(move |request, reply| match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") if seen.fetch_add(1, Ordering::SeqCst) == 0 => reply.empty(503),
        ("POST", "initialize") => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}});
            answer(request, reply, &result);
        }
        ("POST", "tools/list") => answer(request, reply, &json!({"tools": [{"name": "t", "inputSchema": {}}]})),
        ("POST", "tools/call") => inner(request, reply),
        ("POST", "server/discover") => reply.empty(400),
        ("POST", _) => reply.empty(202),
        _ => reply.empty(405),
    });
    call(&server).stdout("done\n").stderr_contains("HTTP 503: trying again").run();
    assert_eq!(times(&server, "initialize"), 2);
}

#[test]
fn a_gateway_that_stays_down_is_named() {
    for status in [502, 503] {
        let run = call(&failing("server/discover", 99, status, "")).status(4).run();
        assert!(run.stderr.contains(&format!("HTTP {status}: the gateway is tired")), "{}", run.stderr);
        assert!(run.took < Duration::from_secs(15), "{:?}", run.took);
    }
    // A server that fails on the probe, and knows no other request: the first failure says more.
    let run = call(&failing("server/discover", 99, 500, "")).status(4).run();
    assert!(run.stderr.contains("HTTP 500: the gateway is tired"), "{}", run.stderr);
    let server = failing("server/discover", 1, 501, "");
    let run =
        call(&server).status(4).stderr("error: 127.0.0.1: the server answered with HTTP 501: the gateway is tired\n");
    run.run();
    // Neither era is remembered.
    call(&server).stdout("done\n").stderr("").run();
}

#[test]
fn a_pause_that_the_server_names_is_kept() {
    let server = failing("server/discover", 1, 429, "Retry-After: 1\r\n");
    let run = call(&server).stdout("done\n").stderr_contains("HTTP 429: trying again in 1 s").run();
    assert!(run.took >= Duration::from_secs(1), "{:?}", run.took);
    // If the pause is longer than the remaining time, the call ends immediately.
    let server = failing("server/discover", 1, 503, "Retry-After: 3600\r\n");
    let run = call(&server).status(4).stderr_contains("HTTP 503").run();
    assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
    assert_eq!(times(&server, "server/discover"), 1);
}

#[test]
fn a_call_is_repeated_only_where_it_was_not_taken() {
    for (status, head, calls) in [
        (429, "", 2),
        (429, "Retry-After: 0\r\n", 2),
        (503, "Retry-After: 1\r\n", 2),
        (503, "", 1),
        (500, "Retry-After: 1\r\n", 1),
        (502, "", 1),
        (504, "", 1),
        (408, "", 1),
    ] {
        let server = failing("tools/call", 1, status, head);
        let run = call(&server).run_any();
        assert_eq!(times(&server, "tools/call"), calls, "{status} {head:?}: {}", run.stderr);
        assert_eq!(run.status, Some(if calls == 2 { 0 } else { 4 }), "{status} {head:?}: {}", run.stderr);
    }
}

/// A legacy server behind a load balancer: a client without the cookie reaches another node, which does not know the
/// session.
fn balanced() -> Server {
    Server::start(|request, reply| {
        let result = match request.rpc().as_str() {
            "server/discover" => return reply.empty(400),
            "initialize" => {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}});
                let body = json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}).to_string();
                let head = "Content-Type: application/json\r\nMcp-Session-Id: one\r\n\
                            Set-Cookie: lb=node1-s3cret; Path=/; HttpOnly\r\nSet-Cookie: mine=theirs\r\n";
                return reply.respond(200, head, body.as_bytes());
            }
            _ if !request.header("cookie").unwrap_or_default().contains("lb=node1-s3cret") => return reply.empty(404),
            "tools/list" => json!({"tools": [{"name": "t", "inputSchema": {}}]}),
            "tools/call" => done(),
            _ if request.method == "GET" => return reply.empty(405),
            _ => return reply.empty(202),
        };
        answer(request, reply, &result);
    })
}

#[test]
fn a_balancers_cookie_comes_back_with_everything() {
    let server = balanced();
    call(&server).stdout("done\n").stderr("").run();
    assert_eq!(times(&server, "initialize"), 1);
    let after = server.seen().into_iter().skip_while(|request| request.rpc() != "initialize").skip(1);
    for request in after {
        assert!(request.header("cookie").is_some_and(|it| it.contains("lb=node1-s3cret")), "{request:?}");
    }
    assert!(server.seen().iter().any(|request| request.method == "DELETE"));
}

#[test]
fn a_configured_cookie_stays_and_no_trace_has_any() {
    let server = balanced();
    let run = call(&server).args(["-H", "Cookie: mine=ours", "--trace", "t.jsonl"]).stdout("done\n").run();
    let last = server.wait_for(|request| request.rpc() == "tools/call");
    assert_eq!(last.header("cookie"), Some("mine=ours; lb=node1-s3cret"));
    let trace = std::fs::read_to_string(run.path("t.jsonl")).expect("the trace");
    assert!(!trace.contains("s3cret") && !trace.contains("ours") && !trace.contains("theirs"), "{trace}");
}

#[test]
fn a_cookie_never_leaves_its_origin() {
    let other = legacy(|request, reply| answer(request, reply, &done()));
    let target = other.url("/mcp");
    let first = Server::start(move |_, reply| {
        reply.respond(307, &format!("Location: {target}\r\nSet-Cookie: a=s3cret; Domain=127.0.0.1; Path=/\r\n"), b"");
    });
    call(&first).stdout("done\n").run();
    assert!(first.seen().last().expect("asked").header("cookie").is_some(), "its own origin has it back");
    assert!(other.seen().iter().all(|request| request.header("cookie").is_none()));
}

#[test]
fn an_expired_session_is_opened_again_as_it_was() {
    let expired = AtomicUsize::new(0);
    let server = Server::start(move |request, reply| match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            let version = request.json()["params"]["protocolVersion"].clone();
            let result = json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {}});
            let body = json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": result}).to_string();
            reply.respond(200, "Content-Type: application/json\r\nMcp-Session-Id: one\r\n", body.as_bytes());
        }
        ("POST", "tools/list") => answer(request, reply, &json!({"tools": [{"name": "t", "inputSchema": {}}]})),
        ("POST", "tools/call") if expired.fetch_add(1, Ordering::SeqCst) == 0 => reply.empty(404),
        ("POST", "tools/call") => answer(request, reply, &done()),
        ("POST", _) => reply.empty(202),
        _ => reply.empty(405),
    });
    for revision in ["2025-03-26", "2025-06-18"] {
        call(&server).args(["--protocol", revision]).stdout("done\n").run();
    }
    let offered: Vec<_> = server.seen().iter().filter(|it| it.rpc() == "initialize").map(Request::json).collect();
    let offered: Vec<_> = offered.iter().map(|it| it["params"]["protocolVersion"].as_str().expect("text")).collect();
    assert_eq!(offered, ["2025-03-26", "2025-03-26", "2025-06-18"]);
}

#[test]
fn a_whole_answer_counts_though_its_event_was_not_ended() {
    for end in ["", "\n"] {
        let server = legacy(move |request, reply| {
            let message = json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": done()});
            reply.stream("");
            reply.raw(format!("event: message\ndata: {message}{end}").as_bytes());
        });
        let run = call(&server).stdout("done\n").stderr("").run();
        assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
    }
    // The same where the stream stays open.
    let server = modern(move |request, reply| {
        let message = json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": done()});
        reply.stream("");
        reply.raw(format!(": hi\r\n\r\nid: 7\r\ndata: {message}\r\n").as_bytes());
        reply.wait_for_close();
    });
    let run = call(&server).stdout("done\n").stderr("").run();
    assert!(run.took < Duration::from_secs(5), "{:?}", run.took);
    // Half an answer does not count, and neither does one to another request.
    for text in [r#"data: {"jsonrpc":"2.0","id":3,"resu"#, r#"data: {"jsonrpc":"2.0","id":"x","result":{}}"#] {
        let server = legacy(move |_, reply| {
            reply.stream("");
            reply.raw(text.as_bytes());
        });
        call(&server).status(4).stderr_contains("the stream ended before the answer").run();
    }
}

#[test]
fn an_encoding_that_nobody_asked_for_is_named() {
    for encoding in ["zstd", "x-lz4"] {
        let server = modern(move |_, reply| {
            let head = format!("Content-Type: application/json\r\nContent-Encoding: {encoding}\r\n");
            reply.respond(200, &head, b"\x28\xb5\x2f\xfd\x00\x01");
        });
        let run = call(&server).status(4).stderr_contains(&format!("encoded as \"{encoding}\"")).run();
        assert!(!run.stderr.contains('\u{fffd}'), "{}", run.stderr);
    }
    let server = modern(|request, reply| {
        let body = json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": done()}).to_string();
        reply.respond(200, "Content-Type: application/json\r\nContent-Encoding: identity\r\n", body.as_bytes());
    });
    call(&server).stdout("done\n").run();
}

#[test]
fn a_stream_that_never_begins_holds_nothing_up() {
    let server = Server::start(|request, reply| match (request.method.as_str(), request.rpc().as_str()) {
        // No headers arrive while the client waits.
        ("GET", _) => drop(reply.wait_for_close()),
        ("POST", "initialize") => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}});
            answer(request, reply, &result);
        }
        ("POST", "tools/list") => answer(request, reply, &json!({"tools": [{"name": "t", "inputSchema": {}}]})),
        ("POST", "tools/call") => answer(request, reply, &done()),
        ("POST", "server/discover") => reply.empty(400),
        _ => reply.empty(202),
    });
    let fastest = (0..3).map(|_| call(&server).stdout("done\n").run().took).min().expect("three runs");
    assert!(fastest < Duration::from_millis(240), "{fastest:?}");
    assert!(server.seen().iter().any(|request| request.method == "GET"));
}

#[test]
fn a_listing_is_tried_again_too() {
    let server = failing("tools/list", 2, 503, "");
    Test::new().args(["tools", &server.url("/mcp")]).stdout_contains("t").stderr_contains("in 1 s").run();
}

#[test]
fn a_proxy_is_named_and_passed_by_where_it_does_not_count() {
    let proxy = Server::start(|request, reply| match request.rpc().as_str() {
        "server/discover" => {
            answer(request, reply, &json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}));
        }
        "tools/list" => answer(request, reply, &json!({"tools": [{"name": "t", "inputSchema": {}}]})),
        _ => answer(request, reply, &done()),
    });
    let far = |variables: &[(&str, &str)]| {
        let test = Test::new().args(["call", "http://mcp.invalid:8080/mcp", "t"]);
        variables.iter().fold(test, |test, (name, value)| test.env(name, value))
    };
    far(&[("HTTP_PROXY", &proxy.url(""))]).stdout("done\n").run();
    assert!(proxy.seen().iter().all(|request| request.path == "http://mcp.invalid:8080/mcp"));
    let dead = ("HTTP_PROXY", "http://me:s3cret@127.0.0.1:9");
    let run = far(&[dead]).status(4).stderr_contains("through the proxy 127.0.0.1:9 (HTTP_PROXY)").run();
    assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
    for exempt in ["*", "mcp.invalid:8080", "invalid"] {
        let run = far(&[dead, ("NO_PROXY", exempt)]).status(4).run();
        assert!(!run.stderr.contains("proxy"), "{exempt}: {}", run.stderr);
    }
    // This machine is reached directly.
    let here = modern(|request, reply| answer(request, reply, &done()));
    call(&here).env("HTTP_PROXY", "http://127.0.0.1:9").env("ALL_PROXY", "http://127.0.0.1:9").stdout("done\n").run();
}

#[test]
fn a_token_that_is_refused_is_named_with_the_words_of_the_server() {
    let json = "Content-Type: application/json\r\n";
    let expired = "WWW-Authenticate: Bearer error=\"invalid_token\", error_description=\"it has expired\"\r\n";
    for (head, body, words) in [
        ("", "expired yesterday", "expired yesterday"),
        (json, r#"{"error":"invalid_token","error_description":"revoked by admin"}"#, "revoked by admin"),
        (json, r#"{"message":"Bad credentials"}"#, "Bad credentials"),
        (json, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no such key"}}"#, "no such key"),
        (expired, "", "it has expired"),
    ] {
        let server = Server::start(move |_, reply| reply.respond(401, head, body.as_bytes()));
        let told = format!("error: 127.0.0.1: the token was refused: HTTP 401: {words}\n");
        let run =
            call(&server).args(["--bearer-env", "TOKEN"]).env("TOKEN", "x").status(5).stderr_contains(&told).run();
        assert!(!run.stderr.contains("--bearer-env"), "{}", run.stderr);
        let wanted = format!("error: 127.0.0.1: the server requires authorization: HTTP 401: {words}\n");
        call(&server).status(5).stderr_contains(&wanted).stderr_contains("--bearer-env").run();
    }
    // What the program did that gives the credentials is not the server's doing.
    let server = modern(|request, reply| answer(request, reply, &done()));
    let told = "there are no credentials: \"false\", which prints the credentials, failed (exit status: 1)\n";
    let run = call(&server).args(["--bearer-command", "false"]).status(5).stderr_contains(told).run();
    assert!(!run.stderr.contains("hint:"), "{}", run.stderr);
}

#[test]
fn what_a_proxy_wants_is_told() {
    let proxy = Server::start(|_, reply| reply.respond(407, "Proxy-Authenticate: Basic realm=\"x\"\r\n", b""));
    let through = |url: &str, variable: &str| {
        let test = Test::new().args(["call", url, "t"]).status(4);
        test.env(variable, &proxy.url("")).stderr_contains("the proxy wants a user name and a password").run()
    };
    through("http://mcp.example.test/mcp", "HTTP_PROXY");
    let run = through("https://mcp.example.test/mcp", "HTTPS_PROXY");
    assert!(run.stderr.contains("(HTTPS_PROXY)"), "{}", run.stderr);
    let proxy = Server::start(|_, reply| reply.empty(403));
    let test = Test::new().args(["call", "https://mcp.example.test/mcp", "t"]).env("HTTPS_PROXY", &proxy.url(""));
    test.status(4).stderr_contains("the proxy did not open a connection").run();
}

#[test]
fn a_port_without_encryption_is_named() {
    // Like web servers: anything that is not HTTP is answered with 400, in plain text.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("https://{}/mcp", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    Test::new().args(["tools", &url]).status(4).stderr_contains("this port speaks plain http, not https").run();
}
