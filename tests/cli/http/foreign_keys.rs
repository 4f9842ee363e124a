//! Headers written in other clients' formats are sent; so are those that a program prints.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{
    awkward::{answer, done, modern},
    server::Server,
};
use crate::harness::{Run, Test};

const SECRET: &str = "Mark3rS3cret";

/// A server that admits nobody without this header.
fn guarded(name: &'static str, value: &'static str) -> Server {
    modern(move |request, reply| match request.header(name) {
        Some(sent) if sent == value => answer(request, reply, &done()),
        _ => reply.empty(401),
    })
}

fn call(server: &Server, entry: &Value) -> Test {
    let mut entry = entry.clone();
    entry["url"] = json!(server.url("/mcp"));
    Test::new().entry("s", entry).env("TOKEN", SECRET).args(["call", "s", "t", "-v", "--trace", "trace.jsonl"])
}

#[track_caller]
fn keeps_quiet(run: &Run) {
    let trace = std::fs::read_to_string(run.path("trace.jsonl")).expect("a trace");
    for text in [&run.stdout, &run.stderr, &trace] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[test]
fn tokens_and_headers_are_sent_under_every_key() {
    let bearer = || guarded("authorization", "Bearer Mark3rS3cret");
    for entry in [
        json!({"bearer_token_env_var": "TOKEN"}),
        json!({"bearerToken": "${TOKEN}"}),
        json!({"authorization_token": "${TOKEN}"}),
        json!({"authorization_token": "Bearer ${TOKEN}"}),
        json!({"auth": "${TOKEN}"}),
        json!({"auth": {"type": "bearer", "token": "${TOKEN}"}}),
        json!({"env_http_headers": {"X-Other": "TOKEN"}, "http_headers": {"Authorization": "Bearer ${TOKEN}"}}),
        json!({"requestInit": {"headers": {"Authorization": "Bearer ${TOKEN}"}}}),
        json!({"headersHelper": "./print-headers one"}),
    ] {
        let test = call(&bearer(), &entry);
        let program = "#!/bin/sh\ntest \"$1\" = one && echo \"{\\\"Authorization\\\": \\\"Bearer $TOKEN\\\"}\"\n";
        let test = test.file("print-headers", program);
        let path = test.folder().join("print-headers");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("set");
        keeps_quiet(&test.stdout("done\n").stderr("").run());
    }
    let key = guarded("x-key", SECRET);
    for entry in [
        json!({"env_http_headers": {"X-Key": "TOKEN"}}),
        json!({"http_headers": {"X-Key": "${TOKEN}"}}),
        json!({"requestInit": {"headers": {"X-Key": "${TOKEN}"}}}),
    ] {
        keeps_quiet(&call(&key, &entry).stdout("done\n").stderr("").run());
    }
}

#[test]
fn a_helper_that_fails_is_named_and_nothing_of_it_is_shown() {
    let server = guarded("authorization", "Bearer x");
    for (program, part) in [
        ("echo Mark3rS3cret", "did not print a JSON object of headers"),
        ("echo Mark3rS3cret; exit 3", "failed"),
        (r#"echo '{"a b": "Mark3rS3cret"}'"#, "printed a header that cannot be sent"),
        (r#"echo '{"Authorization": 5}'"#, "printed a header whose value is not a string"),
    ] {
        let helper = format!("sh -c {}", shell_words::quote(program));
        let run = call(&server, &json!({"headersHelper": helper})).run_any();
        assert!(matches!(run.status, Some(4 | 5)), "{program}: {:?} {}", run.status, run.stderr);
        assert!(run.stderr.contains(part), "{program}: {}", run.stderr);
        keeps_quiet(&run);
    }
    let run = call(&server, &json!({"headersHelper": "/nowhere/helper"})).run_any();
    assert!(run.stderr.contains("\"/nowhere/helper\"") && run.stderr.contains("did not start"), "{}", run.stderr);
}

#[test]
fn unsupported_keys_are_reported_with_what_to_write() {
    let server = modern(|request, reply| answer(request, reply, &done()));
    for (entry, part) in [
        (
            json!({"apiKey": SECRET}),
            "`apiKey` is not supported; write `headers`: {\"Authorization\": \"Bearer ${VARIABLE}\"}",
        ),
        (json!({"headers": {"X-Key": "{env:TOKEN}"}}), "`{env:TOKEN}` is sent as written; write `${TOKEN}`"),
        (json!({"auth": {"kind": "x"}}), "`auth` is not supported in this form"),
    ] {
        let run = call(&server, &entry).stdout("done\n").stderr_contains(part).run();
        assert_eq!(run.stderr.matches("warning: ").count(), 1, "{}", run.stderr);
        keeps_quiet(&run);
    }
    let unset = call(&server, &json!({"bearer_token_env_var": "NOBODY_SET_THIS"})).status(3);
    unset.stderr_contains("the variable NOBODY_SET_THIS is not set").run();
}
