//! Questions of every kind, at a terminal and from files, over every transport.

use std::{process::Stdio, time::Duration};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use super::ways::WAYS;
use crate::harness::{Fake, Step, pages, received, until, wait};

const DOWN: &str = "\x1b[B";

#[test]
fn a_person_fills_a_form() {
    for way in WAYS {
        let (test, _held) = way.demo();
        let name = way.name();
        let person = test.args(["call", &name, "greet"]).at_terminal(40, 100);
        person.see(&format!("{name} asks, during greet")).see("1 of 4").send("Ada\r");
        person.see("2 of 4").send("17\r").see("✗ 17 is below").send("\x1536\r");
        person.see("3 of 4").send("\r").see("4 of 4").send("\r");
        person.see(&format!("What {name} will receive")).see("  Send").send("1").see("› Send").send("\r");
        person.see("Hello, Ada! You are 36.");
        person.end(0);
    }
}

#[test]
fn a_person_declines_and_cancels() {
    for way in WAYS {
        let (test, _held) = way.demo();
        let person = test.args(["call", &way.name(), "greet"]).at_terminal(40, 100);
        person.see("1 of 4").send("\x03").see("You closed the question");
        person.end(0);
        let (test, _held) = way.demo();
        let person = test.args(["call", &way.name(), "connect", "--no-browser"]).at_terminal(40, 120);
        person.see("asks you to open a link, during connect").see("  I'll open it myself");
        person.send(&DOWN.repeat(2)).see("› Decline").send("\r").see("You declined");
        person.end(0);
    }
}

#[test]
fn a_person_opens_a_link_and_the_call_goes_on_when_the_page_is_done() {
    for way in WAYS {
        let (test, _held) = way.demo();
        let person = test.args(["call", &way.name(), "connect", "--no-browser"]).at_terminal(40, 160);
        let screen = person.see("host    127.0.0.1").see("  I'll open it myself").screen();
        let url =
            screen.lines().find_map(|line| line.trim().strip_prefix("http://").map(|rest| format!("http://{rest}")));
        person.send(DOWN).see("› I'll open it myself").send("\r").see("Waiting for ");
        approve(&url.unwrap_or_else(|| panic!("no link on {screen}")));
        person.see("Connected: you approved it on the page.");
        person.end(0);
    }
}

/// Presses *Approve* on the page at `url`.
fn approve(url: &str) {
    let (head, page) = pages::get(url);
    assert!(page.contains("Approve"), "{head}{page}");
    let (head, page) = pages::send_form(url, &head, &page, &[]);
    assert!(page.contains("Approved"), "{head}{page}");
}

#[test]
fn a_program_answers() {
    for way in WAYS {
        let (test, _held) = way.demo();
        let program = "#!/bin/sh\nread question\ncase $question in *Welcome*) echo '{\"ok\": true, \"data\": {\"name\": \"Ada\"}}';; esac\n";
        let test = test.file("answer.sh", program);
        test.args(["call", &way.name(), "greet", "--on-elicit", "sh answer.sh"]).stdout("Hello, Ada!\n").run();
    }
}

#[test]
fn what_was_answered_is_recorded_and_answers_the_next_time() {
    for way in WAYS {
        let (test, _held) = way.demo();
        let words = ["call", &way.name(), "greet", "--answer", "name=Ada", "--record", "recorded.json"];
        let recorded = test.args(words).stdout("Hello, Ada!\n").run();
        let recorded = std::fs::read_to_string(recorded.path("recorded.json")).expect("a file");
        let (test, _held) = way.demo();
        test.file("recorded.json", recorded)
            .args(["call", &way.name(), "greet", "--answers", "recorded.json"])
            .stdout("Hello, Ada!\n")
            .run();
    }
}

#[test]
fn the_log_of_a_call_is_the_commands() {
    for way in WAYS {
        let log = json!({"method": "notifications/message", "params": {"level": "error", "data": "a log line"}});
        let done = json!({"content": [], "resultType": "complete"});
        let (test, _held) = way.fake(Fake::new().tool("t").on_call([Step::Send(log), Step::Reply(done)]));
        let run = test.args(["call", &way.name(), "t", "-o", "events"]).run();
        let logs: Vec<Value> = run.events().into_iter().filter(|event| event["event"] == "log").collect();
        assert!(logs.len() == 1 && logs[0]["data"] == "a log line", "{}: {}", way.name(), run.stdout);
    }
}

#[test]
fn an_interrupted_call_is_cancelled() {
    for way in WAYS {
        let (test, held) = way.fake(Fake::new().tool("t").on_call([Step::ExpectEnd]));
        let test = test.args(["call", &way.name(), "t"]);
        let mut command = test.command();
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("started");
        let messages = || received(test.folder(), &way.name());
        let count = |method: &str| messages().iter().filter(|message| message["method"] == method).count();
        until("the call is there", || count("tools/call") == 1);
        kill(Pid::from_raw(child.id().try_into().expect("a process")), Signal::SIGINT).expect("interrupted");
        assert_eq!(wait(child, Duration::from_secs(20)).status, Some(130), "{}", way.name());
        // A modern server over HTTP sees that its stream is closed; the gateway tells the scripted one.
        until(&format!("it is told, {}", way.name()), || count("notifications/cancelled") >= 1);
        drop(held);
    }
}

#[test]
fn a_call_is_put_aside_and_taken_up_where_it_can_wait() {
    for way in WAYS {
        let (test, _held) = way.demo();
        let name = way.name();
        let run = |words: &[&str]| {
            let mut command = test.command();
            command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            wait(command.spawn().expect("started"), Duration::from_secs(30))
        };
        let deferred = run(&["call", &name, "greet", "--defer", "call.json"]);
        if !way.is_modern() && !way.kept {
            assert_eq!(deferred.status, Some(8), "{name}: {}", deferred.stderr);
            continue;
        }
        assert_eq!(deferred.status, Some(75), "{name}: {}", deferred.stderr);
        assert_eq!(run(&["resume", "call.json"]).status, Some(75), "{name}");
        let resumed = run(&["resume", "call.json", "--answer", "name=Ada"]);
        assert_eq!((resumed.status, resumed.stdout.as_str()), (Some(0), "Hello, Ada!\n"), "{name}: {}", resumed.stderr);
        assert!(!test.folder().join("call.json").exists());
    }
}
