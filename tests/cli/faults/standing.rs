//! Pipes that are full, and time that stops or jumps.

use std::{fs, process::Stdio, thread, time::Duration};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::json;

use super::{LIMIT, left, shell, text};
use crate::harness::{Fake, Run, Step, Test, received, wait};

#[test]
fn a_server_that_reads_nothing_of_a_large_call() {
    // It reads everything up to the list of its tools, and then nothing.
    let script = r#"answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')" "$1"; }
        while read -r line; do case "$line" in
        *'"server/discover"'*) answer '"error":{"code":-32601,"message":"no"}';;
        *'"initialize"'*) answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
        *'"tools/list"'*) answer '"result":{"tools":[{"name":"t","inputSchema":{}}]}'; sleep 60;;
        esac; done"#;
    let test = Test::new().file("large", vec![b'x'; 3_000_000]);
    let mark = test.folder().join("mark").display().to_string();
    let mut entry = shell(script);
    entry["env"] = json!({"FAULT_MARK": mark});
    entry["timeout"] = json!(3000);
    let run = test.entry("s", entry).args(["call", "s", "t", "text=@large", "--no-keep"]).run_any();
    assert_eq!(run.status, Some(7), "{}", run.stderr);
    assert!(run.stderr.contains("did not answer tools/call within 3 s"), "{}", run.stderr);
    assert!(run.took < LIMIT, "{:?}", run.took);
    assert_eq!(left(&mark), [0; 0]);
}

/// Stops the program while its call is in progress, and continues it after `stopped`; the answer arrives meanwhile.
fn stopped_for(stopped: Duration) -> Run {
    let fake = Fake::new().tool("t").on_call([Step::ExpectFile("go".into()), Step::Reply(text("done"))]);
    let test = Test::new().server("s", &fake).args(["call", "s", "t", "--timeout", "4", "--no-keep"]);
    let mut command = test.command();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("the program starts");
    let id = Pid::from_raw(child.id().try_into().expect("a process"));
    while !received(test.folder(), "s").iter().any(|message| message["method"] == "tools/call") {
        thread::sleep(Duration::from_millis(5));
    }
    kill(id, Signal::SIGSTOP).expect("stopped");
    fs::write(test.folder().join("go"), "").expect("written");
    thread::sleep(stopped);
    kill(id, Signal::SIGCONT).expect("it goes on");
    wait(child, LIMIT)
}

#[test]
fn an_answer_that_came_while_the_program_was_stopped_counts() {
    let run = stopped_for(Duration::from_secs(6));
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "done\n"), "{}", run.stderr);
}

/// Memories of a server with wrong times: from a clock that was set back, or far ahead.
#[test]
fn a_clock_that_jumps_costs_a_memory_and_nothing_else() {
    let first = Test::new().server("s", &Fake::new().modern().tool("t")).args(["call", "s", "t", "--no-keep"]).run();
    let folder = first.path("home/.cache/toolnexus/eras");
    let file = fs::read_dir(&folder).expect("a folder").flatten().next().expect("a memory").path();
    let remembered: serde_json::Value = serde_json::from_slice(&fs::read(&file).expect("read")).expect("JSON");
    let asked = |run: &Run| run.received("s").iter().filter(|message| message["method"] == "server/discover").count();
    assert_eq!(asked(&first), 1);
    let mut times = 1;
    for at in [json!(0), json!(4_102_444_800_u64), json!(u64::MAX), json!(-1), json!("now")] {
        let mut jumped = remembered.clone();
        jumped["at"] = at.clone();
        fs::write(&file, jumped.to_string()).expect("written");
        assert_eq!(first.command_again(&["call", "s", "t", "--no-keep"]), "done\n", "{at}");
        times += 1;
        assert_eq!(asked(&first), times, "{at}");
    }
    assert_eq!(first.command_again(&["call", "s", "t", "--no-keep"]), "done\n");
    assert_eq!(asked(&first), times, "what is remembered is of now");
}
