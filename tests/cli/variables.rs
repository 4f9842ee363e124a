//! What came from a variable, or stands in an address as a credential, is shown by nothing.

use std::fs;

use serde_json::{Value, json};

use super::harness::{Fake, Run, Test};

/// The value that must not be seen, in any spelling.
const MARKER: &str = "Mark3r/S3cr+t \u{e9}";

fn entries() -> Vec<(&'static str, Value)> {
    vec![
        ("args", json!({"command": "sh", "args": ["-c", "echo token $0 >&2; exit 3", "${MARKER}"]})),
        ("command", json!({"command": "/nowhere/${MARKER}/x"})),
        ("folder", json!({"command": "true", "cwd": "/nowhere/${MARKER}"})),
        ("address", json!({"url": "http://me:${MARKER}@127.0.0.1:9/${MARKER}?k=${MARKER}#${MARKER}"})),
        ("no-address", json!({"url": "${MARKER}"})),
        ("scheme", json!({"url": "${MARKER}://a"})),
        ("headers", json!({"url": "http://127.0.0.1:9/", "headers": {"X-Key": "${MARKER}", "${MARKER}": "x"}})),
        ("broken", json!({"url": "http://127.0.0.1:9/", "headers": {"X-Key": "${MARKER}\n"}})),
        ("env", json!({"command": "sh", "args": ["-c", "echo token $KEY >&2; exit 3"], "env": {"KEY": "${MARKER}"}})),
        ("protocol", json!({"command": "true", "protocol": "${MARKER}"})),
        ("kind", json!({"type": "${MARKER}", "url": "http://a.example"})),
        ("authority", json!({"url": "https://127.0.0.1:9/", "caFile": "${MARKER}.pem"})),
    ]
}

fn check(run: &Run, what: &str) {
    // The words around it are no secret: each part of the marker is.
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
    let test = Test::new().server("works", &Fake::new().tool("t")).env("MARKER", MARKER);
    entries().into_iter().fold(test, |test, (name, entry)| test.entry(name, entry))
}

#[test]
fn no_command_mode_or_error_shows_it() {
    for mode in ["text", "json", "events", "data"] {
        for words in [&["servers"][..], &["servers", "--check", "--trust"], &["tools", "--trust"]] {
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
fn the_text_of_the_configuration_stands_in_its_place() {
    let run = test().args(["servers"]).run_any();
    assert!(run.stdout.contains("'/nowhere/${MARKER}/x'"), "{}", run.stdout);
    let run = test().args(["call", "command", "t"]).status(4).run();
    assert!(run.stderr.contains("/nowhere/${MARKER}/x"), "{}", run.stderr);
    let run = test().args(["call", "args", "t"]).status(4).run();
    assert!(run.stderr.contains("token ${MARKER}"), "{}", run.stderr);
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
