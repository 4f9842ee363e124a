//! `--on-elicit`: programs that answer, and all the ways in which they fail.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::harness::{Fake, Run, Step, Test};

fn form() -> Value {
    let properties = json!({"age": {"type": "integer", "minimum": 18}, "height": {"type": "number"}});
    json!({"message": "How old?", "requestedSchema":
        {"type": "object", "properties": properties, "required": ["age"]}})
}

fn ask(params: &Value) -> [Step; 2] {
    [Step::Send(json!({"id": "q", "method": "elicitation/create", "params": params})), Step::Expect(json!({"id": "q"}))]
}

fn done() -> Step {
    Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}))
}

/// A call whose question is answered by a program with this text.
fn asked(program: &str) -> Test {
    let server = Fake::new().tool("t").on_call(ask(&form()).into_iter().chain([done()]));
    let test = Test::new().server("s", &server).file("answer.sh", program).stdout("done\n");
    test.args(["call", "s", "t", "--on-elicit", "sh answer.sh"])
}

fn reply(run: &Run) -> Value {
    run.reply("s", &json!("q"))
}

#[test]
fn what_programs_print() {
    for (printed, reply_) in [
        (r#"{"ok": true, "data": {"age": 20}}"#, json!({"action": "accept", "content": {"age": 20}})),
        (r#"{"action": "accept", "content": {"age": 20}}"#, json!({"action": "accept", "content": {"age": 20}})),
        (r#"{"content": {"age": 20}}"#, json!({"action": "accept", "content": {"age": 20}})),
        (r#"{"action": "decline"}"#, json!({"action": "decline"})),
        (r#"{"action": "cancel"}"#, json!({"action": "cancel"})),
        (
            r#"{"ok": true, "data": {"age": 20.0, "height": 1.5}}"#,
            json!({"action": "accept", "content": {"age": 20, "height": 1.5}}),
        ),
        (r#"{"ok": false, "reason": "declined"}"#, json!({"action": "decline"})),
        (r#"{"ok": false, "reason": "whatever"}"#, json!({"action": "cancel"})),
        (r#"{"ok": false, "data": {"age": 20}}"#, json!({"action": "cancel"})),
    ] {
        let run = asked(&format!("echo '{printed}'")).run();
        assert_eq!(reply(&run), reply_, "{printed}");
    }
    // Whole numbers are sent as such.
    let run = asked(r#"echo '{"ok": true, "data": {"age": 20.0}}'"#).run();
    assert_eq!(reply(&run)["content"]["age"].to_string(), "20");
    // The answer may contain its own question's id.
    let with_id =
        r#"id=$(sed 's/.*"id":"\([^"]*\)".*/\1/'); echo "{\"id\": \"$id\", \"ok\": true, \"data\": {\"age\": 20}}""#;
    assert_eq!(reply(&asked(with_id).run())["action"], "accept");
}

#[test]
fn every_failure_is_a_cancel_with_its_reason() {
    for (program, reason) in [
        ("exit 3", "exited with status 3"),
        (r#"echo '{"ok": true, "data": {"age": 20}}'; exit 1"#, "exited with status 1"),
        ("kill -9 $$", "killed by SIGKILL"),
        ("true", "printed nothing"),
        ("echo yes", "printed no answer"),
        ("echo '{\"ok\": \"yes\"}'", "printed no answer"),
        ("echo '[]'", "printed no answer"),
        (r"printf '\377'", "not UTF-8"),
        (r#"echo '{"id": "elc-0-0", "ok": true, "data": {"age": 20}}'"#, "answered the question \"elc-0-0\""),
        (r#"echo '{"ok": true}'"#, "age: required, but missing"),
        (r#"echo '{"ok": true, "data": []}'"#, "data that is not an object"),
        (r#"echo '{"ok": true, "data": {"age": 17}}'"#, "17 is below the minimum, 18"),
        (r#"echo '{"ok": true, "data": {"age": "20"}}'"#, "not a whole number"),
        (r#"echo '{"ok": true, "data": {"age": 20, "more": 1}}'"#, "more: not a field of this form"),
    ] {
        let run = asked(program).status(8).stderr_contains(reason).run();
        assert_eq!(reply(&run), json!({"action": "cancel"}), "{program}");
    }
}

#[test]
fn a_slow_program_is_ended_with_all_that_it_started() {
    let program =
        "sh -c 'echo $$ > tmp; mv tmp child; exec sleep 60' & while [ ! -s child ]; do sleep 0.01; done; wait";
    let run = asked(program).args(["--elicit-timeout", "1"]).status(8).stderr_contains("no answer within 1 s").run();
    assert_eq!(reply(&run), json!({"action": "cancel"}));
    ends(&fs::read_to_string(run.path("child")).expect("the child's id"));
}

#[test]
fn a_program_is_ended_when_its_question_is_withdrawn() {
    let server = Fake::new().tool("t").on_call([
        Step::Send(json!({"id": "q", "method": "elicitation/create", "params": form()})),
        Step::ExpectFile("child".into()),
        Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": "q"}})),
        done(),
    ]);
    let program = "sh -c 'echo $$ > tmp; mv tmp child; exec sleep 60' & wait";
    let test = Test::new().server("s", &server).file("answer.sh", program).stdout("done\n");
    let run = test.args(["call", "s", "t", "--on-elicit", "sh answer.sh"]).run();
    assert!(run.took < Duration::from_secs(20), "{:?}", run.took);
    assert!(run.received("s").iter().all(|message| message["id"] != "q"), "a withdrawn question was answered");
    ends(&fs::read_to_string(run.path("child")).expect("the child's id"));
}

#[test]
fn what_a_program_leaves_behind_does_not_hold_the_call_up() {
    // It left the group, keeps standard error open, and never stops writing to it.
    let program = r#"setsid sh -c 'echo $$ > child; while :; do echo noise >&2; sleep 0.05; done' &
        while [ ! -s child ]; do sleep 0.01; done; echo '{"ok": true, "data": {"age": 20}}'"#;
    let run = asked(program).stdout("done\n").run();
    let pid = fs::read_to_string(run.path("child")).expect("the child's id");
    let pid = nix::unistd::Pid::from_raw(pid.trim().parse().expect("a process id"));
    let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
    assert_eq!(reply(&run)["action"], "accept");
}

#[test]
fn a_few_programs_run_at_a_time() {
    let count = 30;
    let ask = |n: usize| Step::Send(json!({"id": format!("q{n}"), "method": "elicitation/create", "params": form()}));
    let steps =
        (0..count).map(ask).chain((0..count).map(|n| Step::Expect(json!({"id": format!("q{n}")})))).chain([done()]);
    let program = "mkdir run.$$; ls -d run.* | wc -l >> counts; sleep 0.05; rmdir run.$$; echo '{\"ok\": true, \"data\": {\"age\": 20}}'";
    let test = Test::new().server("s", &Fake::new().tool("t").on_call(steps)).file("answer.sh", program);
    let run = test.args(["call", "s", "t", "--on-elicit", "sh answer.sh"]).stdout("done\n").run();
    let counts = fs::read_to_string(run.path("counts")).expect("counts");
    let most = counts.lines().filter_map(|line| line.trim().parse::<usize>().ok()).max().expect("some");
    assert!((1..=4).contains(&most), "{most} at a time");
}

#[test]
fn null_passes_the_question_on() {
    let run = asked("echo null").args(["--elicit", "decline"]).run();
    assert_eq!(reply(&run), json!({"action": "decline"}));
    asked("echo null").status(8).stderr_contains("nobody answered it").run();
}

#[test]
fn a_missing_program_is_reported_before_anything_starts() {
    let test = || Test::new().entry("s", json!({"command": "touch", "args": ["started"]})).args(["call", "s", "t"]);
    for (words, status) in [("no-such-program-anywhere", 3), ("'unclosed", 2), ("", 2)] {
        let run = test().args(["--on-elicit", words]).status(status).run();
        assert!(!run.path("started").exists(), "{words}");
    }
}

/// Waits until no process has this id any more.
#[track_caller]
fn ends(id: &str) {
    let id = nix::unistd::Pid::from_raw(id.trim().parse().expect("a process id"));
    let end = Instant::now() + Duration::from_secs(20);
    while nix::sys::signal::kill(id, None).is_ok() {
        assert!(Instant::now() < end, "{id} is still there");
        std::thread::sleep(Duration::from_millis(2));
    }
}
