//! Servers that answer as modern ones, but whose tools can ask in legacy revisions alone.

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test, received};

/// What such a server answers to a call.
const REFUSAL: &str = "Cannot send 'elicitation/create': this transport context has no back-channel for \
                       server-initiated requests.";

fn refusal() -> Step {
    Step::Fail(json!({"code": -32600, "message": REFUSAL}))
}

/// Such a server. Each process of it does one thing: the first refuses, those that follow are shaken hands with.
fn server(test: Test) -> Test {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let ask =
        json!({"id": "q", "method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}});
    let done = json!({"content": [{"type": "text", "text": "done"}]});
    let first = Fake::new().modern().tool("t").on_call([refusal()]);
    let second = Fake::new().tool("t").on_call([Step::Send(ask), Step::Expect(json!({"id": "q"})), Step::Reply(done)]);
    two_processes(test, &first, &second)
}

/// A server `s` that is `first` when it is started, and `second` from then on.
fn two_processes(test: Test, first: &Fake, second: &Fake) -> Test {
    let mut entry = first.entry(test.folder(), "first");
    let second = second.entry(test.folder(), "second");
    let start = entry["args"][1].as_str().expect("a script").to_owned();
    let script = second["env"]["FAKE_SERVER_SCRIPT"].as_str().expect("a path");
    entry["args"][1] = json!(format!("mkdir once 2>/dev/null || FAKE_SERVER_SCRIPT='{script}'; {start}"));
    test.entry("s", entry)
}

fn methods(messages: &[Value]) -> Vec<&str> {
    messages.iter().filter_map(|message| message["method"].as_str()).collect()
}

#[test]
fn the_call_is_made_again_in_a_revision_in_which_it_can_ask() {
    let run = server(Test::new())
        .args(["call", "s", "t", "--answer", "name=Ada"])
        .stdout("done\n")
        .stderr("note: s can only ask over 2025-11-25: calling again\n")
        .run();
    assert_eq!(run.reply("second", &json!("q")), json!({"action": "accept", "content": {"name": "Ada"}}));
    let (first, second) = (run.received("first"), run.received("second"));
    assert_eq!(methods(&first).iter().filter(|method| **method == "tools/call").count(), 1);
    assert_eq!(methods(&second), ["initialize", "notifications/initialized", "tools/call"]);
}

#[test]
fn it_is_remembered() {
    let test = server(Test::new()).args(["call", "s", "t", "--answer", "name=Ada"]);
    for _ in 0..2 {
        let output = test.command().output().expect("the program starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n", "{output:?}");
    }
    let second = received(test.folder(), "second");
    let asked: Vec<&str> = methods(&second).into_iter().filter(|method| *method != "tools/list").collect();
    let each = ["initialize", "notifications/initialized", "tools/call"];
    assert_eq!(asked, [each, each].concat());
}

#[test]
fn the_refusal_stands_where_the_revision_was_chosen_and_where_nobody_answers() {
    let chosen = ["--answer", "name=Ada", "--protocol", "2026-07-28"];
    for more in [&chosen[..], &["--elicit", "off"]] {
        let test = server(Test::new()).args(["call", "s", "t"]).args(more.iter().copied());
        let run = test.status(6).stderr_contains(REFUSAL).run();
        assert!(!run.stderr.contains("calling again"), "{}", run.stderr);
        assert_eq!(run.received("second"), Vec::<Value>::new());
    }
}

#[test]
fn the_refusal_stands_where_the_server_knows_no_other_revision() {
    let fake = Fake::new().modern().tool("t").on_call([refusal()]);
    let test = two_processes(Test::new(), &fake, &fake);
    test.args(["call", "s", "t", "--answer", "name=Ada"]).status(6).stderr_contains(REFUSAL).run();
}

#[test]
fn another_refusal_is_final_and_the_call_is_made_again_only_once() {
    for message in ["Cannot do that", "Session not found"] {
        let fake = Fake::new().modern().tool("t").on_call([Step::Fail(json!({"code": -32600, "message": message}))]);
        let test = two_processes(Test::new(), &fake, &Fake::new().tool("t"));
        test.args(["call", "s", "t", "--answer", "name=Ada"]).status(6).stderr_contains(message).run();
    }
    let first = Fake::new().modern().tool("t").on_call([refusal()]);
    let test = two_processes(Test::new(), &first, &Fake::new().tool("t").on_call([refusal()]));
    let run = test.args(["call", "s", "t", "--answer", "name=Ada"]).status(6).stderr_contains(REFUSAL).run();
    assert_eq!(methods(&run.received("second")).iter().filter(|method| **method == "tools/call").count(), 1);
}
