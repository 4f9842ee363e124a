//! `answers`: checking and showing answers files.

use serde_json::{Value, json};

use super::harness::Test;

const FILE: &str = r#"{
  "version": 1,
  "otherwise": "fail",
  "answers": [
    {"when": {"server": "forms", "tool": "greet"}, "content": {"name": "Ada"}, "omit": ["plan"]},
    {"when": {"url": "https://a.example/*"}, "action": "accept", "open": true},
    {"content": {"token": "s3cret"}, "secret": true, "repeat": true}
  ]
}
"#;

fn schema() -> String {
    let properties = json!({
        "name": {"type": "string", "minLength": 2},
        "plan": {"type": "string", "default": "free"},
        "age": {"type": "integer"},
    });
    json!({"type": "object", "properties": properties, "required": ["name"]}).to_string()
}

fn with_file() -> Test {
    Test::new().file("a.json", FILE)
}

#[test]
fn a_file_is_checked_alone() {
    with_file().args(["answers", "check", "a.json"]).stdout("a.json: 3 entries, otherwise fail\n").stderr("").run();
    Test::new()
        .file("a.json", "[\n  {\"contents\": {}}\n]")
        .args(["answers", "check", "a.json"])
        .status(3)
        .stderr_contains("a.json:2:4: entry 1: unknown key \"contents\": did you mean `content`?")
        .run();
    Test::new().args(["answers", "check", "none.json"]).status(3).stderr_contains("none.json").run();
    Test::new().stdin("{\"name\": 1}").args(["answers", "check", "-"]).stdout("stdin: values for 1 field\n").run();
}

