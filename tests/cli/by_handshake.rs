//! Servers that answer like modern ones, but whose tools can ask only in legacy revisions.

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test, received};

/// Such a server's answer to a call.
const REFUSAL: &str = "Cannot send 'elicitation/create': this transport context has no back-channel for \
                       server-initiated requests.";

fn refusal() -> Step {
    Step::Fail(json!({"code": -32600, "message": REFUSAL}))
}

/// Such a server. Each process of it does one thing: the first refuses, later ones get a handshake.
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
    processes(test, &[("first", first), ("second", second)])
}

/// A server `s` whose processes are these, one after the other; the last one stands for all later ones.
fn processes(test: Test, fakes: &[(&str, &Fake)]) -> Test {
    let mut entry = Value::Null;
    let mut choose = String::new();
    for (name, fake) in fakes {
        entry = fake.entry(test.folder(), name);
        let script = entry["env"]["FAKE_SERVER_SCRIPT"].as_str().expect("a path");
        choose = format!("{choose}if mkdir once-{name} 2>/dev/null; then FAKE_SERVER_SCRIPT='{script}'; el");
    }
    let start = entry["args"][1].as_str().expect("a script").to_owned();
    entry["args"][1] = json!(format!("{choose}se :; fi; {start}"));
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

/// The result of a FastMCP tool that could not ask.
fn failed() -> Value {
    let text =
        "Error calling tool 't': elicitation via server-initiated requests is unavailable on 2026-07-28 connections";
    json!({"content": [{"type": "text", "text": text}], "isError": true, "resultType": "complete"})
}

#[test]
fn a_result_that_says_so_counts_too() {
    let ask = json!({"id": "q", "method": "elicitation/create", "params": {"message": "Sure?"}});
    let done = json!({"content": [{"type": "text", "text": "done"}]});
    let first = Fake::new().modern().tool("t").result(failed());
    let second = Fake::new().tool("t").on_call([Step::Send(ask), Step::Expect(json!({"id": "q"})), Step::Reply(done)]);
    let test = two_processes(Test::new(), &first, &second);
    let run = test.args(["call", "s", "t", "--elicit", "decline"]).stdout("done\n").run();
    assert_eq!(run.reply("second", &json!("q")), json!({"action": "decline"}));

    // If the server accepts no handshake, its own message is shown.
    let test = two_processes(Test::new(), &first, &first);
    test.args(["call", "s", "t"]).status(1).stdout_contains("is unavailable").run();
}

#[test]
fn one_tool_never_spoils_another() {
    let tools = || Fake::new().tool("old").tool("new");
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let who = json!({"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}});
    let asked = json!({"resultType": "input_required", "requestState": "x", "inputRequests": {"who": who}});
    let done = json!({"content": [{"type": "text", "text": "done"}], "resultType": "complete"});
    // `old` fails in every revision, so nothing is remembered about it.
    let first = tools().modern().on_call([refusal()]);
    let second = tools().on_call([refusal()]);
    let third = tools().modern().on_call([Step::Reply(asked)]).on_call([Step::Reply(done)]);
    let test = processes(Test::new(), &[("first", &first), ("second", &second), ("third", &third)]);
    let run = |args: &[&str]| test.command().args(args).output().expect("the program starts");
    let old = run(&["call", "s", "old"]);
    assert_eq!(old.status.code(), Some(6), "{old:?}");
    let new = run(&["call", "s", "new", "--answer", "name=Ada"]);
    assert_eq!((new.status.code(), String::from_utf8_lossy(&new.stdout).as_ref()), (Some(0), "done\n"), "{new:?}");
    assert_eq!(received(test.folder(), "third").iter().filter(|m| m["method"] == "initialize").count(), 0);
}

#[test]
fn a_remembered_tool_that_fails_there_is_found_out_again() {
    let ask = json!({"id": "q", "method": "elicitation/create", "params": {"message": "Sure?"}});
    let done = json!({"content": [{"type": "text", "text": "done"}]});
    let first = Fake::new().modern().tool("t").on_call([refusal()]);
    let second = Fake::new().tool("t").on_call([Step::Send(ask), Step::Expect(json!({"id": "q"})), Step::Reply(done)]);
    let third = Fake::new().tool("t").on_call([Step::Fail(json!({"code": -32603, "message": "gone"}))]);
    let fourth = Fake::new().modern().tool("t");
    let all = [("first", &first), ("second", &second), ("third", &third), ("fourth", &fourth)];
    let test = processes(Test::new(), &all).args(["call", "s", "t", "--elicit", "decline"]);
    let statuses: Vec<_> = (0..3).map(|_| test.command().output().expect("the program starts").status.code()).collect();
    assert_eq!(statuses, [Some(0), Some(6), Some(0)]);
    assert!(methods(&received(test.folder(), "third")).contains(&"initialize"));
    assert!(!methods(&received(test.folder(), "fourth")).contains(&"initialize"));
}
