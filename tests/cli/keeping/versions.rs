//! Keepers and commands of different versions of the program.

use std::{
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    thread,
    time::Duration,
};

use super::faults::pid;
use crate::harness::{Fake, Kept, Step, Test, until, wait};

/// A first message, as keepers and commands write it.
fn hello(words: &str) -> Vec<u8> {
    let mut frame = u32::try_from(words.len()).expect("short").to_le_bytes().to_vec();
    frame.extend([0; 8]);
    frame.extend(words.as_bytes());
    frame
}

/// A command of another version, and the answer that it gets.
fn another_command(kept: &Kept) -> String {
    let mut stream = UnixStream::connect(kept.socket().expect("a socket")).expect("connected");
    stream.write_all(&hello(r#"{"Hello":{"program":"toolnexus 99","mood":"good"}}"#)).expect("written");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("read");
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_keeper_of_another_version_ends_when_nobody_uses_it_and_is_replaced() {
    let kept = Kept::new(Test::new().server("s", &Fake::new().tool("t")));
    kept.run(0, &["up", "s"]);
    let before = pid(&kept, "s");
    assert!(another_command(&kept).contains("toolnexus "), "it says who it is");
    until("nothing is left", || kept.keepers.processes().is_empty());
    kept.run(0, &["call", "s", "t", "--keep"]);
    assert_ne!(pid(&kept, "s"), before);
}

#[test]
fn a_keeper_of_another_version_finishes_what_it_does() {
    let server = Fake::new().tool("t").on_call([
        Step::ExpectFile("go".into()),
        Step::Reply(serde_json::json!({"content": [{"type": "text", "text": "finished"}]})),
    ]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["up", "s"]);
    let child = kept.start(&["call", "s", "t"]);
    until("the call is there", || kept.count("s", "tools/call") == 1);
    another_command(&kept);
    until("it is told", || kept.standing("s").is_some_and(|standing| standing["draining"] == true));
    std::fs::write(kept.folder().join("go"), "").expect("written");
    let run = wait(child, Duration::from_secs(20));
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "finished\n"), "{}", run.stderr);
    until("nothing is left", || kept.keepers.processes().is_empty());
}

#[test]
fn a_command_of_another_version_has_a_keeper_of_its_own() {
    let kept = Kept::new(Test::new().server("s", &Fake::new().tool("t")));
    kept.run(0, &["up", "s"]);
    let socket = kept.socket().expect("a socket");
    kept.run(0, &["down", "s"]);
    let old = UnixListener::bind(&socket).expect("bound");
    thread::spawn(move || {
        while let Ok((mut stream, _)) = old.accept() {
            let _ = stream.write_all(&hello(r#"{"Hello":{"program":"toolnexus 0.0.1 keeper 1"}}"#));
        }
    });
    let run = kept.run(0, &["call", "s", "t"]);
    assert_eq!(run.stdout, "done\n");
    assert!(run.stderr.contains("another version of toolnexus keeps it"), "{}", run.stderr);
    assert_eq!(kept.run(0, &["call", "s", "t"]).stderr, "");
    assert_eq!(kept.standing("s").expect("it is up")["calls"], 2);
}
