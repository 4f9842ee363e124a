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
    // A zombie is not running.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// A server with a launcher, and with a child process that would run for long; the child's id is in the file `child`.
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

#[test]
#[cfg(target_os = "linux")]
fn what_left_the_servers_group_ends_with_it_too() {
    let test = Test::new();
    let mut entry = Fake::new().tool("t").entry(test.folder(), "s");
    let inner = entry["args"][1].as_str().expect("a command").to_owned();
    // One process that leads its own session, and a daemon whose parent is gone, which starts another.
    let leave = "setsid sleep 300 & echo $! > left; (setsid sh -c 'sleep 301 & echo $! > grandchild; wait' &); ";
    entry["args"][1] = json!(format!("{leave} until [ -s grandchild ]; do sleep 0.01; done; {inner}"));
    let run = test.entry("s", entry).args(["call", "s", "t"]).stdout("done\n").run();
    for name in ["left", "grandchild"] {
        let pid = pid(&run.path(name));
        until("what left the group ends", || !is_running(pid));
    }
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
    test.stderr_contains("s: the server did not answer within 1.5 s\nhint: is it an MCP server?").run();
}

#[test]
fn a_signal_is_heard_in_a_flood_of_lines() {
    let test = Test::new().entry("s", json!({"command": "yes"})).args(["call", "s", "t"]);
    let mut program = test.command().stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut stderr = BufReader::new(program.stderr.take().expect("a pipe"));
    let mut warning = String::new();
    stderr.read_line(&mut warning).expect("text");
    assert!(warning.contains("not a message"), "{warning}");
    let start = Instant::now();
    kill(id(&program), Signal::SIGTERM).expect("the program is there");
    assert_eq!(wait(program, LONG).status, Some(143));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn the_result_is_printed_before_the_server_is_ended() {
    // The server keeps running for two seconds after its stdin was closed.
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

/// Starts `script` in a shell, in which `$0 "$@"` is the program with the arguments of `test`.
fn in_shell(test: &Test, script: &str) -> Child {
    let command = test.command();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(test.folder());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the shell starts")
}

fn is_called(test: &Test) -> bool {
    received(test.folder(), "s").iter().any(|message| message["method"] == "tools/call")
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    for (name, signal) in [("INT", Signal::SIGINT), ("HUP", Signal::SIGHUP), ("TERM", Signal::SIGTERM)] {
        let fake = Fake::new().tool("t").on_call([Step::ExpectFile("finish".into()), Step::Reply(done())]);
        let test = Test::new().server("s", &fake).args(["call", "s", "t"]);
        let program = in_shell(&test, &format!(r#"trap "" {name}; exec "$0" "$@""#));
        until("the call is made", || is_called(&test));
        kill(id(&program), signal).expect("the program is there");
        fs::write(test.folder().join("finish"), "").expect("written");
        let run = wait(program, LONG);
        assert_eq!((run.status, run.stdout.as_str()), (Some(0), "done\n"), "{name}: {}", run.stderr);
    }
}

#[test]
fn a_signal_ends_a_program_whose_output_nobody_reads() {
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let large = json!({"content": [{"type": "text", "text": "x".repeat(4 << 20)}]});
        let (test, child) = launcher(Test::new().args(["call", "s", "t"]), &Fake::new().tool("t").result(large));
        let mut program =
            test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
        let mut stdout = program.stdout.take().expect("a pipe");
        // The first byte is there, so the rest fills the pipe.
        stdout.read_exact(&mut [0]).expect("some output");
        kill(id(&program), signal).expect("the program is there");
        until("the program ends", || program.try_wait().expect("ours").is_some());
        assert_eq!(program.wait().expect("ours").code(), Some(status));
        until("the server's child ends", || !is_running(pid(&child)));
    }
}

#[test]
fn a_second_signal_ends_the_program_and_everything_it_started_immediately() {
    // The server ignores requests to end, and its grace period is long.
    let (test, child) = launcher(Test::new().args(["call", "s", "t"]), &silent());
    let config: Value = serde_json::from_slice(&fs::read(test.folder().join("mcp.json")).expect("read")).expect("JSON");
    let mut entry = config["mcpServers"]["s"].clone();
    entry["shutdownGrace"] = json!(60);
    let script = entry["args"][1].as_str().expect("a command");
    entry["args"][1] = json!(format!("trap '' TERM; {script}; sleep 300"));
    let test = test.entry("s", entry);
    let mut program =
        test.command().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    until("the call is made", || is_called(&test));
    kill(id(&program), Signal::SIGTERM).expect("the program is there");
    thread::sleep(Duration::from_millis(200));
    assert!(program.try_wait().expect("ours").is_none(), "the server is given its grace");
    kill(id(&program), Signal::SIGTERM).expect("the program is there");
    let start = Instant::now();
    until("the program ends", || program.try_wait().expect("ours").is_some());
    assert!(start.elapsed() < Duration::from_secs(5) && program.wait().expect("ours").code() == Some(143));
    until("the server's child ends", || !is_running(pid(&child)));
}

#[test]
fn an_interrupted_listing_prints_what_is_there_and_says_so() {
    let silent = Fake::new().on("tools/list", [Step::ExpectEnd]);
    let test = Test::new().server("a", &Fake::new().tool("t")).server("s", &silent).args(["tools", "--trust"]);
    let program = in_shell(&test, r#"exec "$0" "$@""#);
    until("the list is asked for", || {
        received(test.folder(), "s").iter().any(|message| message["method"] == "tools/list")
    });
    until("the other list too", || {
        received(test.folder(), "a").iter().any(|message| message["method"] == "tools/list")
    });
    kill(id(&program), Signal::SIGINT).expect("the program is there");
    let run = wait(program, LONG);
    assert_eq!(run.status, Some(130), "{}", run.stderr);
    assert!(run.stdout.contains('t'), "{}", run.stdout);
}

#[test]
fn a_server_that_speaks_another_protocol_is_reported_immediately() {
    let wide: String = "{\"jsonrpc\":\"2.0\"}".chars().flat_map(|c| [c, '\0']).collect();
    for (line, words) in [
        ("Content-Length: 77\r".to_owned(), "writes Content-Length frames, as language servers do"),
        (wide, "does not write UTF-8: it looks like UTF-16"),
    ] {
        let fake = Fake::new().on("start", [Step::Raw(line), Step::ExpectEnd]);
        let run = Test::new().server("s", &fake).args(["tools", "s"]).status(4).stderr_contains(words).run();
        assert!(run.took.as_secs() < 5, "{:?}", run.took);
    }
}

#[test]
fn a_handshake_that_the_first_question_has_spoiled_is_made_again_without_it() {
    let spoiled = Step::Fail(json!({"code": -32600, "message": "this session has failed"}));
    // When it is started again, the program reads its script from the beginning: it must not be probed first.
    let fake = Fake::new().tool("t").on("initialize", [spoiled]);
    let run = Test::new().server("s", &fake).args(["call", "s", "t"]).status(6).run();
    let received = run.received("s");
    let methods: Vec<&str> = received.iter().filter_map(|message| message["method"].as_str()).collect();
    assert_eq!(methods, ["server/discover", "initialize", "initialize"], "the second start is not asked first");
    assert!(run.stderr.contains("-32600"), "{}", run.stderr);
}

#[test]
fn whatever_a_spoiled_program_says_it_is_started_again_without_the_question() {
    // The first start is asked `server/discover`, and from then on refuses everything; the second one is not asked.
    let script = r#"import json, sys
spoiled = False
for line in sys.stdin:
    message = json.loads(line)
    method, answer = message.get("method"), {"content": [{"type": "text", "text": "done"}]}
    spoiled = spoiled or method == "server/discover"
    if "id" not in message: continue
    if method == "initialize": answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
    if method == "tools/list": answer = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    body = {"error": {"code": CODE, "message": "WORDS"}} if spoiled else {"result": answer}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
"#;
    for (code, words) in [("-32602", "Invalid request parameters"), ("-32601", "Method not found"), ("-32002", "x")] {
        let script = script.replace("CODE", code).replace("WORDS", words);
        let entry = json!({"command": "python3", "args": ["-c", script]});
        Test::new().entry("s", entry).args(["call", "s", "t"]).stdout("done\n").stderr("").run();
    }
}

#[test]
fn modern_servers_are_asked_for_their_warnings() {
    let log = json!({"method": "notifications/message", "params": {"level": "warning", "data": "disk is nearly full"}});
    let done = Step::Reply(json!({"content": [], "resultType": "complete"}));
    let fake = Fake::new().modern().tool("t").on_call([Step::Send(log), done]);
    let run = Test::new().server("s", &fake).args(["call", "s", "t"]).stderr_contains("disk is nearly full").run();
    let meta = run.params("s", "tools/call", 0)["_meta"].clone();
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "warning");
}
