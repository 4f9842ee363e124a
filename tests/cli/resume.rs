//! `--defer` and `resume`: calls that wait for their answers.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

fn run(test: &Test, args: &[&str]) -> Output {
    let output = test.command().args(args).stdin(Stdio::null()).output().expect("the program starts");
    assert!(output.status.code().is_some(), "{output:?}");
    output
}

#[track_caller]
fn check(output: &Output, status: i32, stdout: &str, stderr: &str) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let shown = format!("--- stdout\n{out}\n--- stderr\n{err}");
    assert_eq!(output.status.code(), Some(status), "{shown}");
    assert!(out.contains(stdout) && err.contains(stderr), "{shown}");
}

fn pending(test: &Test) -> Value {
    let file = fs::read_to_string(test.folder().join("call.json")).expect("the file is there");
    serde_json::from_str(&file).expect("JSON")
}

fn is_there(test: &Test) -> bool {
    test.folder().join("call.json").exists()
}

/// The demo server, with a deferred call of `greet`.
fn put_aside() -> Test {
    let test = Test::new().demo();
    let output = run(&test, &["call", "forms", "greet", "--defer", "call.json"]);
    check(&output, 75, "greet is waiting for answers; `toolnexus resume call.json` continues it", "");
    test
}

fn input_required(state: &str, keys: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let request = |message: &str| json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}});
    let requests: serde_json::Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), request(key))).collect();
    json!({"resultType": "input_required", "requestState": state, "inputRequests": requests})
}

fn done(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

fn received(test: &Test, method: &str) -> Vec<Value> {
    let log = fs::read_to_string(test.folder().join("s.received")).unwrap_or_default();
    let messages = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("a message"));
    messages.filter(|message| message["method"] == method).map(|message| message["params"].clone()).collect()
}

#[test]
fn a_call_goes_on_in_another_process_and_with_another_server_process() {
    let test = put_aside();
    assert_eq!(pending(&test)["sent"], false);
    check(&run(&test, &["resume", "call.json", "--answer", "name=Ada"]), 0, "Hello, Ada!", "");
    assert!(!is_there(&test));
    assert!(!test.folder().join("call.json.lock").exists());
}

