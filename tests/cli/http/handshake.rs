//! Web servers with problems at the beginning: connections that do not last, requests that they cannot handle.

use serde_json::{Value, json};

use super::{
    awkward::{answer, call, done, legacy},
    server::{Reply, Request, Server},
};

/// A legacy server with one tool, `t`, that speaks `version` and runs `first` before anything else; if that returns
/// true, the request is done.
fn picky(version: &'static str, first: impl Fn(&Request, &mut Reply) -> bool + Send + Sync + 'static) -> Server {
    Server::start(move |request, reply| {
        if first(request, reply) {
            return;
        }
        match request.rpc().as_str() {
            "initialize" => {
                answer(request, reply, &json!({"protocolVersion": version, "capabilities": {}, "serverInfo": {}}));
            }
            "tools/list" => answer(request, reply, &json!({"tools": [{"name": "t"}]})),
            "tools/call" => answer(request, reply, &done()),
            "notifications/initialized" => reply.empty(202),
            _ => reply.empty(405),
        }
    })
}

#[test]
fn connections_that_close_without_a_word_lose_nothing_and_double_no_call() {
    for _ in 0..5 {
        let server = picky("2025-11-25", |_, reply| {
            reply.close();
            false
        });
        call(&server).stdout("done\n").stderr("").run();
        let seen = server.seen();
        let count = |method: &str| seen.iter().filter(|request| request.rpc() == method).count();
        assert_eq!((count("notifications/initialized"), count("tools/call")), (1, 1));
    }
    let server = legacy(|_, reply| reply.close());
    call(&server).status(4).stderr_contains("127.0.0.1: the connection was lost during tools/call").run();
    assert_eq!(server.seen().iter().filter(|request| request.rpc() == "tools/call").count(), 1);
}

#[test]
fn a_server_that_cannot_stand_the_first_question_is_spoken_to_in_the_old_way() {
    let hangs_up = picky("2025-06-18", |request, reply| {
        let ends = request.rpc() == "server/discover";
        if ends {
            reply.close();
        }
        ends
    });
    call(&hangs_up).stdout("done\n").stderr("").run();
    for status in [500, 501, 503] {
        let fails = picky("2025-06-18", move |request, reply| {
            let fails = request.rpc() == "server/discover";
            if fails {
                reply.respond(status, "Content-Type: text/plain\r\n", b"no such method");
            }
            fails
        });
        let run = call(&fails).stdout("done\n").run();
        assert_eq!(run.stderr.contains("trying again"), status != 501, "{status}: {}", run.stderr);
    }
}

#[test]
fn a_refusal_may_name_another_version_in_any_words() {
    for body in ["Unsupported protocol version: use 2025-06-18", r#"{"detail": "old", "supported": ["2025-06-18"]}"#] {
        let server = picky("2025-06-18", move |request, reply| {
            let refused = request.json()["params"]["protocolVersion"] != "2025-06-18"
                && matches!(request.rpc().as_str(), "server/discover" | "initialize");
            if refused {
                reply.respond(400, "Content-Type: text/plain\r\n", body.as_bytes());
            }
            refused
        });
        call(&server).stdout("done\n").stderr("").run();
        let called = server.wait_for(|request| request.rpc() == "tools/call");
        assert_eq!(called.header("mcp-protocol-version"), Some("2025-06-18"));
    }
    let modern = picky("2026-07-28", |_, _| false);
    call(&modern).status(6).stderr_contains("names 2026-07-28, a revision without initialize").run();
}

#[test]
fn a_scope_that_is_missing_is_a_matter_of_authorization() {
    let server = legacy(|_, reply| {
        reply.respond(403, "WWW-Authenticate: Bearer error=\"insufficient_scope\"\r\n", b"");
    });
    call(&server).status(5).stderr_contains("HTTP 403: Bearer error=\"insufficient_scope\"").run();
    let forbidden = legacy(|_, reply| reply.respond(403, "", b"not from here"));
    call(&forbidden).status(4).stderr_contains("HTTP 403: not from here").run();
}

#[test]
fn a_byte_order_mark_before_json_is_nothing() {
    let server = legacy(|request, reply| {
        let message: Value = json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": done()});
        reply.respond(200, "Content-Type: application/json\r\n", format!("\u{feff}{message}").as_bytes());
    });
    call(&server).stdout("done\n").stderr("").run();
}
