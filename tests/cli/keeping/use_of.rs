use serde_json::{Value, json};

use crate::harness::{Fake, Kept, Step, Test, until, wait};

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A server whose first call is answered with `first`, and every other one with `later`.
fn counting() -> Fake {
    Fake::new().tool("t").result(text("first")).result(text("later"))
}

#[test]
fn what_a_server_remembers_is_there_for_the_next_command() {
    let kept = Kept::new(Test::new().server("s", &counting()));
    assert_eq!(kept.run(0, &["call", "s", "t"]).stdout, "first\n");
    assert_eq!(kept.run(0, &["call", "s", "t"]).stdout, "first\n");
    assert!(kept.run(0, &["up", "s"]).stdout.starts_with("s  up "));
    assert_eq!(kept.run(0, &["call", "s", "t"]).stdout, "first\n");
    assert_eq!(kept.run(0, &["call", "s", "t"]).stdout, "later\n");
    assert_eq!(kept.run(0, &["call", "s", "t", "--no-keep"]).stdout, "first\n");
    kept.run(0, &["tools", "s"]);
    let standing = kept.standing("s").expect("it is up");
    assert_eq!(
        (&standing["calls"], &standing["keep"], &standing["revision"]),
        (&json!(2), &json!(900), &json!("2025-11-25"))
    );
    assert!(kept.run(0, &["servers"]).stdout.contains("2 calls, pid "));
    assert_eq!(kept.run(0, &["down", "s"]).stdout, "s  down\n");
    assert!(kept.keepers.processes().is_empty(), "{:?}", kept.keepers.processes());
    assert_eq!((kept.standing("s"), kept.socket()), (None, None));
    assert_eq!(kept.run(0, &["call", "s", "t"]).stdout, "first\n");
    assert!(kept.run(2, &["down", "s"]).stderr.contains("s is not up"));
}

#[test]
fn a_call_keeps_its_server_by_option_and_by_entry() {
    let test = Test::new();
    let mut entry = counting().entry(test.folder(), "b");
    entry["keep"] = json!("2m");
    let kept = Kept::new(test.server("a", &counting()).entry("b", entry));
    kept.run(0, &["call", "a", "t", "--keep=90s"]);
    kept.run(0, &["call", "b", "t"]);
    assert_eq!(kept.standing("a").expect("it is up")["keep"], 90);
    assert_eq!(kept.standing("b").expect("it is up")["keep"], 120);
    assert_eq!(kept.run(0, &["call", "a", "t"]).stdout, "later\n");
    kept.run(2, &["call", "a", "t", "--keep=soon"]);
    kept.run(0, &["down", "--all"]);
    assert!(kept.keepers.processes().is_empty());
}

#[test]
fn an_idle_server_ends_by_itself() {
    let kept = Kept::new(Test::new().server("s", &counting()));
    kept.run(0, &["call", "s", "t", "--keep=1s"]);
    until("nothing is left", || kept.keepers.processes().is_empty());
    assert_eq!(kept.socket(), None);
}

#[test]
fn ad_hoc_servers_are_kept_too() {
    let kept = Kept::new(Test::new());
    let program = env!("CARGO_BIN_EXE_toolnexus");
    let call = |answer| kept.run(0, &["call", "greet", "--keep", "--answer", answer, "--", program, "demo-server"]);
    assert_eq!(call("name=Ada").stdout, "Hello, Ada!\n");
    assert_eq!(call("name=Bob").stdout, "Hello, Bob!\n");
    assert_eq!(kept.keepers.processes().iter().filter(|(_, words)| words.ends_with(" demo-server ")).count(), 1);
}

