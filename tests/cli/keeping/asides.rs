use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use super::faults::pid;
use crate::harness::{Fake, Kept, Step, Test, until};

/// A server that asks for a name during its first call, and answers with it; later calls return `done`.
fn asking() -> Kept {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let ask =
        json!({"id": "q", "method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}});
    let server = Fake::new()
        .tool("t")
        .on_call([Step::Send(ask), Step::Expect(json!({"id": "q"})), Step::Reply(json!({"content": []}))])
        .result(json!({"content": [{"type": "text", "text": "done"}]}));
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(75, &["call", "s", "t", "--keep", "--defer", "call.json"]);
    kept
}

/// The call is gone, and is not made again.
#[track_caller]
fn is_gone(kept: &Kept, why: &str) {
    for _ in 0..2 {
        let run = kept.run(4, &["resume", "call.json", "--answer", "name=Ada"]);
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
    assert_eq!(kept.count("s", "tools/call"), 1);
    assert!(kept.folder().join("call.json").exists());
}

fn legacy() -> Kept {
    let entry = json!({"command": "toolnexus", "args": ["demo-server"], "protocol": "2025-11-25"});
    Kept::new(Test::new().entry("forms", entry))
}

#[test]
fn a_legacy_call_waits_in_the_keeper() {
    let kept = legacy();
    let run = kept.run(75, &["call", "forms", "greet", "--keep", "--defer", "call.json"]);
    assert!(run.stdout.contains("greet is waiting for answers"), "{}", run.stdout);
    assert_eq!(kept.standing("forms").expect("it is up")["waiting"], 1);
    // Other calls continue meanwhile.
    assert_eq!(kept.run(0, &["call", "forms", "greet", "--answer", "name=Bob"]).stdout, "Hello, Bob!\n");
    // Nobody answers: it keeps waiting.
    kept.run(75, &["resume", "call.json"]);
    let run = kept.run(0, &["resume", "call.json", "--answer", "name=Ada"]);
    assert_eq!(run.stdout, "Hello, Ada!\n");
    assert!(!kept.folder().join("call.json").exists());
    assert_eq!(kept.standing("forms").expect("it is up")["waiting"], 0);
}

#[test]
fn a_call_that_is_gone_is_not_made_again() {
    let kept = legacy();
    kept.run(75, &["call", "forms", "greet", "--keep", "--defer", "call.json"]);
    let run = kept.run(0, &["down", "forms"]);
    assert!(run.stdout.contains("a call that was waiting for answers was cancelled"), "{}", run.stdout);
    for words in [&["resume", "call.json"][..], &["resume", "call.json", "--keep"]] {
        let run = kept.run(4, &[words, &["--answer", "name=Ada"]].concat());
        assert!(run.stderr.contains("was not made again"), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    let pending: Value =
        serde_json::from_str(&std::fs::read_to_string(kept.folder().join("call.json")).expect("it is there"))
            .expect("JSON");
    assert_eq!(pending["sent"], false);
}

#[test]
fn a_modern_call_is_put_aside_and_taken_up_through_a_keeper() {
    let kept = Kept::new(Test::new().demo());
    kept.run(75, &["call", "forms", "greet", "--keep", "--defer", "call.json"]);
    kept.run(75, &["resume", "call.json"]);
    assert_eq!(kept.run(0, &["resume", "call.json", "--answer", "name=Ada"]).stdout, "Hello, Ada!\n");
}

#[test]
fn a_call_whose_keeper_was_killed_is_not_made_again() {
    let kept = asking();
    kill(pid(&kept, "s"), Signal::SIGKILL).expect("killed");
    until("nothing is left", || kept.keepers.processes().is_empty());
    is_gone(&kept, "was not made again");
}

#[test]
fn a_call_whose_server_died_is_not_made_again() {
    let kept = asking();
    for (server, words) in kept.keepers.processes() {
        if words.contains("harness::fake::server") {
            let _ = kill(Pid::from_raw(server), Signal::SIGKILL);
        }
    }
    until("it is seen", || kept.run(0, &["logs", "s"]).stdout.contains("was killed by SIGKILL"));
    is_gone(&kept, "was not made again");
}

#[test]
fn a_call_that_ended_while_it_was_put_aside_gives_its_result() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let ask =
        json!({"id": "q", "method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}});
    let server = Fake::new().tool("t").on_call([
        Step::Send(ask),
        Step::ExpectFile("go".into()),
        Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": "q"}})),
        Step::Reply(json!({"content": [{"type": "text", "text": "went on without you"}]})),
    ]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(75, &["call", "s", "t", "--keep", "--defer", "call.json"]);
    std::fs::write(kept.folder().join("go"), "").expect("written");
    until("it has ended", || kept.run(0, &["tools", "s"]).status == Some(0));
    let run = kept.run(0, &["resume", "call.json", "--answer", "name=Ada"]);
    assert_eq!(run.stdout, "went on without you\n");
    assert_eq!(kept.standing("s").expect("it is up")["waiting"], 0);
}
