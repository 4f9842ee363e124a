//! `-o events`: each thing once, questions as their schema, and no more log messages than requested.

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

fn schema() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string", "title": "Your name"}}, "required": ["name"]})
}

fn log(level: &str) -> Step {
    Step::Send(json!({"method": "notifications/message", "params": {"level": level, "data": format!("it is {level}")}}))
}

fn changed() -> Step {
    Step::Send(json!({"method": "notifications/tools/list_changed"}))
}

/// A server that reports the same change four times, logs, and asks.
fn talking() -> Fake {
    let params = json!({"message": "Who?", "requestedSchema": schema()});
    let ask = Step::Send(json!({"id": "q", "method": "elicitation/create", "params": params}));
    let steps =
        [changed(), changed(), changed(), changed(), log("debug"), log("info"), log("warning"), log("error"), ask];
    let done = Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}));
    Fake::new().tool("t").on_call(steps.into_iter().chain([Step::Expect(json!({"id": "q"})), done]))
}

fn call(words: &[&str]) -> Test {
    Test::new().server("s", &talking()).args(["call", "s", "t"]).args(words.iter().copied())
}

fn of_kind(events: &[Value], kind: &str) -> Vec<Value> {
    events.iter().filter(|event| event["event"] == kind).cloned().collect()
}

#[test]
fn each_event_is_reported_once() {
    let run = call(&["-o", "events"]).status(8).run();
    let events = run.events();
    assert_eq!(of_kind(&events, "changed").len(), 1, "{}", run.stdout);
    let questions = of_kind(&events, "question");
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0]["request"]["data"]["schema"], schema());
    assert_eq!(run.stdout.matches("Your name").count(), 1, "{}", run.stdout);
    // The error does not show the form again.
    let error = run.error();
    assert_eq!((&error["code"], error.get("questions")), (&json!("unanswered"), None));
    assert!(!run.stderr.contains("Your name") && !error["message"].as_str().expect("text").contains('\n'), "{error}");
    assert_eq!(of_kind(&events, "result").len(), 1);
}

#[test]
fn where_there_are_no_events_the_error_has_the_question_as_its_schema() {
    let run = call(&["-o", "json"]).status(8).run();
    let error = run.error();
    let expected = json!([{"server": "s", "call": "t", "message": "Who?", "schema": schema()}]);
    assert_eq!(error["questions"], expected);
    assert!(!error["message"].as_str().expect("text").contains('\n'), "{error}");
    assert!(error["hint"].as_str().expect("a hint").contains("--answers"), "{error}");
}

#[test]
fn logs_are_shown_from_warning_on_or_as_asked() {
    for (words, expected) in [
        (&[][..], &["warning", "error"][..]),
        (&["--log", "error"], &["error"]),
        (&["--log", "info"], &["info", "warning", "error"]),
        (&["--log", "debug"], &["debug", "info", "warning", "error"]),
        (&["-v"], &["debug", "info", "warning", "error"]),
        (&["-v", "--log", "warning"], &["warning", "error"]),
    ] {
        let run = call(words).args(["-o", "events", "--answer", "name=Ada"]).run();
        let logs = of_kind(&run.events(), "log");
        let levels: Vec<&str> = logs.iter().filter_map(|event| event["level"].as_str()).collect();
        assert_eq!(levels, expected, "{words:?}");
        let run = call(words).args(["--answer", "name=Ada"]).stdout("done\n").run();
        for level in ["debug", "info", "warning", "error"] {
            let is_shown = run.stderr.contains(&format!("s {level} │ it is {level}"));
            assert_eq!(is_shown, expected.contains(&level), "{words:?} {level}: {}", run.stderr);
        }
    }
    call(&["--log", "loud"]).status(2).stderr_contains("loud").run();
}

#[test]
fn servers_are_asked_for_the_level_that_is_shown() {
    let logging = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
        "serverInfo": {"name": "fake", "version": "1"}});
    let old = || {
        Fake::new()
            .tool("t")
            .on("initialize", [Step::Reply(logging.clone())])
            .on("logging/setLevel", [Step::Reply(json!({}))])
    };
    let run = Test::new().server("s", &old()).args(["call", "s", "t", "--log", "info"]).run();
    assert_eq!(run.params("s", "logging/setLevel", 0), json!({"level": "info"}));
    for (words, level) in [(&[][..], "warning"), (&["--log", "error"], "error"), (&["--log", "debug"], "debug")] {
        let new = Fake::new().modern().tool("t");
        let run = Test::new().server("s", &new).args(["call", "s", "t"]).args(words.iter().copied()).run();
        let meta = run.params("s", "tools/call", 0)["_meta"].clone();
        assert_eq!(meta["io.modelcontextprotocol/logLevel"], level);
    }
}
