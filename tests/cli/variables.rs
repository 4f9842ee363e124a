//! Values of variables, and credentials in addresses, are never shown.

use std::fs;

use serde_json::{Value, json};

use super::harness::{Fake, Run, Step, Test};

/// The value that must not be seen, in any spelling.
const MARKER: &str = "Mark3r/S3cr+t \u{e9}";

fn entries() -> Vec<(&'static str, Value)> {
    vec![
        ("args", json!({"command": "sh", "args": ["-c", "echo token $0 >&2; exit 3", "${MARKER}"]})),
        ("command", json!({"command": "/nowhere/${MARKER}/x"})),
        ("folder", json!({"command": "true", "cwd": "/nowhere/${MARKER}"})),
        ("address", json!({"url": "http://me:${MARKER}@127.0.0.1:9/${MARKER}?k=${MARKER}#${MARKER}"})),
        ("host", json!({"url": "http://${PLAIN}.invalid:9/mcp"})),
        ("no-address", json!({"url": "${MARKER}"})),
        ("scheme", json!({"url": "${MARKER}://a"})),
        ("headers", json!({"url": "http://127.0.0.1:9/", "headers": {"X-Key": "${MARKER}", "${MARKER}": "x"}})),
        ("broken", json!({"url": "http://127.0.0.1:9/", "headers": {"X-Key": "${MARKER}\n"}})),
        ("env", json!({"command": "sh", "args": ["-c", "echo token $KEY >&2; exit 3"], "env": {"KEY": "${MARKER}"}})),
        ("protocol", json!({"command": "true", "protocol": "${MARKER}"})),
        ("kind", json!({"type": "${MARKER}", "url": "http://a.example"})),
        ("authority", json!({"url": "https://127.0.0.1:9/", "caFile": "${MARKER}.pem"})),
        ("helper", json!({"url": "http://127.0.0.1:9/", "headersHelper": "/nowhere/${MARKER}"})),
        (
            "assertion",
            json!({"url": "http://127.0.0.1:9/", "oauth": {"grant": "jwt_bearer", "clientId": "${MARKER}",
            "assertionFile": "/nowhere/${MARKER}"}}),
        ),
    ]
}

fn check(run: &Run, what: &str) {
    // The words around it are not secret: each part of the marker is.
    let hidden = |text: &str| {
        let text = text.to_lowercase();
        !text.contains("mark3r") && !text.contains("s3cr")
    };
    assert!(hidden(&run.stdout), "{what}: {}", run.stdout);
    assert!(hidden(&run.stderr), "{what}: {}", run.stderr);
    for entry in fs::read_dir(run.folder()).expect("a folder").flatten().filter(|entry| entry.path().is_file()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".received") && !name.ends_with(".script") {
            let text = fs::read(entry.path()).expect("a file");
            assert!(hidden(&String::from_utf8_lossy(&text)), "{what}: {name}");
        }
    }
}

fn test() -> Test {
    let test = Test::new().server("works", &Fake::new().tool("t")).env("MARKER", MARKER).env("PLAIN", "Mark3rPlain");
    entries().into_iter().fold(test, |test, (name, entry)| test.entry(name, entry))
}

#[test]
fn no_command_mode_or_error_shows_it() {
    for mode in ["text", "json", "events", "data"] {
        for words in [
            &["servers"][..],
            &["servers", "--check", "--trust"],
            &["tools", "--trust"],
            &["doctor", "--trust"],
            &["resources", "--trust"],
        ] {
            let run = test().args(words.iter().copied()).args(["-v", "-o", mode]).run_any();
            check(&run, &format!("{words:?} as {mode}"));
        }
    }
    for (name, _) in entries() {
        for mode in ["text", "json", "events"] {
            let run = test().args(["call", name, "t", "-v", "--trace", "trace.jsonl", "-o", mode]).run_any();
            check(&run, &format!("call {name} as {mode}"));
            assert!(run.status != Some(0), "{name}");
        }
    }
}