#[test]
fn a_file_is_checked_for_a_tool() {
    let run = with_file().args(["answers", "check", "a.json", "forms", "greet"]).run();
    assert_eq!(run.stdout.lines().count(), 4, "{}", run.stdout);
    with_file()
        .args(["answers", "check", "a.json", "forms", "other"])
        .stdout_contains("entry 3 (line 7): accept token \"••••\"; any number of times")
        .run();
    Test::new()
        .file("a.json", r#"[{"when": {"tool": "greet"}, "action": "decline"}]"#)
        .args(["answers", "check", "a.json", "forms", "survey"])
        .status(8)
        .stderr_contains("no entry matches forms, survey")
        .run();
}

#[test]
fn a_file_is_held_against_a_form() {
    with_file()
        .file("schema.json", schema())
        .args(["answers", "check", "a.json", "forms", "greet", "--schema", "schema.json"])
        .stdout_contains("entry 1 (line 5): accept {\"name\":\"Ada\"}")
        .run();
    for (answers, status, part) in [
        (r#"[{"content": {"name": "A"}}]"#, 8, "entry 1 (line 1): name: "),
        (r#"[{"content": {"nmae": "Ada"}}]"#, 8, "entry 1 (line 1): "),
        (r#"{"nmae": "Ada"}"#, 8, "\"content\": {\"name\": null}"),
        (r#"{"name": "Ada", "age": "x"}"#, 8, "the file: age: "),
        (r#"{"name": "Ada"}"#, 0, ""),
        (r#"{"version": 1, "otherwise": "decline"}"#, 0, ""),
    ] {
        Test::new()
            .file("a.json", answers)
            .file("schema.json", schema())
            .args(["answers", "check", "a.json", "--schema", "schema.json"])
            .status(status)
            .stderr_contains(part)
            .run();
    }
    with_file()
        .file("link.json", r#"{"mode": "url", "url": "https://a.example/go", "message": "Sign in"}"#)
        .args(["answers", "check", "a.json", "--schema", "link.json"])
        .stdout_contains("entry 2 (line 6): accept\n")
        .run();
}

#[test]
fn a_file_is_shown_without_its_secrets() {
    let run = with_file().args(["answers", "show", "a.json"]).stdout_contains("server forms, tool greet").run();
    assert!(!run.stdout.contains("s3cret") && run.stdout.contains("any form"), "{}", run.stdout);
    let shown = with_file().args(["answers", "show", "a.json", "-o", "json"]).run().json();
    assert_eq!(
        shown["answers"][0],
        json!({"when": {"server": "forms", "tool": "greet"}, "action": "accept",
        "content": {"name": "Ada"}, "omit": ["plan"]})
    );
    assert_eq!(shown["answers"][2]["content"]["token"], "••••");
    Test::new()
        .file("a.json", r#"{"name": "Ada"}"#)
        .args(["answers", "show", "a.json"])
        .stdout_contains("name  \"Ada\"")
        .run();
}

#[test]
fn the_schema_is_the_one_in_the_repository() {
    let expected = include_str!("../../docs/answers.schema.json");
    Test::new().args(["answers", "schema"]).stdout(expected).run();
}

/// Every file that is accepted fits the schema, and every file that fits it is accepted.
#[test]
fn the_schema_is_true() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/answers.schema.json")).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    for (text, is_right) in [
        ("{}", true),
        ("[]", true),
        ("5", false),
        (FILE, true),
        (r#"{"name": "Ada", "version": "1.2"}"#, true),
        (r#"{"version": 1}"#, true),
        (r#"{"version": 2}"#, false),
        (r#"{"version": 1, "x": 2}"#, false),
        (r#"{"version": "1", "otherwise": "fail"}"#, false),
        (r#"{"version": 1, "otherwise": "ask"}"#, false),
        (r#"{"version": 1, "answers": {}}"#, false),
        (r#"{"$schema": "x", "version": 1, "answers": []}"#, true),
        (r#"{"answers": [{"action": "accept"}]}"#, false),
        (r#"{"answers": ["yes", "no"]}"#, true),
        (r#"{"when": {}, "content": {}}"#, false),
        (r#"{"when": "noon", "place": "here"}"#, true),
        ("[{}]", false),
        ("[1]", false),
        (r#"[{"content": {}}]"#, true),
        (r#"[{"content": []}]"#, false),
        (r#"[{"action": "accept"}]"#, true),
        (r#"[{"action": "agree"}]"#, false),
        (r#"[{"action": "accept", "x": 1}]"#, false),
        (r#"[{"action": "decline", "content": {}}]"#, false),
        (r#"[{"action": "cancel", "omit": []}]"#, false),
        (r#"[{"action": "accept", "omit": ["a"]}]"#, true),
        (r#"[{"action": "accept", "omit": [1]}]"#, false),
        (r#"[{"action": "accept", "open": true}]"#, false),
        (r#"[{"action": "accept", "open": false}]"#, true),
        (r#"[{"when": {"mode": "url"}, "action": "accept", "open": true}]"#, true),
        (r#"[{"when": {"mode": "url"}, "action": "decline", "open": true}]"#, false),
        (r#"[{"when": {"mode": "url"}, "content": {}}]"#, false),
        (r#"[{"when": {"mode": "form"}, "content": {}, "repeat": true, "secret": true}]"#, true),
        (r#"[{"when": {"mode": "form", "url": "https://a.example/"}, "action": "accept"}]"#, false),
        (r#"[{"when": {"mode": "url", "fields": ["a"]}, "action": "accept"}]"#, false),
        (r#"[{"when": {"url": "https://a.example/*"}, "action": "accept"}]"#, true),
        (r#"[{"when": {"url": "https://*.example/"}, "action": "accept"}]"#, false),
        (r#"[{"when": {"url": "ftp://a.example/"}, "action": "accept"}]"#, false),
        (r#"[{"when": {"tool": 1}, "action": "accept"}]"#, false),
        (r#"[{"when": {"tools": "x"}, "action": "accept"}]"#, false),
        (r#"[{"when": [], "action": "accept"}]"#, false),
        (
            r#"[{"when": {"server": "s", "call": "c", "tool": "t", "message": "*", "fields": []}, "action": "cancel"}]"#,
            true,
        ),
        (r#"[{"action": "accept", "repeat": 1}]"#, false),
        (r#"[{"action": "accept", "secret": "yes"}]"#, false),
    ] {
        let value: Value = serde_json::from_str(text).expect(text);
        assert_eq!(schema.is_valid(&value), is_right, "the schema on {text}");
        let read = toolnexus::resolver::answers::AnswersFile::parse(text, "a.json");
        assert_eq!(read.is_ok(), is_right, "the reader on {text}: {read:?}");
    }
}
