//! Starting and ending: signals, process groups, streams that are closed early.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use super::harness::{Fake, Run, Step, Test, received, wait};

const LONG: Duration = Duration::from_secs(20);

/// Waits until `ready` is true.
fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < LONG, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_running(pid: i32) -> bool {
    // A zombie that nobody has reaped yet does not run.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// A server in a launcher's place, with a child of its own that would run for long; the child's id stands in `child`.
fn launcher(test: Test, server: &Fake) -> (Test, PathBuf) {
    let mut entry = server.entry(test.folder(), "s");
    let child = test.folder().join("child");
    let inner = entry["args"][1].as_str().expect("a command").replace("exec ", "");
    entry["args"][1] = json!(format!("sleep 300 & echo $! > '{}'; {inner}; wait", child.display()));
    (test.entry("s", entry), child)
}

fn pid(path: &Path) -> i32 {
    fs::read_to_string(path).expect("a file").trim().parse().expect("a process id")
}

fn silent() -> Fake {
    Fake::new().tool("t").on_call([Step::ExpectEnd])
}

fn done() -> Value {
    json!({"content": [{"type": "text", "text": "done"}]})
}

#[test]
fn a_launchers_children_end_with_the_call() {
    let (test, child) = launcher(Test::new(), &Fake::new().tool("t"));
    let run = test.args(["call", "s", "t"]).stdout("done\n").run();
    let pid = pid(&run.path(child.file_name().and_then(|name| name.to_str()).expect("a name")));
    until("the child ends", || !is_running(pid));
}

/// Starts a call that the server never answers, sends `signal` to the program, and waits for the end.
fn ended_by(signal: Signal) -> (Run, i32, Vec<Value>) {
    let (test, child) = launcher(Test::new().args(["call", "s", "t"]), &silent());
    let program = test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let program = program.expect("the program starts");
    let folder = test.folder();
    until("the call is made", || received(folder, "s").iter().any(|message| message["method"] == "tools/call"));
    kill(id(&program), signal).expect("the program is there");
    let run = wait(program, LONG);
    let messages = received(folder, "s");
    (run, pid(&child), messages)
}

fn id(program: &Child) -> Pid {
    Pid::from_raw(i32::try_from(program.id()).expect("a process id"))
}

#[test]
fn signals_end_the_call_and_the_whole_group() {
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let (run, child, messages) = ended_by(signal);
        assert_eq!(run.status, Some(status), "{}", run.stderr);
        assert!(run.took < Duration::from_secs(5));
        until("the child ends", || !is_running(child));
        let called = messages.iter().find(|message| message["method"] == "tools/call").expect("a call");
        let cancelled = messages.iter().find(|message| message["method"] == "notifications/cancelled");
        assert_eq!(cancelled.expect("it is told")["params"]["requestId"], called["id"]);
    }
}

#[test]
fn a_signal_ends_a_server_that_does_not_start() {
    let test = Test::new().entry("s", json!({"command": "sleep", "args": ["300"]})).args(["call", "s", "t"]);
    let program = test.command().stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    until("the server is started", || {
        let children = format!("/proc/{0}/task/{0}/children", program.id());
        fs::read_to_string(children).is_ok_and(|text| !text.trim().is_empty())
    });
    kill(id(&program), Signal::SIGINT).expect("the program is there");
    assert_eq!(wait(program, LONG).status, Some(130));
}

#[test]
fn a_program_that_says_nothing_is_given_up_with_advice() {
    let entry = json!({"command": "sleep", "args": ["300"], "timeout": 1500});
    let test = Test::new().entry("s", entry).args(["call", "s", "t"]).status(7).stdout("");
    test.stderr_contains("s did not begin to talk within 1.5 s\nhint: is it an MCP server?").run();
}

#[test]
fn a_signal_is_heard_in_a_flood_of_lines() {
    let test = Test::new().entry("s", json!({"command": "yes"})).args(["call", "s", "t"]);
    let mut program = test.command().stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut stderr = BufReader::new(program.stderr.take().expect("a pipe"));
    let mut warning = String::new();
    stderr.read_line(&mut warning).expect("text");
    assert!(warning.contains("no message"), "{warning}");
    let start = Instant::now();
    kill(id(&program), Signal::SIGTERM).expect("the program is there");
    assert_eq!(wait(program, LONG).status, Some(143));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn the_result_is_printed_before_the_server_is_ended() {
    // The server stays for two seconds after its stdin was closed.
    let server = Fake::new().tool("t").on_call([Step::Reply(done()), Step::ExpectEnd, Step::Pause(2_000)]);
    let test = Test::new();
    let mut entry = server.entry(test.folder(), "s");
    entry["shutdownGrace"] = json!(5_000);
    let test = test.entry("s", entry).args(["call", "s", "t"]);
    let mut program = test.command().stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut line = String::new();
    BufReader::new(program.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
    assert_eq!(line, "done\n");
    assert!(program.try_wait().expect("ours").is_none(), "the server is still ending");
    assert_eq!(wait(program, LONG).status, Some(0));
}

#[test]
fn a_stubborn_server_is_ended_all_the_same() {
    let test = Test::new();
    let mut entry = Fake::new().tool("t").on_call([Step::Reply(done()), Step::ExpectEnd, Step::Pause(60_000)]);
    entry = entry.on("start", []);
    let mut entry = entry.entry(test.folder(), "s");
    let inner = entry["args"][1].as_str().expect("a command").to_owned();
    entry["args"][1] = json!(format!("trap '' TERM; {inner}"));
    let run = test.entry("s", entry).args(["call", "s", "t"]).stdout("done\n").run();
    assert!(run.took < Duration::from_secs(10), "{:?}", run.took);
}

#[test]
fn a_stdout_that_is_closed_early_ends_quietly() {
    let server = Fake::new().tool("t").on_call([Step::ReplyBytes(2_000_000)]);
    let test = Test::new().server("s", &server).args(["call", "s", "t"]);
    let mut program = test
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut first = [0; 10];
    let mut stdout = program.stdout.take().expect("stdout");
    stdout.read_exact(&mut first).expect("ten bytes");
    drop(stdout);
    let run = wait(program, LONG);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
}
