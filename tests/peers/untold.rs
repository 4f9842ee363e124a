//! Servers of the most used frameworks, with their defaults and ours: a tool that asks works, and does not affect the
//! others.

use std::process::Command;

use serde_json::{Value, json};

use super::{Test, http::Served, peer};

/// The message when a tool can ask only in the older way, the first time.
const TOLD: &str = "can only ask over 2025-11-25: calling again";

/// The tools of `fast.py` that ask, an answer for each, and their results.
fn asked() -> Vec<(&'static str, Value, &'static str)> {
    let value = |value: Value| json!({"value": value});
    vec![
        ("text", value(json!("Ada")), "'Ada'"),
        ("whole", value(json!(7)), "7"),
        ("number", value(json!(2.5)), "2.5"),
        ("yes_no", value(json!(false)), "False"),
        ("literal", value(json!("coffee")), "'coffee'"),
        ("enum", value(json!("blue")), "<Color.BLUE: 'blue'>"),
        ("choices", value(json!("south")), "'south'"),
        ("titled", value(json!("high")), "'high'"),
        ("several", value(json!(["bug", "test"])), "['bug', 'test']"),
        ("several_titled", value(json!(["low", "high"])), "['low', 'high']"),
        ("several_enum", value(json!(["red", "blue"])), "[<Color.RED: 'red'>, <Color.BLUE: 'blue'>]"),
        ("dataclass", json!({"city": "Oslo", "breakfast": true}), "Trip(city='Oslo', nights=2, breakfast=True)"),
        (
            "model",
            json!({"guests": 3, "name": "Ada", "color": "blue"}),
            "Booking(guests=3, name='Ada', color=<Color.BLUE: 'blue'>)",
        ),
    ]
}

fn fast_entry() -> Value {
    json!({"command": peer(".venv2/bin/python"), "args": [peer("fast.py")]})
}

fn fast_over_http() -> Served {
    Served::start(
        Command::new(peer(".venv2/bin/python")).args([peer("fast.py").to_str().expect("UTF-8"), "http"]),
        "/mcp",
    )
}

/// A call of `tool` at `entry` that remembers in `cache`.
fn call(entry: &Value, cache: &tempfile::TempDir, tool: &str) -> Test {
    let cache = cache.path().to_str().expect("UTF-8");
    Test::new().entry("peer", entry.clone()).env("XDG_CACHE_HOME", cache).args(["call", "peer", tool])
}

/// Every tool that asks is answered from a file, twice; one that asks nothing works in between and is never called
/// again.
fn fast_asks(entry: &Value) {
    let cache = tempfile::tempdir().expect("a folder");
    for (tool, answer, shown) in asked() {
        let from_file = || {
            let test = call(entry, &cache, tool).file("answers.json", answer.to_string());
            test.args(["--answers", "answers.json"]).stdout(&format!("accept: {shown}\n"))
        };
        from_file().stderr_contains(TOLD).run();
        let second = from_file().run();
        assert!(!second.stderr.contains(TOLD), "{tool} is remembered: {}", second.stderr);
        let plain = call(entry, &cache, "plain").args(["words=hello"]).stdout("hello\n").run();
        assert!(!plain.stderr.contains(TOLD), "{tool} spoiled another tool: {}", plain.stderr);
    }
    call(entry, &cache, "text").args(["--elicit", "decline"]).stdout("decline\n").run();
    let unanswered = call(entry, &cache, "literal").status(8).stdout("cancel\n");
    unanswered.stderr_contains("one of tea, coffee").stderr_contains("--answers").run();
}

#[test]
fn fastmcp_asks_over_stdio() {
    fast_asks(&fast_entry());
}

#[test]
fn fastmcp_asks_over_http() {
    fast_asks(&fast_over_http().entry());
}

#[test]
fn fastmcp_asks_a_person() {
    let cache = tempfile::tempdir().expect("a folder");
    let person = call(&fast_entry(), &cache, "dataclass").at_terminal(24, 80);
    person.see("Give dataclass").see("1 of 3").send("Oslo").see_typed("› Oslo").send("\r");
    person.see("2 of 3").send("\r");
    person.see("3 of 3").send("\r");
    person.see("What peer will receive").see("  Send").send("1").see("› Send").send("\r");
    person.see("accept: Trip(city='Oslo', nights=2, breakfast=False)");
    person.end(0);
}

/// Both ways of the Python SDK to ask work, one after the other, and a plain tool is not affected.
fn python_asks(entry: &Value, can_ask_back: bool) {
    let cache = tempfile::tempdir().expect("a folder");
    let book = || {
        let answers = ["day=Friday", "--answer", "guests=3", "--answer", "name=Ada", "--answer", "sure=true"];
        let test = call(entry, &cache, "book").args(answers).stdout_contains("booked on Friday");
        let run = test.run();
        assert!(!run.stderr.contains(TOLD), "{}", run.stderr);
    };
    let plain = || call(entry, &cache, "plain").args(["words=hello"]).stdout("hello\n").stderr("").run();
    book();
    for _ in 0..2 {
        let asked =
            call(entry, &cache, "ask_back").args(["day=Friday", "--answer", "guests=3", "--answer", "name=Ada"]);
        if can_ask_back {
            asked.stdout("accept: Booking(guests=3, name='Ada')\n").run();
        } else {
            // Without a session, a question is impossible: the server's own message is shown, every time.
            let run = asked.run_any();
            assert!(matches!(run.status, Some(1 | 6)), "{:?} {}", run.status, run.stderr);
            assert!(run.stderr.contains("elicitation/create") || run.stdout.contains("elicitation/create"), "{run:?}");
        }
        book();
        plain();
    }
}

#[test]
fn python_asks_both_ways_over_stdio() {
    python_asks(&json!({"command": peer(".venv2/bin/python"), "args": [peer("elicit2.py")]}), true);
}

#[test]
fn python_asks_both_ways_over_http() {
    python_asks(&Served::python("2", "stream").entry(), true);
}

#[test]
fn a_stateless_python_server_keeps_its_other_tools() {
    python_asks(&Served::python("2", "stateless").entry(), false);
}
