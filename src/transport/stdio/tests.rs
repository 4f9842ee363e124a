use std::{path::PathBuf, time::Duration};

use nix::{errno::Errno, sys::signal::kill, unistd::Pid};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::Stdio;
use crate::{
    protocol::Frame,
    text::with_causes,
    transport::{Closed, Ended, Grace, Incoming, Limits, StdioEndpoint, Transport, TransportError},
};

const GRACE: Grace = Grace::Exactly(Duration::from_millis(200));
const SOON: Duration = Duration::from_secs(10);

fn sh(script: &str) -> StdioEndpoint {
    StdioEndpoint { command: "sh".into(), args: vec!["-c".into(), script.into()], ..StdioEndpoint::default() }
}

fn start(script: &str) -> Box<dyn Transport> {
    Stdio::start(&sh(script), Limits::default()).expect("started")
}

async fn next(transport: &mut Box<dyn Transport>) -> Incoming {
    timeout(SOON, transport.next()).await.expect("soon")
}

async fn closed(transport: &mut Box<dyn Transport>) -> Closed {
    loop {
        if let Incoming::Closed(closed) = next(transport).await {
            return closed;
        }
    }
}

/// The process id that the script writes as a notification's method.
async fn process(transport: &mut Box<dyn Transport>) -> Pid {
    let Incoming::Frame(frame) = next(transport).await else { panic!("a frame") };
    Pid::from_raw(frame.method().and_then(|method| method.parse().ok()).expect("a number"))
}

