//! Typing errors: the answer is the correct command.

use serde_json::{Value, json};

use super::harness::{Fake, Test};

fn server() -> Fake {
    let schema = json!({"type": "object", "required": ["query"], "properties": {"query": {"type": "string"},
        "limit": {"type": "integer"}, "deep": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}},
        "maxResults": {"type": "integer"}}});
    Fake::new().tool_with("search", &schema)
}

fn run(words: &[&str]) -> Test {
    Test::new().server("files", &server()).args(words.iter().copied())
}

fn sent(words: &[&str]) -> Value {
    let run = run(&["call", "files", "search"]).args(words.iter().copied()).run();
    run.params("files", "tools/call", 0)["arguments"].clone()
}

#[test]
fn options_behind_the_tool_are_the_tools() {
    for (words, wanted) in [
        (&["--query", "rust", "--limit=10", "--deep"][..], json!({"query": "rust", "limit": 10, "deep": true})),
        (&["--deep", "query=x", "-q"], json!({"deep": true, "query": "x"})),
        (&["--query=a=b", "--no-deep", "--limit", "-5"], json!({"query": "a=b", "deep": false, "limit": -5})),
        (&["--tags", "a", "--tags", "b", "query=x"], json!({"tags": ["a", "b"], "query": "x"})),
        (&["--max-results", "3", "query=x"], json!({"maxResults": 3, "query": "x"})),
    ] {
        assert_eq!(sent(words), wanted, "{words:?}");
    }
}

#[test]
fn a_mistyped_option_is_refused_with_what_may_be_meant() {
    let refused = |words: &[&str]| run(&["call", "files", "search", "query=x"]).args(words.iter().copied()).status(2);
    refused(&["--limti", "3"]).stderr_contains("did you mean --limit?").stderr_contains("toolnexus tools files").run();
    refused(&["--timeot", "3"]).stderr_contains("did you mean --timeout").run();
    refused(&["--json"]).stderr_contains("did you mean -o json").run();
    refused(&["--limit"]).stderr_contains("--limit needs a value").run();
}

#[test]
fn help_behind_the_tool_is_its_page() {
    let page = run(&["tools", "files", "search"]).run().stdout;
    assert!(page.ends_with("toolnexus call files search query=TEXT\n"), "{page}");
    run(&["call", "files", "search", "query=x", "--help"]).stdout(&page).run();
    run(&["call", "files", "--help"]).stdout_contains("Usage: toolnexus call").run();
}

#[test]
fn a_dry_run_prints_the_request_and_sends_nothing() {
    let run = run(&["call", "files", "search", "query=x", "--dry-run", "-o", "json"]).run();
    let request = json!({"method": "tools/call", "params": {"name": "search", "arguments": {"query": "x"}}});
    assert_eq!(run.json(), request);
    assert!(run.received("files").iter().all(|message| message["method"] != "tools/call"));
}

#[test]
fn slips_are_answered_with_the_command_that_was_meant() {
    for (words, status, told) in [
        (&["call", "files.search"][..], 2, "`toolnexus call files search`"),
        (&["call", "files/search", "query=a b"], 2, "`toolnexus call files search query='a b'`"),
        (&["tools", "files.search"], 3, "`toolnexus tools files search`"),
        (&["call", "python", "srv.py", "add", "a=1"], 3, "`toolnexus call add a=1 -- python srv.py`"),
        (&["tools", "npx", "server"], 3, "`toolnexus tools -- npx server`"),
        (&["call", "files", "search", "{\"query\": \"x\"}"], 2, "--args '{\"query\": \"x\"}'"),
        (&["tools", "files", "--json"], 2, "-o json prints JSON"),
        (&["list"], 2, "`toolnexus tools`"),
        (&["run", "files", "search"], 2, "`toolnexus call`"),
        (&["discover"], 2, "`toolnexus servers --discover`"),
        (&["rm", "files"], 2, "`toolnexus remove`"),
        (&["repl"], 2, "`toolnexus shell`"),
    ] {
        run(words).status(status).stderr_contains(told).run();
    }
    run(&["help", "call"]).stdout_contains("Usage: toolnexus call").run();
    run(&["help"]).stdout_contains("Exit codes").run();
}

#[test]
fn servers_are_checked_by_name_and_traced() {
    let broken = json!({"command": "sh", "args": ["-c", "exit 3"]});
    let test = Test::new().server("files", &server()).entry("broken", broken);
    let run = test.args(["servers", "files", "--check", "--trace", "t.jsonl", "-o", "json"]).run();
    let names: Vec<String> = run.json()["servers"].as_object().expect("servers").keys().cloned().collect();
    assert_eq!(names, ["files"]);
    assert!(std::fs::read_to_string(run.path("t.jsonl")).expect("a trace").contains("initialize"));
    Test::new().server("files", &server()).args(["servers", "flies"]).status(3).stderr_contains("files").run();
}

#[test]
fn errors_are_json_where_the_mode_stands_among_switches() {
    let run = run(&["call", "files", "search", "-qojson", "--nonsense-of-ours=1"]).status(2).run();
    assert_eq!(run.error()["code"], "usage");
    let run = Test::new().args(["-qojson", "nothing"]).status(2).run();
    assert_eq!(run.error()["code"], "usage");
}

#[test]
fn a_trace_goes_to_stderr_and_adds_to_an_open_file() {
    run(&["tools", "files", "--trace", "-"]).stderr_contains("{\"time\":").stderr_contains("tools/list").run();
    let test = run(&["tools", "files", "--trace", "/proc/self/fd/2"]).file("err", "before\n");
    let err = std::fs::OpenOptions::new().append(true).open(test.folder().join("err")).expect("a file");
    assert!(test.command().stderr(err).status().expect("it runs").success());
    let text = std::fs::read_to_string(test.folder().join("err")).expect("a file");
    assert!(text.starts_with("before\n") && text.contains("tools/list"), "{text}");
}
