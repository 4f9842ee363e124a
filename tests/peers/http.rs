//! Over HTTP, and in both eras.

use std::{
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{LINKS, Test, all_fields, peer};

/// A server at a web address. It ends with the test.
pub(super) struct Served {
    child: Child,
    url: String,
}

impl Served {
    /// Starts `command` with a free port in its variable PORT and as its last argument, and waits until it listens.
    pub(super) fn start(command: &mut Command, path: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        command.arg(port.to_string()).env("PORT", port.to_string());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Self { child, url: format!("http://127.0.0.1:{port}{path}") };
            }
            assert_eq!(child.try_wait().expect("ours"), None, "the server ended");
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the server does not listen");
    }

    fn everything(transport: &str, path: &str) -> Self {
        let script = peer("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        Self::start(Command::new("node").arg(script).arg(transport), path)
    }

    pub(super) fn python(version: &str, mode: &str) -> Self {
        let program = peer(&format!(".venv{version}/bin/python"));
        let script = peer(&format!("elicit{version}.py"));
        Self::start(Command::new(program).arg(script).arg(mode), if mode == "sse" { "/sse" } else { "/mcp" })
    }

    fn typescript() -> Self {
        Self::start(Command::new("node").arg(peer("modern.mjs")), "/")
    }

    pub(super) fn call(&self, tool: &str) -> Test {
        Test::new().args(["call", &self.url, tool])
    }

    /// The configuration entry that reaches it.
    pub(super) fn entry(&self) -> Value {
        json!({"url": self.url})
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn everything_works(server: &Served) {
    server.call("echo").args(["message=000123"]).stdout("Echo: 000123\n").run();
    let run = server.call("trigger-long-running-operation").args(["duration=1", "steps=4", "-o", "events"]).run();
    let events = run.events();
    let steps: Vec<&Value> = events.iter().filter_map(|event| event.get("progress")).collect();
    assert_eq!(steps, [&json!(1), &json!(2), &json!(3), &json!(4)]);
    let run = server
        .call("trigger-elicitation-request")
        .file("answers.json", all_fields().to_string())
        .args(["--answers", "answers.json"])
        .run();
    let raw = run.stdout.split("Raw result: ").nth(1).expect("the raw result");
    let raw: Value = serde_json::from_str(raw).expect("JSON");
    assert_eq!(raw["content"], all_fields());
    for path in ["errorPath=false", "errorPath=true"] {
        server
            .call("trigger-url-elicitation")
            .file("links.json", LINKS)
            .args(["url=https://example.com/go", "--answers", "links.json", "--url-wait", "1", path])
            .stdout_contains("accept")
            .run();
    }
}

#[test]
fn everything_over_streamable_http() {
    everything_works(&Served::everything("streamableHttp", "/mcp"));
}

#[test]
fn everything_over_http_and_sse() {
    everything_works(&Served::everything("sse", "/sse"));
}

const BOOKED: &str = r#"booked: {"guests":3,"name":"Ada","table":"outside","vegetarian":false,"note":null}"#;

#[test]
fn python_elicits_on_streams() {
    for mode in ["stream", "sse"] {
        let server = Served::python("", mode);
        server
            .call("book")
            .args(["day=Friday", "--answer", "guests=3", "--answer", "name=Ada", "--answer", "table=outside"])
            .stdout_contains(BOOKED)
            .run();
        server.call("book").args(["day=Friday", "--elicit", "decline"]).stdout("not booked: decline\n").run();
    }
}

#[test]
fn python_answers_in_json() {
    let server = Served::python("", "json");
    server.call("echo").args(["words=hello"]).stdout("hello\n").run();
    // This server drops its questions when it answers in JSON: the call must still end.
    server.call("book").args(["day=Friday", "--elicit", "decline", "--timeout", "1"]).status(7).run();
}

#[test]
fn python_2_asks_in_every_era() {
    let words = ["day=Friday", "--answer", "guests=3", "--answer", "name=Ada", "--answer", "sure=true"];
    let booked = "booked on Friday: {\"guests\":3,\"name\":\"Ada\"}, sure: True\n";
    let ways: [(&str, &[&str]); 3] =
        [("stream", &["2025-11-25", "2026-07-28"]), ("json", &["2026-07-28"]), ("sse", &["2025-11-25"])];
    for (mode, revisions) in ways {
        let server = Served::python("2", mode);
        server.call("book").args(words).stdout(booked).run();
        for revision in revisions {
            server.call("book").args(words).args(["--protocol", revision]).stdout(booked).run();
        }
    }
    let entry = json!({"command": peer(".venv2/bin/python"), "args": [peer("elicit2.py")]});
    for revision in ["2025-11-25", "2026-07-28"] {
        let test = Test::new().entry("python", entry.clone()).args(["call", "python", "book", "--protocol", revision]);
        test.args(words).stdout(booked).run();
    }
}

#[test]
fn python_2_asks_back_in_the_older_revision() {
    let words = ["day=Friday", "--answer", "guests=3", "--answer", "name=Ada"];
    let (booked, told) = ("accept: Booking(guests=3, name='Ada')\n", "can only ask over 2025-11-25: calling again");
    let server = Served::python("2", "stream");
    server.call("ask_back").args(words).stdout(booked).stderr_contains(told).run();
    let entry = json!({"command": peer(".venv2/bin/python"), "args": [peer("elicit2.py")]});
    let test = Test::new().entry("python", entry.clone()).args(["call", "python", "ask_back"]).args(words);
    test.stdout(booked).stderr_contains(told).run();
    let test = Test::new().entry("python", entry).args(["call", "python", "ask_back", "--protocol", "2026-07-28"]);
    test.args(words).status(6).stderr_contains("elicitation/create").run();
}

/// Answers for the two rounds of `travel`.
const TRIP: &str = r#"[{"content": {"city": "Oslo", "nights": 3}}, {"content": {"sure": true}}]"#;

#[test]
fn typescript_2_asks_by_rounds() {
    let told = "Ada: 3 nights in Oslo, sure: true\n";
    let server = Served::typescript();
    server.call("travel").args(["who=Ada", "--answers", "-"]).stdin(TRIP).stdout(told).run();
    server.call("travel").args(["who=Ada", "--elicit", "decline"]).stdout("no trip: decline\n").run();
    server.call("link").args(["--elicit", "cancel"]).stdout("link: cancel\n").run();
    let link = r#"[{"when": {"url": "https://example.com/*"}, "action": "accept"}]"#;
    server.call("link").args(["--answers", "-"]).stdin(link).stdout("link: accept\n").run();
    for revision in ["2025-11-25", "2026-07-28"] {
        Test::new()
            .entry("typescript", json!({"command": "node", "args": [peer("modern.mjs")]}))
            .env("PATH", &std::env::var("PATH").expect("PATH"))
            .args(["call", "typescript", "travel", "who=Ada", "--answers", "-", "--protocol", revision])
            .stdin(TRIP)
            .stdout(told)
            .run();
    }
}

#[test]
fn rmcp_asks_by_rounds() {
    let program = peer("rmcp/target/debug/rmcp-peer");
    let server = Served::start(&mut Command::new(&program), "/mcp");
    let entry = json!({"command": program});
    for test in [server.call("greet"), Test::new().entry("rmcp", entry).args(["call", "rmcp", "greet"])] {
        test.args(["greeting=Hello", "--answer", "name=Ada"]).stdout("Hello, Ada!\n").run();
    }
    server.call("greet").args(["greeting=Hello", "--elicit", "decline"]).stdout("not greeted: decline\n").run();
}
