//! Secrets are only where they belong.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::World;
use crate::harness::{Keepers, Test, until};

const SECRET: &str = "client-s3cret-marker";

/// Every file below `folder`, with its content.
fn files(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, all);
        } else if path.is_file() {
            all.push((path.clone(), String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned()));
        }
    }
}

/// A stdio server that records its environment, its own command line and its parent's, and ends.
const SPY: &str = "#!/bin/sh\nenv > spied-env.$$\ntr '\\0' ' ' < /proc/$$/cmdline > spied-args.$$\n\
    tr '\\0' ' ' < /proc/$PPID/cmdline >> spied-args.$$\ntr '\\0' '\\n' < /proc/$PPID/environ > spied-parent.$$\nexit 1\n";

fn config(world: &World) -> String {
    let oauth = json!({"clientId": "me", "clientSecret": SECRET});
    json!({"mcpServers": {"cal": {"url": world.mcp(), "oauth": oauth}, "spy": {"command": "sh", "args": ["spy"]}}})
        .to_string()
}

fn test(world: &World, words: &[&str]) -> Test {
    world.test(words).config(&config(world)).file("spy", SPY)
}

/// Which of these secrets are in `text`.
fn leaks(world: &World, text: &str) -> Vec<String> {
    let ledger = world.ledger();
    let all = ledger.secrets.iter().map(String::as_str).chain([SECRET]);
    all.filter(|secret| !secret.is_empty() && text.contains(secret)).map(str::to_owned).collect()
}

#[track_caller]
fn is_clean(world: &World, what: &str, text: &str) {
    assert_eq!(leaks(world, text), Vec::<String>::new(), "{what}: {text}");
}

#[test]
fn no_secret_is_in_output_traces_errors_command_lines_or_environments() {
    let world = World::new();
    let mut commands = 0;
    let mut check = |test: Test, visit: bool, status: i32| {
        let folder = test.folder().to_owned();
        let running = world.start_test(test);
        if visit {
            running.visit();
        }
        let (run, _folder) = running.end_with_test(status);
        is_clean(&world, "stdout", &run.stdout);
        is_clean(&world, "stderr", &run.stderr);
        let mut all = Vec::new();
        files(&folder, &mut all);
        for (path, text) in &all {
            if !path.ends_with("mcp.json") {
                is_clean(&world, &path.display().to_string(), text);
            }
        }
        commands += 1;
        all.iter().filter(|(path, _)| path.to_string_lossy().contains("spied")).count()
    };
    let trace = ["--trace", "trace.jsonl", "-v"];
    for output in ["text", "json", "events"] {
        check(test(&world, &["login", "cal", "--again", "-o", output]).args(trace), true, 0);
        check(test(&world, &["call", "cal", "read", "-o", output]).args(trace), false, 0);
        // More scopes are needed, and a token is renewed.
        world.ledger().expire();
        check(test(&world, &["call", "cal", "write", "-o", output]).args(trace), false, 5);
        let spied = check(test(&world, &["tools", "--trust", "-o", output]).args(trace), false, 0);
        assert!(spied >= 3, "the spy was started and wrote down what it saw");
        check(test(&world, &["servers", "--check", "--trust", "-o", output]), false, 4);
        check(test(&world, &["login", "cal", "--status", "-o", output]), false, 0);
        // The authorization server repeats what it was sent.
        world.ledger().expire();
        world.ledger().refusal = Some("invalid_request");
        check(test(&world, &["call", "cal", "read", "-o", output]).args(trace), false, 5);
        world.ledger().refusal = None;
        check(test(&world, &["logout", "cal", "-o", output]), false, 0);
    }
    assert_eq!(commands, 24);
    // All of that really happened.
    let secrets = world.ledger().secrets.clone();
    for kind in ["code-", "access-", "refresh-"] {
        assert!(secrets.iter().filter(|secret| secret.starts_with(kind)).count() >= 3, "{secrets:?}");
    }
    assert!(secrets.iter().any(|secret| secret.len() >= 43), "a verifier: {secrets:?}");
    // The browser got the link, and nothing else.
    let mut all = Vec::new();
    files(world.home(), &mut all);
    assert!(all.iter().any(|(path, _)| path.ends_with("opened.env")));
    for (path, text) in &all {
        is_clean(&world, &path.display().to_string(), text);
    }
}

#[test]
fn what_keeps_a_server_shows_no_secret() {
    let world = World::new();
    world.sign_in_test(test(&world, &["login", "cal"]));
    let up = test(&world, &["call", "cal", "read", "--keep"]);
    let keepers = Keepers::within(up.folder());
    let run = up.env("XDG_RUNTIME_DIR", keepers.path().to_str().expect("a path")).stdout("read is done\n").run();
    let processes = keepers.processes();
    assert!(!processes.is_empty(), "the server is kept");
    for (id, words) in &processes {
        is_clean(&world, "a command line", words);
        let environment = fs::read(format!("/proc/{id}/environ")).expect("readable");
        is_clean(&world, "an environment", &String::from_utf8_lossy(&environment));
    }
    until("the sockets are there", || fs::read_dir(keepers.path()).is_ok_and(|all| all.count() > 0));
    let mut all = Vec::new();
    files(run.folder(), &mut all);
    files(keepers.path(), &mut all);
    for (path, text) in &all {
        if !path.ends_with("mcp.json") {
            is_clean(&world, &path.display().to_string(), text);
        }
    }
}

#[test]
fn a_program_that_prints_a_token_is_told_none() {
    let world = World::new();
    let token = world.ledger().token("read");
    let script = format!("{}cat token\n", SPY.replace("exit 1\n", ""));
    let words = ["call", "URL", "read", "--bearer-command", "sh print", "--trace", "trace.jsonl", "-v"];
    let run = world.test(&words).file("print", script).file("token", &token).stdout("read is done\n").run();
    is_clean(&world, "stderr", &run.stderr);
    let mut all = Vec::new();
    files(run.folder(), &mut all);
    assert!(all.iter().any(|(path, _)| path.to_string_lossy().contains("spied")));
    for (path, text) in &all {
        if !path.ends_with("token") {
            is_clean(&world, &path.display().to_string(), text);
        }
    }
}
