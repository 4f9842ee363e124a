//! The library as other programs use it: a host, its servers, and who answers them.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use demo_over_http::{SseDemo, StreamableDemo};
use toolnexus::{
    prelude::*,
    protocol::{Era, ProtocolChoice},
};

mod demo_over_http;
#[allow(dead_code, reason = "the program's own tests use the rest")]
#[path = "../cli/http/server.rs"]
mod web_server;

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolnexus");

fn demo() -> Value {
    json!({"mcpServers": {"forms": {"command": PROGRAM, "args": ["demo-server"]}}})
}

fn ada() -> WaitFor {
    wait_for(async |request: Request| Answer::accept(&request.id, Some(json!({"name": "Ada"}))))
}

async fn greet(host: &Host) -> String {
    let client = host.connect("forms").await.expect("connected");
    client.tool("greet", json!({})).await.expect("a result").text()
}

#[tokio::test]
async fn questions_of_every_transport_and_era_are_answered() {
    let (streamable, sse) = (StreamableDemo::start(), SseDemo::start());
    let all = [("2025-06-18", Era::Legacy), ("2025-11-25", Era::Legacy), ("2026-07-28", Era::Modern)];
    let ways = [
        (demo(), &all[..]),
        (json!({"mcpServers": {"forms": {"url": streamable.url}}}), &all[..]),
        // No modern revision has this transport.
        (json!({"mcpServers": {"forms": {"type": "sse", "url": sse.url()}}}), &all[..2]),
    ];
    for (servers, revisions) in ways {
        for &(revision, era) in revisions {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&seen);
            let resolver = wait_for_question(move |question| {
                heard.lock().expect("unpoisoned").push(question.origin.clone());
                async move { Answer::accept(&question.request.id, Some(json!({"name": "Ada"}))) }
            });
            let mut options = HostOptions::answered_by(resolver);
            options.protocol = ProtocolChoice::parse(revision);
            let host = Host::with_options(servers.clone(), options).expect("a host");
            assert!(greet(&host).await.starts_with("Hello, Ada!"), "{servers} {revision}");
            let seen = seen.lock().expect("unpoisoned").clone();
            assert_eq!(seen.len(), 1, "{servers} {revision}");
            assert_eq!((seen[0].server.as_str(), seen[0].era), ("forms", era));
            assert_eq!(seen[0].call.as_ref().map(toolnexus::elicitation::CallName::as_str), Some("greet"));
            host.disconnect_all().await;
        }
    }
}

#[tokio::test]
async fn a_server_is_connected_to_once() {
    let host = Host::from_config(demo(), Some(ada())).expect("a host");
    assert_eq!(host.statuses()[0].state, ServerState::Idle);
    let (first, second) = tokio::join!(host.connect("forms"), host.connect("forms"));
    let (first, second) = (first.expect("connected"), second.expect("connected"));
    assert!(Arc::ptr_eq(&first, &second));
    assert!(matches!(host.statuses()[0].state, ServerState::Connected(_)));
    assert!(greet(&host).await.starts_with("Hello, Ada!"));
    host.disconnect_all().await;
    assert_eq!(host.statuses()[0].state, ServerState::Idle);
    assert!(greet(&host).await.starts_with("Hello, Ada!"), "it is connected to again");
    host.disconnect_all().await;
}

