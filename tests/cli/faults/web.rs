use serde_json::json;

use super::LIMIT;
use crate::{
    harness::Test,
    http::server::{Reply, Request, Server},
};

type Answer = fn(&Request, &mut Reply);

/// How a web server answers every request; the exit code, and a part of stderr.
const FAULTS: &[(&str, Answer, i32, &str)] = &[
    ("the connection is cut", |_, reply| reply.end(), 4, "127.0.0.1"),
    ("nothing is answered", |_, reply| _ = reply.wait_for_close(), 7, "1.5 s"),
    (
        "half a head",
        |_, reply| {
            reply.raw(b"HTTP/1.1 200 OK\r\nContent-Ty");
            reply.end();
        },
        4,
        "127.0.0.1",
    ),
    (
        "no HTTP at all",
        |_, reply| {
            reply.raw(b"220 smtp ready\r\n");
            reply.end();
        },
        4,
        "HTTP",
    ),
    (
        "a body shorter than its length",
        |_, reply| {
            reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{");
            reply.end();
        },
        4,
        "",
    ),
    ("an empty body", |_, reply| reply.respond(200, "Content-Type: application/json\r\n", b""), 4, ""),
    ("a page", |_, reply| reply.respond(200, "Content-Type: text/html\r\n", b"<html>hi"), 4, "text/html"),
    ("not found", |_, reply| reply.respond(404, "", b"nothing here"), 4, "404"),
    ("gone wrong", |_, reply| reply.respond(500, "", b"db down"), 4, "500"),
    ("a status that is none", |_, reply| reply.respond(999, "", b""), 4, "999"),
    ("wants a sign-in", |_, reply| reply.respond(401, "", b""), 5, ""),
    ("forbidden", |_, reply| reply.respond(403, "", b"not you"), 4, "403"),
    (
        "leads to itself for ever",
        |request, reply| {
            let to = format!("Location: {}\r\n", request.path);
            reply.respond(307, &to, b"");
        },
        4,
        "redirect",
    ),
    ("leads elsewhere", |_, reply| reply.respond(307, "Location: http://192.0.2.1/\r\n", b""), 4, "192.0.2.1"),
    ("leads to a file", |_, reply| reply.respond(302, "Location: file:///etc/passwd\r\n", b""), 4, "file"),
    (
        "an unknown encoding",
        |_, reply| {
            reply.respond(200, "Content-Type: application/json\r\nContent-Encoding: zstd\r\n", b"\x28\xb5\x2f\xfd");
        },
        4,
        "zstd",
    ),
    (
        "gzip that is none",
        |_, reply| {
            reply.respond(200, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", b"not gzip");
        },
        4,
        "",
    ),
    (
        "a stream that ends before the answer",
        |_, reply| {
            reply.stream("");
            reply.raw(b"data: {\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}\n\n");
        },
        4,
        "ended before the answer",
    ),
    (
        "a stream without an end",
        |_, reply| {
            reply.stream("");
            while !reply.is_gone() {
                reply.raw(b": still here\n\n");
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        },
        7,
        "1.5 s",
    ),
    ("JSON that is none", |_, reply| reply.respond(200, "Content-Type: application/json\r\n", b"{\"id\":"), 4, "JSON"),
];

#[test]
fn web_servers_that_go_wrong() {
    for (name, answer, status, words) in FAULTS {
        let server = Server::start(answer);
        let test = Test::new().entry("s", json!({"url": server.url("/mcp"), "timeout": 1500}));
        let run = test.args(["call", "s", "t"]).run_any();
        let shown = format!("{name}\n--- stdout\n{:.2000}\n--- stderr\n{:.2000}", run.stdout, run.stderr);
        assert_eq!(run.status, Some(*status), "exit code; {shown}");
        assert!(run.stderr.contains(words), "{words:?} is missing; {shown}");
        assert!(!run.stderr.contains("panicked"), "{shown}");
        assert!(run.took < LIMIT, "it took {:?}; {shown}", run.took);
    }
}