#[test]
fn no_command_about_one_server_shows_it() {
    for (name, _) in entries() {
        for words in [
            &["doctor", name][..],
            &["read", name, "a:b"],
            &["prompt", name, "p"],
            &["complete", name, "p", "v=o"],
            &["watch", name],
            &["up", name],
            &["logs", name],
            &["login", name, "--status"],
            &["logout", name],
            &["shell", name],
            &["call", name, "t", "--dry-run"],
        ] {
            check(&test().args(words.iter().copied()).args(["-v"]).run_any(), &format!("{words:?}"));
        }
    }
}

#[test]
fn the_text_of_the_configuration_stands_in_its_place() {
    let run = test().args(["servers"]).run_any();
    assert!(run.stdout.contains("'/nowhere/${MARKER}/x'"), "{}", run.stdout);
    let run = test().args(["call", "command", "t"]).status(4).run();
    assert!(run.stderr.contains("/nowhere/${MARKER}/x"), "{}", run.stderr);
    let run = test().args(["call", "args", "t"]).status(4).run();
    assert!(run.stderr.contains("token ${MARKER}"), "{}", run.stderr);
}

#[test]
fn a_variable_in_a_host_is_shown_as_it_is_written() {
    let run = test().args(["call", "host", "t"]).status(4).run();
    assert!(run.stderr.contains("${PLAIN}.invalid"), "{}", run.stderr);
    let run = test().args(["servers", "-o", "json"]).run_any();
    assert!(run.stdout.contains("${PLAIN}.invalid"), "{}", run.stdout);
}

#[test]
fn short_and_common_values_break_nothing() {
    let params = json!({"level": "error", "data": {"port": 8080, "on": true, "text": "at 8080, with error"}});
    let log = Step::Send(json!({"method": "notifications/message", "params": params}));
    let result = json!({"content": [{"type": "text", "text": "at 8080"}], "structuredContent": {"port": 8080}});
    let fake = Fake::new().tool("t").on_call([log, Step::Reply(result)]);
    let values =
        [("PORT", "8080"), ("MODE", "error"), ("KIND", "text"), ("EVENT", "log"), ("WORD", "method"), ("QUOTE", "\"")];
    for mode in ["text", "json", "events"] {
        let test = values.iter().fold(Test::new().server("s", &fake), |test, (name, value)| test.env(name, value));
        let mut config: Value =
            serde_json::from_slice(&fs::read(test.folder().join("mcp.json")).expect("the file")).expect("JSON");
        for (name, _) in values {
            config["mcpServers"]["s"]["env"][name] = json!(format!("${{{name}}}"));
        }
        let run =
            test.config(&config.to_string()).args(["call", "s", "t", "--trace", "trace.jsonl", "-v", "-o", mode]).run();
        let trace = fs::read_to_string(run.path("trace.jsonl")).expect("a trace");
        let lines: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        assert!(lines.iter().any(|line| line["received"]["method"] == "notifications/message"), "{trace}");
        if mode == "events" {
            let events = run.events();
            let log = events.iter().find(|event| event["event"] == "log").expect("a log");
            assert_eq!((&log["level"], &log["data"]["port"]), (&json!("error"), &json!(8080)));
            assert_eq!(log["data"]["text"], "at ${PORT}, with ${MODE}");
        }
        // The tool's output is the server's own.
        assert!(run.stdout.contains("8080"), "{}", run.stdout);
    }
}

#[test]
fn options_and_addresses_of_the_command_line_are_not_repeated() {
    let url = "http://me:Mark3rS3cret@127.0.0.1:9/x?key=Mark3rS3cret#Mark3rS3cret";
    for words in [
        &["tools", url][..],
        &["call", url, "t"],
        &["call", url, "t", "--trace", "trace.jsonl"],
        &["tools", "works", "--env", "Mark3rS3cret"],
        &["tools", "http://127.0.0.1:9/", "-H", "Mark3rS3cret"],
        &["tools", "http://127.0.0.1:9/", "-H", "X-Key: Mark3rS3cret", "--trace", "trace.jsonl"],
        &["tools", "http://127.0.0.1:9/", "--bearer-env", "MARKER", "--trace", "trace.jsonl"],
    ] {
        for mode in ["text", "json"] {
            let run = test().args(words.iter().copied()).args(["-v", "-o", mode]).run_any();
            assert!(run.status != Some(0), "{words:?}");
            check(&run, &format!("{words:?} as {mode}"));
        }
    }
}
