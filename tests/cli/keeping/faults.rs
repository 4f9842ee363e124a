use std::{fs, time::Duration};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use crate::harness::{Fake, Keepers, Kept, Step, Test, until, wait};

pub(super) fn pid(kept: &Kept, server: &str) -> Pid {
    let standing = kept.standing(server).expect("it is up");
    Pid::from_raw(standing["pid"].as_i64().and_then(|pid| pid.try_into().ok()).expect("a process"))
}

/// A server that asks during its first call, and answers the others.
fn asking() -> Fake {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    Fake::new()
        .tool("t")
        .on_call([
            Step::Send(json!({"id": "q", "method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": schema}})),
            Step::Expect(json!({"id": "q"})),
            Step::Reply(json!({"content": []})),
        ])
        .result(json!({"content": [{"type": "text", "text": "later"}]}))
}

fn reply(kept: &Kept) -> Option<Value> {
    kept.received("s").into_iter().find(|message| message["id"] == "q").map(|message| message["result"].clone())
}

#[test]
fn simultaneous_first_calls_start_one_keeper() {
    let kept = Kept::new(Test::new().server("s", &Fake::new().tool("t")));
    let children: Vec<_> = (0..8).map(|_| kept.start(&["call", "s", "t", "--keep"])).collect();
    for child in children {
        let run = wait(child, Duration::from_secs(60));
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "done\n", ""));
    }
    assert_eq!(kept.count("s", "initialize"), 1);
    assert_eq!(kept.standing("s").expect("it is up")["calls"], 8);
}

#[test]
fn a_killed_keeper_takes_its_server_along_and_is_replaced() {
    let kept = Kept::new(Test::new().server("s", &Fake::new().tool("t")));
    kept.run(0, &["up", "s"]);
    for _ in 0..3 {
        kill(pid(&kept, "s"), Signal::SIGKILL).expect("killed");
        until("nothing is left", || kept.keepers.processes().is_empty());
        let run = kept.run(0, &["call", "s", "t"]);
        assert_eq!(run.stdout, "done\n");
        assert!(run.stderr.contains("what it had in memory is lost"), "{}", run.stderr);
        assert_eq!(kept.run(0, &["call", "s", "t"]).stderr, "");
    }
}

#[test]
fn a_keeper_that_dies_during_a_call_is_reported_immediately() {
    let server = Fake::new().tool("t").on_call([Step::ExpectFile("never".into())]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["up", "s"]);
    let child = kept.start(&["call", "s", "t"]);
    until("the call is there", || kept.count("s", "tools/call") == 1);
    kill(pid(&kept, "s"), Signal::SIGKILL).expect("killed");
    let run = wait(child, Duration::from_secs(10));
    assert_eq!(run.status, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("the process that kept the server has ended"), "{}", run.stderr);
    until("nothing is left", || kept.keepers.processes().is_empty());
}

#[test]
fn a_server_that_dies_is_reported_immediately_and_started_again() {
    let server = Fake::new().tool("t").on_call([Step::Exit(3)]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["up", "s"]);
    let run = kept.run(4, &["call", "s", "t"]);
    assert!(run.stderr.contains("exited with status 3"), "{}", run.stderr);
    let run = kept.run(0, &["tools", "s"]);
    assert!(run.stderr.contains("what it had in memory is lost"), "{}", run.stderr);
    assert_eq!(kept.count("s", "initialize"), 2);
    assert!(kept.standing("s").is_some());
}

#[test]
fn a_server_that_does_not_start_is_not_kept() {
    let kept = Kept::new(Test::new().entry("s", json!({"command": "sh", "args": ["-c", "exit 7"]})));
    let run = kept.run(4, &["up", "s"]);
    assert!(run.stderr.contains("exited with status 7"), "{}", run.stderr);
    until("nothing is left", || kept.keepers.processes().is_empty());
}

#[test]
fn a_command_that_is_killed_leaves_its_question_cancelled() {
    let kept = Kept::new(Test::new().server("s", &asking()));
    kept.run(0, &["up", "s"]);
    let mut child = kept.start(&["call", "s", "t", "--on-elicit", "sleep 60"]);
    until("the question is there", || kept.count("s", "tools/call") == 1 && child.try_wait().is_ok());
    std::thread::sleep(Duration::from_millis(300));
    child.kill().expect("killed");
    child.wait().expect("gone");
    until("it is answered", || reply(&kept).is_some());
    assert_eq!(reply(&kept), Some(json!({"action": "cancel"})));
    assert_eq!(kept.run(0, &["call", "s", "t"]).stdout, "later\n");
}

#[test]
fn an_interrupted_command_cancels_its_call_and_no_other() {
    let server = Fake::new()
        .tool("t")
        .on_call([Step::Expect(json!({"method": "notifications/cancelled"}))])
        .result(json!({"content": [{"type": "text", "text": "the other"}]}));
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["up", "s"]);
    let child = kept.start(&["call", "s", "t"]);
    until("the call is there", || kept.count("s", "tools/call") == 1);
    let other = kept.start(&["call", "s", "t"]);
    // It waits up to 5 s for the first one, which may ask.
    until("the other is there", || kept.count("s", "tools/call") == 2);
    kill(Pid::from_raw(child.id().try_into().expect("a process")), Signal::SIGINT).expect("interrupted");
    assert_eq!(wait(child, Duration::from_secs(10)).status, Some(130));
    let run = wait(other, Duration::from_secs(10));
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "the other\n", ""));
    assert_eq!((kept.count("s", "notifications/cancelled"), kept.count("s", "initialize")), (1, 1));
}

