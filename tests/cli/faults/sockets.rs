//! Connections that are half open, or closed at the wrong moment.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{LIMIT, text};
use crate::{
    harness::{Run, Test},
    http::server::{Reply, Request, Server},
};

/// Calls the tool `t` of the server at this address, which may be silent for 1.5 s.
fn call(url: &str) -> Run {
    let run = Test::new().entry("s", json!({"url": url, "timeout": 1500})).args(["call", "s", "t"]).run_any();
    assert!(run.took < LIMIT, "it took {:?}: {}", run.took, run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run
}

#[track_caller]
fn ends(name: &str, run: &Run, status: i32, words: &str) {
    let written = if status == 0 { &run.stdout } else { &run.stderr };
    assert_eq!(run.status, Some(status), "{name}: {}", run.stderr);
    assert!(written.contains(words), "{name}: {words:?} is missing: {written}");
}

/// Handles every connection, before any HTTP.
fn listen(each: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || each(stream));
        }
    });
    format!("http://{address}/mcp")
}

#[test]
fn connections_that_are_no_use() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = nobody.local_addr().expect("an address");
    ends("nobody accepts it", &call(&format!("http://{address}/mcp")), 7, "1.5 s");
    drop(nobody);
    ends("nobody listens any more", &call(&format!("http://{address}/mcp")), 4, "Connection refused");
    ends("it is closed at once", &call(&listen(drop)), 4, "broke");
    let half = |mut stream: TcpStream| {
        stream.shutdown(Shutdown::Write).expect("half of it is closed");
        // The other half reads everything.
        let _ = stream.read_to_end(&mut Vec::new());
    };
    ends("the server's half is closed", &call(&listen(half)), 4, "broke");
    let deaf = |stream: TcpStream| {
        thread::sleep(Duration::from_secs(20));
        drop(stream);
    };
    ends("it is open, and nobody reads", &call(&listen(deaf)), 7, "1.5 s");
    let begun = |mut stream: TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-T");
        let _ = stream.read_to_end(&mut Vec::new());
    };
    ends("half a head, and then silence", &call(&listen(begun)), 7, "1.5 s");
}

/// A server whose calls are answered by `deed`; everything else it does properly, and `after` runs after every answer.
fn server(deed: fn(&Request, &mut Reply), after: fn(&mut Reply)) -> Server {
    Server::start(move |request, reply| {
        let id = &request.json()["id"];
        let result = match request.rpc().as_str() {
            "tools/call" => return deed(request, reply),
            "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"}}),
            "tools/list" => json!({"tools": [{"name": "t", "inputSchema": {}}]}),
            "notifications/initialized" => return reply.empty(202),
            _ => return reply.empty(405),
        };
        reply.json(200, &answer(id, &result));
        after(reply);
    })
}

fn answer(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn well(request: &Request, reply: &mut Reply) {
    reply.json(200, &answer(&request.json()["id"], &text("done")));
}

#[test]
fn answers_that_come_wrong_over_the_web() {
    let calls: [(&str, fn(&Request, &mut Reply), i32, &str); 7] = [
        (
            "half an event, and then silence",
            |_, reply| {
                reply.stream("");
                reply.raw(b"data: {\"jsonrpc\":");
                reply.wait_for_close();
            },
            7,
            "1.5 s",
        ),
        (
            "half an event, and then the end",
            |_, reply| {
                reply.stream("");
                reply.raw(b"data: {\"jsonrpc\":");
            },
            4,
            "ended before the answer",
        ),
        ("the answer to another", |_, reply| reply.json(200, &answer(&json!(4711), &text("no"))), 4, "another request"),
        (
            "the answer to another in a stream",
            |_, reply| {
                reply.stream("");
                reply.event(&answer(&json!(4711), &text("no")));
            },
            4,
            "ended before the answer",
        ),
        (
            "the answer to another first",
            |request, reply| {
                reply.stream("");
                reply.event(&answer(&json!(4711), &text("no")));
                reply.event(&answer(&request.json()["id"], &text("done")));
            },
            0,
            "done\n",
        ),
        (
            "the answer twice in a stream",
            |request, reply| {
                reply.stream("");
                reply.event(&answer(&request.json()["id"], &text("done")));
                reply.event(&answer(&request.json()["id"], &text("again")));
            },
            0,
            "done\n",
        ),
        (
            "two responses to one request",
            |request, reply| {
                well(request, reply);
                well(request, reply);
            },
            0,
            "done\n",
        ),
    ];
    for (name, deed, status, words) in calls {
        ends(name, &call(&server(deed, |_| ()).url("/mcp")), status, words);
    }
}

#[test]
fn a_connection_that_ends_after_each_answer_is_made_again() {
    // It does not announce that it will close the connection.
    ends("closed", &call(&server(well, |reply| reply.end()).url("/mcp")), 0, "done\n");
}