#[tokio::test]
async fn every_server_says_how_it_stands() {
    let mut servers = demo();
    servers["mcpServers"]["off"] = json!({"command": PROGRAM, "args": ["demo-server"], "disabled": true});
    servers["mcpServers"]["gone"] = json!({"command": "no-such-program-anywhere"});
    let host = Host::from_config(servers, None).expect("a host");
    let connected = host.connect_all().await;
    let names: Vec<_> = connected.iter().map(|(name, client)| (name.as_str(), client.is_ok())).collect();
    assert_eq!(names, [("forms", true), ("gone", false)]);
    let told: Vec<String> = host.statuses().iter().map(ToString::to_string).collect();
    assert_eq!(told[..2], ["forms: connected, speaks 2026-07-28", "off: disabled"]);
    let states: Vec<ServerState> = host.statuses().into_iter().map(|status| status.state).collect();
    assert!(matches!(states[0], ServerState::Connected(_)), "{states:?}");
    assert_eq!(states[1], ServerState::Disabled);
    assert!(matches!(&states[2], ServerState::Failed(why) if why.contains("no-such-program-anywhere")), "{states:?}");
    assert!(host.connect("off").await.is_err() && host.connect("nobody").await.is_err());
    // Without a resolver the server may not ask.
    assert!(greet(&host).await.contains("does not allow questions"));
    host.disconnect_all().await;
}

#[tokio::test]
async fn an_error_names_the_server_and_each_cause_once() {
    let mut servers = demo();
    servers["mcpServers"]["gone"] = json!({"command": "no-such-program-anywhere"});
    let host = Host::from_config(servers, None).expect("a host");
    let told = with_causes(&host.connect("gone").await.expect_err("it is not there"));
    assert!(told.starts_with("gone cannot be used: "), "{told}");
    assert_eq!(told.matches("no-such-program-anywhere").count(), 1, "{told}");
    assert_eq!(told.to_lowercase().matches("no such program").count(), 1, "{told}");
    let client = host.connect("forms").await.expect("connected");
    for (tool, arguments, why) in [
        ("nothing", json!({}), "the server answered tools/call with an error: Unknown tool: nothing"),
        ("greet", json!([1]), "the arguments of a tool must be an object, not [1]"),
    ] {
        let told = with_causes(&client.tool(tool, arguments).await.expect_err("refused"));
        assert!(told.starts_with(&format!("forms: the tool {tool:?} gave no result: {why}")), "{told}");
    }
    host.disconnect_all().await;
}

#[tokio::test]
async fn two_servers_are_asked_side_by_side() {
    let (both, mut servers) = (Arc::new(tokio::sync::Barrier::new(2)), demo());
    servers["mcpServers"]["others"] = servers["mcpServers"]["forms"].clone();
    // Each is answered after both have asked.
    let resolver = wait_for_question(move |question| {
        let both = Arc::clone(&both);
        async move {
            both.wait().await;
            Answer::accept(&question.request.id, Some(json!({"name": question.origin.server.as_str()})))
        }
    });
    let host = Host::with_resolver(servers, resolver).expect("a host");
    let greeted = ["forms", "others"].map(async |name| {
        let client = host.connect(name).await.expect("connected");
        client.tool("greet", json!({})).await.expect("a result").text()
    });
    let [forms, others] = greeted;
    let (forms, others) = tokio::join!(forms, others);
    assert!(forms.starts_with("Hello, forms!") && others.starts_with("Hello, others!"), "{forms} {others}");
    host.disconnect_all().await;
}

#[tokio::test]
async fn a_resolver_that_fails_cancels() {
    let slots: [(&str, WaitFor); 6] = [
        ("an error", wait_for(async |_| Err("nobody is at home".into()))),
        ("a panic", wait_for(async |request: Request| -> Answer { panic!("asked {}", request.prompt) })),
        ("a panic of a function", wait_for_blocking(|request| panic!("asked {}", request.prompt))),
        ("the answer to another question", wait_for(async |_| Answer::accept("another", Some(json!({"name": "Ada"}))))),
        ("what does not fit", wait_for(async |request: Request| Answer::accept(&request.id, Some(json!({"age": 7}))))),
        ("no object", wait_for(async |request: Request| Answer::accept(&request.id, Some(json!([1]))))),
    ];
    for (what, slot) in slots {
        let host = Host::from_config(demo(), Some(slot)).expect("a host");
        assert!(greet(&host).await.contains("You closed the question"), "{what}");
        host.disconnect_all().await;
    }
    let host = Host::from_config(demo(), Some(wait_for(async |request: Request| Answer::decline(&request.id))));
    assert!(greet(&host.expect("a host")).await.contains("would rather not say"));
}

