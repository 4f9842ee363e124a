//! Servers with state, kept between commands.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    thread,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use super::{
    harness::{Kept, Test, until},
    peer,
};

fn node(name: &str, script: &str, args: &[&str]) -> Test {
    let script = peer(&format!("node_modules/{script}"));
    let args: Vec<Value> = [json!(script)].into_iter().chain(args.iter().map(|arg| json!(arg))).collect();
    let entry = json!({"command": "node", "args": args, "keep": true, "timeout": 60_000});
    Test::new().entry(name, entry).env("PATH", &std::env::var("PATH").expect("PATH"))
}

fn everything() -> Kept {
    Kept::new(node("everything", "@modelcontextprotocol/server-everything/dist/index.js", &["stdio"]))
}

#[test]
fn everything_remembers_what_was_switched_on() {
    let kept = everything();
    let toggle = || kept.run(0, &["call", "everything", "toggle-simulated-logging"]).stdout;
    assert!(toggle().starts_with("Started "));
    assert!(toggle().starts_with("Stopped "));
    assert!(
        kept.run(0, &["call", "everything", "toggle-simulated-logging", "--no-keep"]).stdout.starts_with("Started ")
    );
    assert!(toggle().starts_with("Started "));
    assert_eq!(kept.standing("everything").expect("it is up")["calls"], 3);
}

#[test]
fn everything_has_the_resource_that_an_earlier_command_made() {
    let kept = everything();
    let data = "data=data:text/plain;base64,aGVsbG8=";
    let made =
        kept.run(0, &["call", "everything", "gzip-file-as-resource", "name=hello.gz", data, "-o", "json"]).json();
    let uri = made["content"][0]["uri"].as_str().expect("a link").to_owned();
    let read = kept.run(0, &["read", "everything", &uri, "-o", "json"]).json();
    assert!(read["contents"][0]["blob"].as_str().is_some_and(|blob| blob.starts_with("H4sI")), "{read}");
    assert_ne!(kept.any(&["read", "everything", &uri, "--no-keep"]).status, Some(0));
}

#[test]
fn everything_says_when_a_resource_that_is_watched_has_changed() {
    let kept = everything();
    // From now on it says every 5 s that what is subscribed to has changed; each reading has its time.
    assert!(kept.run(0, &["call", "everything", "toggle-subscriber-updates"]).stdout.starts_with("Started "));
    let mut watching = kept.start(&["read", "everything", "demo://resource/dynamic/text/1", "--watch"]);
    let lines = BufReader::new(watching.stdout.take().expect("stdout")).lines();
    let read: Vec<String> = lines.take(3).map(|line| line.expect("text")).collect();
    assert!(read.iter().all(|line| line.starts_with("Resource 1: This is a plaintext resource")), "{read:?}");
    assert!(read[0] != read[1] && read[1] != read[2], "{read:?}");
    kill(Pid::from_raw(i32::try_from(watching.id()).expect("a process")), Signal::SIGINT).expect("it runs");
    assert_eq!(watching.wait().expect("it ends").code(), Some(130));
    assert!(kept.standing("everything").is_some());
}

#[test]
fn everything_asks_several_commands_at_once_for_their_own_names() {
    let kept = everything();
    kept.run(0, &["up", "everything"]);
    let call = |name: &str| {
        let answer = format!("name={name}");
        kept.start(&["call", "everything", "trigger-elicitation-request", "--answer", &answer])
    };
    let children = ["Ada", "Bob", "Cleo", "Dan"].map(|name| (name, call(name)));
    for (name, child) in children {
        let run = super::harness::wait(child, std::time::Duration::from_secs(60));
        assert!(
            run.status == Some(0) && run.stdout.contains(&format!("- Name: {name}")),
            "{}{}",
            run.stdout,
            run.stderr
        );
    }
}

#[test]
fn memory_knows_what_an_earlier_command_told_it() {
    let test = node("memory", "@modelcontextprotocol/server-memory/dist/index.js", &[]);
    let mut entry =
        json!({"command": "node", "keep": true, "env": {"MEMORY_FILE_PATH": test.folder().join("memory.jsonl")}});
    entry["args"] = json!([peer("node_modules/@modelcontextprotocol/server-memory/dist/index.js")]);
    let kept = Kept::new(test.entry("memory", entry));
    let told =
        r#"{"entities": [{"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}]}"#;
    kept.run(0, &["call", "memory", "create_entities", "--args", told]);
    kept.run(
        0,
        &[
            "call",
            "memory",
            "add_observations",
            "--args",
            r#"{"observations": [{"entityName": "Ada", "contents": ["knew Babbage"]}]}"#,
        ],
    );
    let found = kept.run(0, &["call", "memory", "search_nodes", "query=Babbage", "-o", "json"]).json();
    let observations = &found["structuredContent"]["entities"][0]["observations"];
    assert_eq!(observations, &json!(["wrote the first program", "knew Babbage"]));
    assert_eq!(kept.standing("memory").expect("it is up")["calls"], 3);
}

/// Serves one page, at the address that is returned.
fn page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        let page = "<!doctype html><title>Greeting</title><label>Name <input id=name></label>\
            <button onclick=\"document.querySelector('h1').textContent='Hello, '+document.querySelector('#name').value+'!'\">\
            Greet</button><h1></h1>";
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut lines = BufReader::new(&stream).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
                let _ = write!(&stream, "{head}Content-Length: {}\r\n\r\n{page}", page.len());
            });
        }
    });
    url
}

const CHROMIUM: &str = "/usr/bin/chromium";

/// `@playwright/mcp` with the system's browser; `None`, with a message, if there is none.
fn browser() -> Option<Kept> {
    if !Path::new(CHROMIUM).exists() {
        eprintln!("\n\n    SKIPPED: {CHROMIUM} is not there, and no browser was tried\n\n");
        return None;
    }
    let args = ["--headless", "--isolated", "--no-sandbox", "--executable-path", CHROMIUM];
    Some(Kept::new(node("browser", "@playwright/mcp/cli.js", &args)))
}

#[test]
fn a_browser_is_led_through_a_page_by_four_commands() {
    let Some(kept) = browser() else { return };
    kept.run(0, &["call", "browser", "browser_navigate", &format!("url={}", page())]);
    kept.run(0, &["call", "browser", "browser_type", "target=#name", "text=Ada"]);
    kept.run(0, &["call", "browser", "browser_click", "target=button"]);
    let run = kept.run(0, &["call", "browser", "browser_snapshot"]);
    assert!(run.stdout.contains(r#"heading "Hello, Ada!""#), "{}", run.stdout);
    assert_eq!(kept.standing("browser").expect("it is up")["calls"], 4);
    kept.run(0, &["down", "browser"]);
    until("no browser is left", || kept.keepers.processes().is_empty());
}

#[test]
fn a_browser_does_not_outlive_its_killed_keeper() {
    let Some(kept) = browser() else { return };
    kept.run(0, &["call", "browser", "browser_navigate", &format!("url={}", page())]);
    let pid = kept.standing("browser").expect("it is up")["pid"].as_i64().expect("a process");
    assert!(kept.keepers.processes().iter().any(|(_, words)| words.contains("chromium")));
    kill(Pid::from_raw(pid.try_into().expect("a process")), Signal::SIGKILL).expect("killed");
    until("no browser is left", || kept.keepers.processes().is_empty());
    let run = kept.run(0, &["call", "browser", "browser_snapshot"]);
    assert!(run.stderr.contains("what it had in memory is lost"), "{}", run.stderr);
    assert!(!run.stdout.contains("Greet"), "{}", run.stdout);
}