async fn is_gone(process: Pid) -> bool {
    let until = Instant::now() + SOON;
    while Instant::now() < until {
        // A killed process that nobody waits for stays in the table.
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        if kill(process, None) == Err(Errno::ESRCH) || state.contains(") Z ") {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn frames_go_both_ways_around_junk() {
    let mut server = start("echo Ready; echo; cat");
    server.send(Frame::notification("a", Some(&json!({"text": "ž"}))).into()).expect("sent");
    let Incoming::Junk(junk) = next(&mut server).await else { panic!("junk") };
    assert_eq!(junk.preview, "Ready");
    let Incoming::Frame(frame) = next(&mut server).await else { panic!("a frame") };
    assert_eq!(frame.body(), Some(r#"{"text":"ž"}"#));
    server.close(GRACE).await;
}

#[tokio::test]
async fn an_exit_is_reported_with_its_status_and_last_words() {
    let mut server = start("echo licence missing >&2; exit 3");
    let end = closed(&mut server).await;
    assert_eq!(end.reason, "the server (sh) exited with status 3");
    assert_eq!(end.stderr, ["licence missing"]);
    assert!(matches!(next(&mut server).await, Incoming::Closed(again) if again == end));
    let mut server = start("kill -9 $$");
    assert_eq!(closed(&mut server).await.reason, "the server (sh) was killed by SIGKILL");
}

#[tokio::test]
async fn only_the_last_lines_of_a_flood_are_kept_and_it_never_blocks() {
    let mut server = start("i=0; while [ $i -lt 5000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1");
    let end = closed(&mut server).await;
    assert_eq!((end.stderr.len(), end.stderr.last().map(String::as_str)), (6, Some("line 4999")));
}

#[tokio::test]
async fn the_end_of_the_leader_is_noticed_though_its_child_holds_the_output() {
    let mut server = start("sleep 60 & exit 4");
    assert!(closed(&mut server).await.reason.ends_with("exited with status 4"));
    server.close(GRACE).await;
}

#[tokio::test]
async fn a_request_that_cannot_be_written_fails() {
    let mut server = start("exec <&-; echo '{\"method\":\"deaf\"}'; sleep 60");
    assert!(matches!(next(&mut server).await, Incoming::Frame(_)));
    server.send(Frame::request(&7.into(), "ping", None).into()).expect("queued");
    let Incoming::Failed { id, error: TransportError::Closed(end) } = next(&mut server).await else { panic!("failed") };
    assert_eq!((id, end.reason.as_str()), (7.into(), "the server (sh) closed its input"));
    server.close(GRACE).await;
}

#[tokio::test]
async fn a_line_may_be_100_mb_and_not_more_than_the_limit() {
    let script =
        "printf '{\"method\":\"big\",\"params\":{\"x\":\"'; head -c 100000000 /dev/zero | tr '\\0' x; echo '\"}}'";
    let mut server = start(script);
    let Incoming::Frame(frame) = next(&mut server).await else { panic!("a frame") };
    assert!(frame.bytes().len() > 100_000_000);
    let limits = Limits { max_message: 1000, ..Limits::default() };
    let mut server = Stdio::start(&sh(script), limits).expect("started");
    assert!(closed(&mut server).await.reason.contains("larger than 1000 bytes"));
}

#[test]
fn what_cannot_be_started_is_named() {
    let error =
        |endpoint: &StdioEndpoint| with_causes(&Stdio::start(endpoint, Limits::default()).err().expect("an error"));
    let missing = StdioEndpoint { command: "no-such-server".into(), ..StdioEndpoint::default() };
    assert_eq!(error(&missing), "the program \"no-such-server\" could not be started: no such program on PATH");
    let nowhere = StdioEndpoint { cwd: Some(PathBuf::from("/nowhere/at/all")), ..sh("cat") };
    assert_eq!(
        error(&nowhere),
        "the program \"sh\" could not be started: the directory /nowhere/at/all does not exist"
    );
}

#[tokio::test]
async fn a_closed_input_is_enough_for_a_polite_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("mark");
    let server = start(&format!("cat >/dev/null; echo done > {}", mark.display()));
    server.close(Grace::Exactly(SOON)).await;
    assert_eq!(std::fs::read_to_string(mark).expect("written"), "done\n");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_server_is_waited_for_while_it_does_something_and_one_that_does_nothing_is_known() {
    let busy = "cat >/dev/null; end=$(($(date +%s%N) / 1000000 + 400)); \
                while [ $(($(date +%s%N) / 1000000)) -lt $end ]; do :; done";
    assert_eq!(start(busy).close(Grace::AsNeeded).await, Ended::ByItself);
    assert_eq!(start("exec sleep 300").close(Grace::AsNeeded).await, Ended::WhenTold);
    assert_eq!(start("exec sleep 300").close(Grace::Brief).await, Ended::WhenTold);
    assert_eq!(start("exec sleep 300").close(GRACE).await, Ended::Otherwise);
    assert_eq!(start("exec cat").close(Grace::Exactly(SOON)).await, Ended::ByItself);
    // Neither the end of its input nor SIGTERM ends it.
    let mut deaf = start("trap '' TERM; echo '{\"method\":\"deaf\"}'; while :; do sleep 1; done");
    assert!(matches!(next(&mut deaf).await, Incoming::Frame(_)));
    assert_eq!(deaf.close(Grace::Brief).await, Ended::Otherwise);
}

#[tokio::test]
async fn the_whole_group_ends_with_the_connection() {
    // The real server, behind a launcher, ignores both the end of its input and SIGTERM.
    let stubborn = "sh -c \"trap '' TERM; echo '{\\\"method\\\":\\\"'\\$\\$'\\\"}'; while :; do sleep 1; done\"";
    for script in [format!("{stubborn} & wait"), format!("{stubborn} & sleep 0.1; exit 0"), format!("exec {stubborn}")]
    {
        for closes in [true, false] {
            let mut server = start(&script);
            let process = process(&mut server).await;
            if closes {
                server.close(GRACE).await;
            } else {
                drop(server);
            }
            assert!(is_gone(process).await, "{script}");
        }
    }
}

#[tokio::test]
async fn a_server_that_does_not_read_does_not_hold_up_the_end() {
    let mut server = start("exec sleep 60");
    let big = json!({"x": "x".repeat(1 << 20)});
    server.send(Frame::notification("a", Some(&big)).into()).expect("queued");
    timeout(Duration::from_secs(3), server.close(GRACE)).await.expect("soon");
}

#[tokio::test]
async fn a_server_that_writes_without_end_is_ended_too() {
    let server = start("yes");
    timeout(Duration::from_secs(3), server.close(GRACE)).await.expect("soon");
}
