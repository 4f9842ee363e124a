//! Against other people's servers: run by `tests/peers/run`, which installs them. Not part of plain `cargo test`.

mod everyday;
#[expect(dead_code, unused_imports, reason = "the scripted servers are for tests without peers")]
#[path = "../cli/harness/mod.rs"]
mod harness;
mod http;
mod kept;
mod untold;

use std::path::{Path, PathBuf};

use harness::Test;
use serde_json::{Value, json};

/// A file in this folder. Fails loudly if it is not installed.
fn peer(path: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(path);
    assert!(path.exists(), "\n\n    THE PEERS ARE MISSING: {}\n    run tests/peers/run\n\n", path.display());
    path
}

/// `@modelcontextprotocol/server-everything` over stdio.
fn everything(tool: &str) -> Test {
    let script = peer("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    Test::new()
        .entry("everything", json!({"command": "node", "args": [script, "stdio"]}))
        .env("PATH", &std::env::var("PATH").expect("PATH"))
        .args(["call", "everything", tool])
}

/// A server on the official Python SDK.
fn python(tool: &str) -> Test {
    let program = peer(".venv/bin/python");
    Test::new().entry("python", json!({"command": program, "args": [peer("elicit.py")]})).args(["call", "python", tool])
}

#[test]
fn everything_echoes() {
    everything("echo").args(["message=000123"]).stdout("Echo: 000123\n").run();
}

#[test]
fn everything_sends_an_image() {
    everything("get-tiny-image").stdout_contains("[image: image/png, ").run();
    let run = everything("get-tiny-image").args(["-o", "json"]).run();
    let blocks = run.json()["content"].as_array().expect("blocks").clone();
    assert!(blocks.iter().any(|block| block["type"] == "image"));
}

#[test]
fn everything_sends_structured_content() {
    let run = everything("get-structured-content").args(["location=Chicago", "-o", "json"]).run();
    assert_eq!(run.json()["structuredContent"]["humidity"], 82);
    everything("get-structured-content").args(["location=Paris"]).status(2).stderr_contains("location").run();
}

#[test]
fn everything_reports_progress() {
    let run = everything("trigger-long-running-operation").args(["duration=1", "steps=4", "-o", "events"]).run();
    let steps: Vec<Value> = run
        .events()
        .iter()
        .filter(|event| event["event"] == "progress")
        .map(|event| event["progress"].clone())
        .collect();
    assert_eq!(steps, [json!(1), json!(2), json!(3), json!(4)]);
}

/// Every field of the everything server's form, none with its default.
fn all_fields() -> Value {
    json!({
        "name": "Ada", "check": true, "firstLine": "Call me Ishmael.", "email": "ada@example.com",
        "homepage": "https://example.com/ada", "birthdate": "1815-12-10", "integer": 7, "number": 2.5,
        "untitledSingleSelectEnum": "Phoebe", "untitledMultipleSelectEnum": ["Drums", "Bass"],
        "titledSingleSelectEnum": "hero-3", "titledMultipleSelectEnum": ["fish-2", "fish-3"],
        "legacyTitledEnum": "pet-5"
    })
}

#[test]
fn everything_gets_every_field_from_a_file() {
    let run = everything("trigger-elicitation-request")
        .file("answers.json", all_fields().to_string())
        .args(["--answers", "answers.json"])
        .stdout_contains("User provided the requested information")
        .run();
    let raw = run.stdout.split("Raw result: ").nth(1).expect("the raw result");
    let raw: Value = serde_json::from_str(raw).expect("JSON");
    assert_eq!(raw["content"], all_fields());
}

#[test]
fn everything_gets_every_field_from_a_person() {
    const DOWN: &str = "\x1b[B";
    const CLEAR: &str = "\x15";
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("r.json");
    let recorded = ["--record", record.to_str().expect("UTF-8")];
    let person = everything("trigger-elicitation-request").args(recorded).at_terminal(24, 80);
    let text = |at: &str, default: &str, keys: &str| {
        person.see(&format!("{at} of 13")).see_typed(&format!("› {default}")).send(CLEAR).send(keys).send("\r");
    };
    let choose = |at: &str, active: &str, downs: usize, chosen: &str| {
        person.see(&format!("{at} of 13")).see(&format!("› {active}")).send(&DOWN.repeat(downs));
        person.see(&format!("› {chosen}")).send("\r");
    };
    text("1", "", "Ada");
    person.see("2 of 13").see("› leave it out").send("y").send("\r");
    text("3", "It was a dark and stormy night.", "Call me Ishmael.");
    text("4", "", "ada@example.com");
    text("5", "", "https://example.com/ada");
    text("6", "", "1815-12-10");
    text("7", "42", "7");
    text("8", "3.14", "2.5");
    choose("9", "Monica", 5, "Phoebe");
    // The default is unmarked, and two others are marked.
    person.see("10 of 13").see("› [x] Guitar").send(" ").see("› [ ] Guitar").send(&DOWN.repeat(3));
    person
        .see("› [ ] Drums")
        .send(" ")
        .see("› [x] Drums")
        .send(DOWN)
        .see("› [ ] Bass")
        .send(" ")
        .see("2 chosen")
        .send("\r");
    choose("11", "Superman", 2, "Wonder Woman");
    person.see("12 of 13").see("› [x] Tuna").send(" ").send(DOWN).see("› [ ] Salmon").send(" ").send(DOWN);
    person.see("› [ ] Trout").send(" ").see("2 chosen").send("\r");
    choose("13", "Cats", 4, "Reptiles");
    person.see("What everything will receive").see("  Send").send("1").see("› Send").send("\r");
    person.see("\"legacyTitledEnum\": \"pet-5\"");
    // The recording gives the same answers again.
    person.end(0);
    let record = std::fs::read_to_string(record).expect("the record");
    let run =
        everything("trigger-elicitation-request").file("r.json", record).args(["--answers", "r.json"]).stderr("").run();
    let raw = run.stdout.split("Raw result: ").nth(1).expect("the raw result");
    assert_eq!(serde_json::from_str::<Value>(raw).expect("JSON")["content"], all_fields());
}

#[test]
fn everything_is_told_decline_and_cancel() {
    let elicit = |policy| everything("trigger-elicitation-request").args(["--elicit", policy]);
    elicit("decline").stdout_contains("declined").run();
    elicit("cancel").stdout_contains("cancelled").run();
    elicit("fail").status(8).stdout_contains("cancelled").stderr_contains("--answers").run();
}

/// An answers file that accepts every link of these hosts.
const LINKS: &str = r#"{"version": 1, "answers": [
    {"when": {"url": "https://example.com/*"}, "action": "accept", "repeat": true},
    {"when": {"url": "https://modelcontextprotocol.io/*"}, "action": "accept", "repeat": true}
]}"#;