#[tokio::test]
async fn a_plain_function_may_block() {
    let slow = wait_for_blocking(|request| {
        std::thread::sleep(Duration::from_millis(20));
        Ok(Answer::accept(&request.id, Some(json!({"name": "Ada"}))))
    });
    let host = Host::from_config(demo(), Some(slow)).expect("a host");
    assert!(greet(&host).await.starts_with("Hello, Ada!"));
    host.disconnect_all().await;
}

#[tokio::test]
async fn a_server_that_died_is_reported_and_started_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("died");
    // The first time it ends after two lines: the handshake.
    let two_lines = r#"for _ in 1 2; do read -r line; printf '%s\n' "$line"; done"#;
    let server = format!("{PROGRAM:?} demo-server");
    let script = format!("if mkdir {mark:?}; then {two_lines} | {server}; exit 3; else exec {server}; fi");
    let servers = json!({"mcpServers": {"forms": {"command": "sh", "args": ["-c", script], "protocol": "2025-11-25"}}});
    let host = Host::from_config(servers, Some(ada())).expect("a host");
    host.connect("forms").await.expect("connected");
    let died = async {
        while !matches!(host.statuses()[0].state, ServerState::Failed(_)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), died).await.expect("its end is told");
    assert_eq!(host.statuses()[0].to_string(), "forms: the server (sh) exited with status 3");
    assert!(greet(&host).await.starts_with("Hello, Ada!"));
    assert!(matches!(host.statuses()[0].state, ServerState::Connected(_)));
    host.disconnect_all().await;
}

#[tokio::test]
async fn a_call_tells_its_progress_and_can_be_cancelled() {
    let host = Host::from_config(demo(), Some(ada())).expect("a host");
    let client = host.connect("forms").await.expect("connected");
    let stop = CancellationToken::new();
    let (told, stopper) = (Arc::new(Mutex::new(0)), stop.clone());
    let count = Arc::clone(&told);
    let slow = client.tool("countdown", json!({"from": 100})).cancelled_by(&stop).on_progress(move |at| {
        assert!(at.progress >= 0.0);
        *count.lock().expect("unpoisoned") += 1;
        stopper.cancel();
    });
    let error = slow.await.expect_err("cancelled");
    assert_eq!(error.to_string(), "forms: the tool \"countdown\" gave no result");
    assert!(matches!(error.source, ClientError::Interrupted { .. }), "{error:?}");
    assert!(*told.lock().expect("unpoisoned") > 0);
    host.disconnect_all().await;
}

/// A program of `examples/`, which is built with the tests.
fn example(name: &str) -> PathBuf {
    let this = std::env::current_exe().expect("this program");
    let path = this.parent().and_then(|deps| deps.parent()).expect("its folder").join("examples").join(name);
    assert!(path.exists(), "{} is not built: cargo build --examples", path.display());
    path
}

fn output(command: &mut Command) -> String {
    let home = tempfile::tempdir().expect("a folder");
    let output =
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path()).stdin(Stdio::null()).output();
    let output = output.expect("it runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    stdout.into_owned()
}

#[test]
fn the_examples_do_what_they_say() {
    let host = output(Command::new(example("host")).args([PROGRAM, "demo-server"]));
    assert!(host.starts_with("asked: Welcome!") && host.contains("Hello, Ada!"), "{host}");
    let resolver = output(Command::new(example("resolver")).args([PROGRAM, "demo-server"]));
    assert!(
        resolver.starts_with("forms asks during Some(\"greet\")") && resolver.contains("Hello, Grace!"),
        "{resolver}"
    );
    let called = output(
        Command::new(PROGRAM).args(["call", "greet", "--answer", "name=Ada", "--"]).arg(example("asking_server")),
    );
    assert_eq!(called, "Hello, Ada!\n");
}