#[test]
fn what_is_pending_is_told_to_programs() {
    let test = Test::new().demo();
    let output = run(&test, &["call", "forms", "greet", "--defer", "call.json", "-o", "json"]);
    check(&output, 75, "", "");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&told["status"], &told["pending"][0]["kind"]), (&json!("pending"), &json!("input")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(test.folder().join("call.json")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    check(&run(&test, &["call", "forms", "greet", "--defer", "call.json"]), 3, "", "it already exists");
}

#[test]
fn what_is_not_answered_waits_on() {
    let test = put_aside();
    check(&run(&test, &["resume", "call.json"]), 75, "greet is waiting for answers", "");
    check(&run(&test, &["resume", "call.json", "--answer", "age=20"]), 75, "greet is waiting for answers", "");
    check(&run(&test, &["resume", "call.json", "--answer", "name=A"]), 8, "", "name: ");
    check(&run(&test, &["resume", "call.json", "--elicit", "fail"]), 8, "", "add this entry to an answers file");
    assert_eq!(pending(&test)["sent"], false);
    check(&run(&test, &["resume", "call.json", "--elicit", "decline"]), 0, "Hello, whoever you are!", "");
    assert!(!is_there(&test));
}

#[test]
fn a_changed_configuration_is_refused_unless_told() {
    let test = put_aside().entry("forms", json!({"command": "toolnexus", "args": ["demo-server"], "env": {"A": "b"}}));
    let resume = ["resume", "call.json", "--answer", "name=Ada"];
    check(&run(&test, &resume), 3, "", "the configuration of forms has changed");
    assert!(is_there(&test));
    check(&run(&test, &[&resume[..], &["--changed-config"]].concat()), 0, "Hello, Ada!", "");
}

#[test]
fn the_state_comes_back_untouched_and_rounds_go_on_in_the_file() {
    let state = "é\u{1}\u{1f600} \"x\"\\u0041";
    let server = Fake::new().modern().tool("t").result(input_required(state, &["one", "two"]));
    let test = Test::new().server("s", &server);
    let answers = r#"[{"when": {"message": "two"}, "content": {"name": "Two"}}]"#;
    let test = test.file("a.json", answers);
    check(&run(&test, &["call", "s", "t", "--defer", "call.json", "--answers", "a.json"]), 75, "  one\n", "");
    let file = pending(&test);
    assert_eq!(file["requestState"], state);
    assert_eq!(file["inputs"][1]["response"], json!({"action": "accept", "content": {"name": "Two"}}));

    let server = Fake::new().modern().tool("t").result(input_required("second", &["three"]));
    let entry = server.entry(test.folder(), "s");
    let test = test.entry("s", entry);
    let one = r#"[{"when": {"message": "one"}, "content": {"name": "One"}}]"#;
    let test = test.file("b.json", one);
    check(&run(&test, &["resume", "call.json", "--answers", "b.json"]), 75, "  three\n", "");
    let file = pending(&test);
    assert_eq!(
        (&file["requestState"], &file["sent"], &file["inputs"][0]["key"]),
        (&json!("second"), &json!(false), &json!("three"))
    );
    let sent = received(&test, "tools/call").pop().expect("sent");
    assert_eq!(sent["requestState"], state);
    assert_eq!(sent["inputResponses"]["one"]["content"]["name"], "One");
    assert_eq!(sent["inputResponses"]["two"]["content"]["name"], "Two");

    let entry = Fake::new().modern().tool("t").result(done("the end")).entry(test.folder(), "s");
    let test = test.entry("s", entry);
    check(&run(&test, &["resume", "call.json", "--answer", "name=Three"]), 0, "the end", "");
    assert!(!is_there(&test));
}

#[test]
fn answers_that_were_sent_are_sent_again_only_when_told() {
    let asking = Fake::new().modern().tool("t").result(input_required("state", &["one"]));
    let test = Test::new().server("s", &asking);
    check(&run(&test, &["call", "s", "t", "--defer", "call.json"]), 75, "", "");

    // The server accepts the answers and dies.
    let entry = Fake::new().modern().tool("t").on_call([Step::Exit(3)]).entry(test.folder(), "s");
    let test = test.entry("s", entry);
    check(&run(&test, &["resume", "call.json", "--answer", "name=Ada"]), 4, "", "");
    assert_eq!(pending(&test)["sent"], true);
    check(&run(&test, &["resume", "call.json"]), 2, "", "--again sends them again");

    let entry = Fake::new().modern().tool("t").result(done("at last")).entry(test.folder(), "s");
    let test = test.entry("s", entry);
    check(&run(&test, &["resume", "call.json", "--again"]), 0, "at last", "");
    let sent = received(&test, "tools/call").pop().expect("sent");
    assert_eq!(sent["inputResponses"]["one"]["content"]["name"], "Ada");
    assert!(!is_there(&test));
}

#[test]
fn of_two_simultaneous_runs_one_wins() {
    let test = put_aside();
    // The first run's program says that it is working, and then waits until it may answer.
    let program = r#"sh -c 'echo working >&2; while [ ! -e go ]; do sleep 0.02; done; echo "{\"ok\": true, \"data\": {\"name\": \"Ada\"}}"'"#;
    let mut first = test
        .command()
        .args(["resume", "call.json", "--on-elicit", program])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stderr = BufReader::new(first.stderr.take().expect("piped"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("a line");
    assert!(line.contains("working"), "{line}");
    check(&run(&test, &["resume", "call.json", "--answer", "name=Bob"]), 3, "", "another run is using the call");
    let test = test.file("go", "");
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("read");
    let output = first.wait_with_output().expect("the program ends");
    check(&output, 0, "Hello, Ada!", "");
    assert!(!is_there(&test), "{rest}");
}

#[test]
fn a_legacy_server_is_told_cancel_before_anybody_is_asked() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let ask =
        json!({"id": "q", "method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}});
    let server = Fake::new().tool("t").on_call([
        Step::Send(ask),
        Step::Expect(json!({"id": "q"})),
        Step::Reply(json!({"content": [{"type": "text", "text": "done"}]})),
    ]);
    let run = Test::new()
        .server("s", &server)
        .args(["call", "s", "t", "--defer", "call.json"])
        .status(8)
        .stdout("done\n")
        .stderr_contains("the call cannot be put aside")
        .run();
    assert_eq!(run.reply("s", &json!("q")), json!({"action": "cancel"}));
    assert!(!run.path("call.json").exists());
}

#[test]
fn files_that_are_no_calls_are_refused() {
    Test::new().args(["resume", "none.json"]).status(3).stderr_contains("none.json").run();
    Test::new()
        .file("x.json", "{}")
        .args(["resume", "x.json"])
        .status(3)
        .stderr_contains("it does not hold a waiting call")
        .run();
    let test = put_aside();
    check(&run(&test, &["resume", "call.json", "--defer", "other.json"]), 2, "", "--defer cannot be used with resume");
}