#[test]
fn everything_sends_links_both_ways() {
    let call = |path: &str| {
        everything("trigger-url-elicitation").file("links.json", LINKS).args([
            "url=https://example.com/go",
            "--answers",
            "links.json",
            "--url-wait",
            "1",
            path,
        ])
    };
    call("errorPath=false").stdout_contains("accept").stderr_contains("https://example.com/go").run();
    call("errorPath=true").stdout_contains("accept").stderr_contains("https://modelcontextprotocol.io").run();
}

#[test]
fn everything_is_asked_again_after_a_link_that_it_needs() {
    let links = |action: &str| json!([{"when": {"mode": "url"}, "action": action, "repeat": true}]).to_string();
    for (path, action, status, told) in [
        ("errorPath=false", "decline", 0, "decline"),
        ("errorPath=false", "cancel", 0, "cancel"),
        ("errorPath=true", "decline", 6, ""),
    ] {
        let test = everything("trigger-url-elicitation").file("links.json", links(action)).status(status);
        test.args(["url=https://example.com/go", "--answers", "links.json", path]).stdout_contains(told).run();
    }
}

#[test]
fn everything_asks_in_a_task_of_ours() {
    let asked = |options: &[&str]| everything("trigger-elicitation-request-async").args(options.iter().copied());
    let run = asked(&["--answer", "name=Ada", "--answer", "favoriteColor=Blue"])
        .stdout_contains("[COMPLETED]")
        .stdout_contains("- Name: Ada")
        .run();
    let raw = run.stdout.split("Raw result: ").nth(1).expect("the raw result");
    let raw: Value = serde_json::from_str(raw).expect("JSON");
    assert_eq!(raw["content"], json!({"name": "Ada", "favoriteColor": "Blue"}));
    asked(&["--elicit", "decline"]).stdout_contains("[DECLINED]").run();
    asked(&["--elicit", "fail"]).status(8).stdout_contains("[CANCELLED]").run();
}

#[test]
fn everything_researches_in_a_task_of_its_own() {
    let research = |words: &[&str]| everything("simulate-research-query").args(words.iter().copied());
    let run = research(&["topic=rust", "-o", "events"]).run();
    let events = run.events();
    let states: Vec<&Value> = events.iter().filter_map(|event| event.get("status")).collect();
    assert!(states.contains(&&json!("working")) && states.contains(&&json!("completed")), "{states:?}");
    let clear = ["topic=python", "ambiguous=true", "--answer", "interpretation=programming"];
    research(&clear).stdout_contains("**Clarification**: programming").run();
    let unclear = ["topic=python", "ambiguous=true", "--elicit", "fail"];
    research(&unclear).status(8).stdout_contains("default interpretation").run();
}

#[test]
fn python_elicits_a_pydantic_model() {
    python("book")
        .args(["day=Friday", "--answer", "guests=3", "--answer", "name=Ada", "--answer", "table=outside"])
        .stdout_contains(r#"booked: {"guests":3,"name":"Ada","table":"outside","vegetarian":false,"note":null}"#)
        .run();
    python("book").args(["day=Friday", "--answer", "guests=9", "--answer", "name=Ada"]).status(8).run();
    python("book").args(["day=Friday", "--elicit", "decline"]).stdout("not booked: decline\n").run();
}