#[test]
fn another_configuration_meets_no_old_process() {
    let test = Test::new();
    let entry = counting().entry(test.folder(), "s");
    let mut changed = entry.clone();
    changed["env"]["OTHER"] = json!("1");
    let kept = Kept::new(test.entry("s", entry));
    kept.run(0, &["call", "s", "t", "--keep"]);
    std::fs::write(kept.folder().join("mcp.json"), json!({"mcpServers": {"s": changed}}).to_string()).expect("written");
    assert_eq!(kept.run(0, &["call", "s", "t"]).stdout, "first\n");
    assert!(kept.run(0, &["servers"]).stdout.contains("as it was configured before or elsewhere"));
    assert_eq!(kept.run(0, &["call", "s", "t", "--env", "X=1"]).stdout, "first\n");
    kept.run(0, &["down", "s"]);
    assert!(kept.keepers.processes().is_empty());
}

#[test]
fn simultaneous_commands_have_their_own_questions() {
    let kept = Kept::new(Test::new().demo());
    kept.run(0, &["up", "forms"]);
    let names: Vec<String> = (0..16).map(|number| format!("Ada{number}")).collect();
    let children: Vec<_> =
        names.iter().map(|name| kept.start(&["call", "forms", "greet", "--answer", &format!("name={name}")])).collect();
    for (child, name) in children.into_iter().zip(&names) {
        let run = wait(child, std::time::Duration::from_secs(60));
        assert_eq!((run.status, run.stdout), (Some(0), format!("Hello, {name}!\n")), "{}", run.stderr);
    }
    assert!(kept.run(8, &["call", "forms", "greet"]).stderr.contains("name    required, text"));
    assert_eq!(kept.standing("forms").expect("it is up")["calls"], 17);
}

#[test]
fn progress_logs_and_traces_go_to_the_command() {
    let server = Fake::new().tool("t").on_call([
        Step::Stderr("words on stderr".into()),
        Step::Send(json!({"method": "notifications/progress", "params": {"progressToken": "$token", "progress": 1}})),
        Step::Send(json!({"method": "notifications/message", "params": {"level": "error", "data": "a log line"}})),
        Step::Reply(text("done")),
    ]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["up", "s"]);
    let run = kept.run(0, &["call", "s", "t", "-o", "events", "--trace", "trace"]);
    let kinds: Vec<Value> = run.events().iter().map(|event| event["event"].clone()).collect();
    assert!(kinds.contains(&json!("progress")) && kinds.contains(&json!("log")), "{kinds:?}");
    let trace = std::fs::read_to_string(kept.folder().join("trace")).expect("a trace");
    assert!(trace.lines().any(|line| line.contains(r#""sent":"#) && line.contains("tools/call")), "{trace}");
    until("the log has the line", || kept.run(0, &["logs", "s"]).stdout.contains("words on stderr"));
}

#[test]
fn tools_are_listed_again_where_one_is_missing() {
    let listed = |name: &str| Step::Reply(json!({"tools": [{"name": name, "inputSchema": {"type": "object"}}]}));
    let server = Fake::new().on("tools/list", [listed("t")]).on("tools/list", [listed("u")]);
    let kept = Kept::new(Test::new().server("s", &server));
    kept.run(0, &["up", "s"]);
    kept.run(0, &["call", "s", "t"]);
    kept.run(0, &["call", "s", "t"]);
    assert_eq!(kept.count("s", "tools/list"), 1);
    kept.run(0, &["call", "s", "u"]);
    assert_eq!(kept.count("s", "tools/list"), 2);
}

#[test]
fn simultaneous_commands_have_their_own_questions_even_if_nothing_says_whose_they_are() {
    let entry = json!({"command": "toolnexus", "args": ["demo-server"], "protocol": "2025-11-25"});
    let kept = Kept::new(Test::new().entry("forms", entry));
    kept.run(0, &["up", "forms"]);
    let names: Vec<String> = (0..16).map(|number| format!("Ada{number}")).collect();
    let children: Vec<_> =
        names.iter().map(|name| kept.start(&["call", "forms", "greet", "--answer", &format!("name={name}")])).collect();
    for (child, name) in children.into_iter().zip(&names) {
        let run = wait(child, std::time::Duration::from_secs(60));
        assert_eq!((run.status, run.stdout), (Some(0), format!("Hello, {name}!\n")), "{}", run.stderr);
    }
}
