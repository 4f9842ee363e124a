//! Everyday use, with server-everything (over stdio and HTTP) and a server of the Python SDK.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    harness::{Run, Test},
    peer,
};

const EVERYTHING: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/// server-everything over HTTP, until it is dropped.
struct OverHttp {
    child: Child,
    url: String,
}

impl OverHttp {
    fn start() -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let mut command = std::process::Command::new("node");
        command.arg(peer(EVERYTHING)).arg("streamableHttp").env("PORT", port.to_string());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("node starts");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let begin = Instant::now();
        // It prints a line for that.
        while !lines.next().expect("it goes on").expect("text").contains(&port.to_string()) {
            assert!(begin.elapsed() < Duration::from_secs(60), "server-everything does not listen");
        }
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: format!("http://127.0.0.1:{port}/mcp") }
    }
}

impl Drop for OverHttp {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The configuration with all of them.
fn all(http: &OverHttp) -> Test {
    Test::new()
        .entry("stdio", json!({"command": "node", "args": [peer(EVERYTHING), "stdio"]}))
        .entry("http", json!({"url": http.url}))
        .entry("python", json!({"command": peer(".venv/bin/python"), "args": [peer("elicit.py")]}))
        .env("PATH", &std::env::var("PATH").expect("PATH"))
}

/// The lines of a script in one shell, over both transports: the output of each.
fn in_shell(http: &OverHttp, server: &str, lines: &[&str]) -> Run {
    let script: String = lines.iter().map(|line| line.replace("SERVER", server) + "\n").collect();
    all(http).args(["shell"]).stdin(script).run()
}

#[test]
fn everyday_commands_do_the_same_over_stdio_and_http() {
    let http = OverHttp::start();
    for server in ["stdio", "http"] {
        let run = in_shell(
            &http,
            server,
            &[
                "ping SERVER",
                "tools SERVER get-sum",
                "tools SERVER --grep sum",
                "resources SERVER",
                "read SERVER demo://resource/dynamic/text/{resourceId} resourceId=7",
                "prompts SERVER",
                "prompt SERVER args-prompt city=Paris state=Texas",
                "complete SERVER completable-prompt department=En",
                "instructions SERVER",
                "call SERVER get-sum a=40 b=2",
            ],
        );
        for part in [
            "answered ping in ",
            "toolnexus call ",
            "get-sum  Returns the sum",
            "demo://resource/dynamic/text/{resourceId}",
            "Resource 7: This is a plaintext resource",
            "args-prompt",
            "What's weather in Paris, Texas?",
            "Engineering\n",
            "The sum of 40 and 2 is 42.",
        ] {
            assert!(run.stdout.contains(part), "{server}: stdout lacks {part:?}: {}\n{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn everyday_values_are_handed_on_in_a_stateful_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = peer("node_modules/@modelcontextprotocol/server-memory/dist/index.js");
    let file = folder.path().join("memory.json");
    let test = Test::new()
        .entry("memory", json!({"command": "node", "args": [memory], "env": {"MEMORY_FILE_PATH": file}}))
        .env("PATH", &std::env::var("PATH").expect("PATH"));
    let script = r#"# twenty lines against a server that remembers
$ada = call memory create_entities entities:='[{"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}]'
$bob = call memory create_entities entities:='[{"name": "Bob", "entityType": "person", "observations": []}]'
call memory create_relations relations:='[{"from": "${ada.entities.0.name}", "to": "${bob.entities.0.name}", "relationType": "knows"}]'
call memory add_observations observations:='[{"entityName": "${bob.entities[0].name}", "contents": ["reads", "${ada.entities.0.observations.0}"]}]'

$found = call memory search_nodes query=reads
call memory open_nodes names=${found.entities.0.name} --select entities[0].observations
$all = call memory read_graph
call memory open_nodes names=${all.entities.1.name} -o data
call memory open_nodes names:='["${all.relations.0.from}", "${all.relations.0.to}"]' --select relations[0].relationType
call memory delete_observations deletions:='[{"entityName": "${bob.entities.0.name}", "observations": ["reads"]}]'
$after = call memory search_nodes query=Bob
call memory open_nodes names=${after.entities.0.name} --select entities[0].observations
call memory delete_entities entityNames=${ada.entities.0.name}
$rest = call memory read_graph
call memory open_nodes names=${rest.entities.0.name} --select entities[0].name
tools memory --grep graph
ping memory
call memory read_graph --select relations
"#;
    let run = test.args(["shell"]).stdin(script).run();
    for part in [
        "[\"reads\",\"wrote the first program\"]\n",
        "knows\n",
        "[\"wrote the first program\"]\n",
        "Bob\n",
        "memory read_graph",
        "\n[]\n",
    ] {
        assert!(run.stdout.contains(part), "stdout lacks {part:?}: {}", run.stdout);
    }
}

#[test]
fn everyday_a_hundred_calls_are_one_start() {
    let http = OverHttp::start();
    let lines: String = (0..100).map(|n| format!("{{\"a\":{n}}}\n")).collect();
    for server in ["stdio", "http"] {
        let test = all(&http).args(["call", server, "get-sum", "b=1", "--each", "-", "-j", "8"]);
        let run = test.args(["--select", "content[0].text", "--trace", "trace.jsonl"]).stdin(&lines).run();
        let sums: Vec<Value> = run.events().iter().map(|line| line["result"].clone()).collect();
        let expected: Vec<Value> = (0..100).map(|n| json!(format!("The sum of {n} and 1 is {}.", n + 1))).collect();
        assert_eq!(sums, expected, "{server}");
        let trace = std::fs::read_to_string(run.path("trace.jsonl")).expect("a trace");
        let count = |method: &str| trace.matches(&format!("\"method\":\"{method}\"")).count();
        assert_eq!((count("initialize"), count("tools/list"), count("tools/call")), (1, 1, 100), "{server}");
    }
}

#[test]
fn everyday_logs_and_progress_come_as_events() {
    let http = OverHttp::start();
    for server in ["stdio", "http"] {
        let script = format!(
            "call {server} toggle-simulated-logging\ncall {server} trigger-long-running-operation duration=8 steps=2\n"
        );
        let run = all(&http).args(["shell", "-o", "events", "--verbose"]).stdin(script).run();
        let events = run.events();
        assert!(events.iter().any(|event| event["event"] == "log" && event["server"] == server), "{server}");
        assert!(events.iter().any(|event| event["event"] == "progress"), "{server}");
    }
}

#[test]
fn everyday_a_python_server_lists_what_it_has() {
    let http = OverHttp::start();
    let run = all(&http).args(["tools", "python", "-o", "json"]).run();
    let tools = run.json()["servers"]["python"]["tools"].as_array().expect("tools").clone();
    assert!(!tools.is_empty());
    all(&http).args(["ping", "python"]).stdout_contains("answered ping in ").run();
    all(&http).args(["resources", "python"]).run();
    all(&http).args(["prompts", "python"]).run();
}