#[test]
fn a_killed_server_is_reported_to_every_call_immediately() {
    let server = Fake::new().tool("t").on_call([Step::Reply(json!({"content": []}))]).on_call([Step::ExpectEnd]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["call", "s", "t", "--keep"]);
    let children: Vec<_> = (0..3).map(|_| kept.start(&["call", "s", "t"])).collect();
    until("the calls are there", || kept.count("s", "tools/call") == 4);
    let is_server = |words: &str| words.contains("harness::fake::server");
    for (server, _) in kept.keepers.processes().into_iter().filter(|(_, words)| is_server(words)) {
        let _ = kill(Pid::from_raw(server), Signal::SIGKILL);
    }
    for child in children {
        let run = wait(child, Duration::from_secs(10));
        assert_eq!(run.status, Some(4), "{}", run.stderr);
        assert!(run.stderr.contains("was killed by SIGKILL"), "{}", run.stderr);
    }
    let run = kept.run(0, &["call", "s", "t"]);
    assert!(run.stderr.contains("what it had in memory is lost"), "{}", run.stderr);
    assert_eq!(kept.run(0, &["tools", "s"]).stderr, "");
}

#[test]
fn a_keeper_that_is_stopped_during_a_call_is_given_up() {
    let server = Fake::new().tool("t").on_call([Step::ExpectEnd]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["up", "s"]);
    let child = kept.start(&["call", "s", "t"]);
    until("the call is there", || kept.count("s", "tools/call") == 1);
    kill(pid(&kept, "s"), Signal::SIGSTOP).expect("stopped");
    let run = wait(child, Duration::from_secs(40));
    assert_eq!(run.status, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("the process that kept the server has ended"), "{}", run.stderr);
}

#[test]
fn a_keeper_that_nobody_finds_any_more_ends() {
    let kept = Kept::new(Test::new().server("s", &Fake::new().tool("t")));
    kept.run(0, &["up", "s"]);
    fs::remove_dir_all(kept.keepers.path().join("toolnexus")).expect("gone");
    assert_eq!(kept.run(0, &["call", "s", "t", "--keep"]).stdout, "done\n");
    until("one is left", || {
        kept.keepers.processes().iter().filter(|(_, words)| words.ends_with(" keep-server ")).count() == 1
    });
    kept.run(0, &["down", "--all"]);
    until("nothing is left", || kept.keepers.processes().is_empty());
}

#[test]
fn a_stopped_keeper_delays_nobody_for_long() {
    let kept = Kept::new(Test::new().server("s", &Fake::new().tool("t")));
    kept.run(0, &["up", "s"]);
    kill(pid(&kept, "s"), Signal::SIGSTOP).expect("stopped");
    let run = kept.run(0, &["call", "s", "t"]);
    assert_eq!(run.stdout, "done\n");
    assert!(run.stderr.contains("its keeper did not answer within 5 s"), "{}", run.stderr);
    assert!(run.took < Duration::from_secs(20), "{:?}", run.took);
}

#[test]
fn what_has_left_its_servers_group_does_not_outlive_a_killed_keeper_either() {
    let script = r#"setsid sleep 1000 </dev/null >/dev/null 2>&1 & exec "$0" demo-server"#;
    let entry = json!({"command": "sh", "args": ["-c", script, env!("CARGO_BIN_EXE_toolnexus")]});
    let kept = Kept::new(Test::new().entry("s", entry));
    kept.run(0, &["up", "s"]);
    until("it is there", || kept.keepers.processes().iter().any(|(_, words)| words.starts_with("sleep 1000")));
    kill(pid(&kept, "s"), Signal::SIGKILL).expect("killed");
    until("nothing is left", || kept.keepers.processes().is_empty());
}

#[test]
fn a_shell_uses_the_next_keeper_when_one_is_gone() {
    let test = Test::new().entry("forms", json!({"command": "toolnexus", "args": ["demo-server"], "keep": true}));
    let keepers = Keepers::within(test.folder());
    let keeper = || keepers.processes().into_iter().find(|(_, words)| words.ends_with(" keep-server "));
    let path = keepers.path().to_str().expect("UTF-8").to_owned();
    let person = test.env("XDG_RUNTIME_DIR", &path).args(["shell"]).at_terminal(30, 100);
    person.see("toolnexus> ").send_at_once("call forms countdown from=1\r").see("Counted down from 1.");
    let (before, _) = keeper().expect("it is kept");
    kill(Pid::from_raw(before), Signal::SIGKILL).expect("killed");
    until("it is gone", || keeper().is_none());
    person.send_at_once("call forms countdown from=2\r").see("in memory is lost");
    person.see("Counted down from 2.\ntoolnexus>");
    person.send_at_once("\x04");
    person.end(0);
    assert!(keeper().is_some_and(|(after, _)| after != before));
}
