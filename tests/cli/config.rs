//! Configuration files: their shapes, their variables, and what one wrong entry does to the others.

use std::fs;

use serde_json::json;

use super::harness::{Fake, Test};

const DEMO: &str = r#"{"command": "toolnexus", "args": ["demo-server"]}"#;

/// A configuration whose server records how it was started, and ends.
fn noting(entry: &serde_json::Value) -> Test {
    let mut entry = entry.clone();
    let script = r#"printf '%s' "$KEY|$B|${PWD##*/}|$1" > "$SEEN"; exit 3"#;
    entry["args"] = json!(["-c", script.replace("${PWD", "$${PWD"), "sh", entry["args"][0]]);
    let test = Test::new();
    let seen = test.folder().join("seen").display().to_string();
    test.entry("s", entry).env("SEEN", &seen)
}

#[test]
fn comments_trailing_commas_and_marks() {
    let text = format!("\u{feff}{{\"mcpServers\":{{/* a */\"one\":{DEMO},}},}} // end\r\n");
    Test::new().config(&text).args(["call", "one", "fail"]).status(1).stdout_contains("always fails").run();
}

#[test]
fn files_of_other_tools() {
    for text in [
        r#"{"mcp": {"t": {"type": "local", "command": ["toolnexus", "demo-server"], "environment": {"K": "v"}, "enabled": true}}}"#.to_owned(),
        format!(r#"{{"servers": {{"t": {DEMO}}}, "inputs": []}}"#),
        format!(r#"{{"t": {DEMO}, "builtins": {{}}, "agents": {{"command": "false"}}, "a2a": [], "mcpServer": {{}}}}"#),
    ] {
        Test::new().config(&text).args(["call", "t", "fail"]).status(1).stdout_contains("always fails").run();
    }
    for kind in ["\"http\"", "\"streamable-http\"", "\"streamableHttp\"", "\"remote\"", "\"sse\"", "null"] {
        let text = format!(r#"{{"servers": {{"t": {{"url": "http://127.0.0.1:9/mcp", "type": {kind}}}}}}}"#);
        let kind = if kind == "\"sse\"" { "sse" } else { "http" };
        let run = Test::new().config(&text).args(["servers", "-o", "json"]).run().json();
        assert_eq!(run["servers"]["t"]["kind"], kind, "{text}");
    }
}

#[test]
fn files_are_found() {
    for name in [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json", "home/.config/toolnexus/mcp.json"] {
        let text = format!(r#"{{"mcpServers": {{"t": {DEMO}}}}}"#);
        Test::new().file(name, text).args(["servers"]).stdout_contains("demo-server").run();
    }
    let config = format!(r#"{{"mcpServers": {{"t": {DEMO}}}}}"#);
    Test::new()
        .file("x.json", &config)
        .env("TOOLNEXUS_CONFIG", "x.json")
        .args(["servers"])
        .stdout_contains("demo-server")
        .run();
    Test::new().file("x.json", &config).args(["servers", "--config", "x.json"]).stdout_contains("demo-server").run();
    Test::new().args(["servers"]).status(3).stderr_contains("--config").run();
    Test::new().args(["servers", "--config", "none.json"]).status(3).stderr_contains("none.json").run();
}

#[test]
fn variables_and_home_folders() {
    let entry = json!({
        "command": "/bin/sh", "args": ["${env:TOK}"], "cwd": "~/data",
        "env": {"KEY": "${TOK}", "B": "${NOPE:-none}"},
    });
    let run = noting(&entry).file("home/data/x", "").env("TOK", "s3cret").args(["call", "s", "t"]).status(4).run();
    assert_eq!(fs::read_to_string(run.path("seen")).expect("started"), "s3cret|none|data|s3cret");
    noting(&entry)
        .args(["call", "s", "t"])
        .status(3)
        .stderr_contains("server \"s\": ")
        .stderr_contains("the variable TOK is not set")
        .run();
}

#[test]
fn a_home_folder_comes_before_a_command() {
    let script = "#!/bin/sh\nprintf started > \"${0%/*}/seen\"\nexit 3\n";
    let test = Test::new().file("home/bin/srv", script).entry("s", json!({"command": "~/bin/srv"}));
    let path = test.folder().join("home/bin/srv");
    make_executable(&path);
    let run = test.args(["call", "s", "t"]).status(4).run();
    assert!(run.path("home/bin/seen").exists());
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("made executable");
}

#[test]
fn one_wrong_entry_harms_no_other_and_a_disabled_one_is_not_started() {
    let test = || {
        Test::new()
            .server("ok", &Fake::new().tool("t"))
            .entry("bad", json!({"command": "x", "args": true}))
            .entry("off", json!({"command": "touch", "args": ["oops"], "disabled": true}))
            .entry("off2", json!({"command": "touch", "args": ["oops"], "enabled": false}))
            .entry("unset", json!({"command": "x", "args": ["${NOPE}"]}))
    };
    let run = test().args(["call", "ok", "t"]).stdout("done\n").stderr_contains("server \"bad\": args").run();
    assert!(!run.stderr.contains("NOPE"), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    // A misspelled key is mentioned once, although it is both a warning and why the entry cannot be used.
    let run = test().entry("typo", json!({"comand": "x"})).args(["call", "ok", "t"]).stdout("done\n").run();
    assert_eq!(run.stderr.matches("unknown key \"comand\"").count(), 1, "{}", run.stderr);
    let run = test().args(["tools", "--trust", "-o", "json"]).run();
    let servers = run.json()["servers"].clone();
    assert_eq!(servers["ok"]["tools"][0]["name"], "t");
    assert!(servers["bad"]["error"].to_string().contains("args: expected a list of strings, not true"), "{servers}");
    assert!(servers["unset"]["error"].to_string().contains("NOPE"), "{servers}");
    assert!(!run.path("oops").exists());
    test().args(["call", "off", "t"]).status(3).stderr_contains("is disabled in the configuration").run();
    test().args(["call", "bad", "t"]).status(3).stderr_contains("args: expected a list of strings, not true").run();
    test().args(["call", "okk", "t"]).status(3).stderr_contains("did you mean ok?").run();
}

#[test]
fn errors_say_where() {
    for (text, part) in [
        ("{\n  \"mcpServers\": {\n    \"s\": {\"command\" \"x\"}\n  }\n}", "mcp.json:3:21: expected colon"),
        (
            "{\"mcpServers\": {\n  \"s\": {\"comand\": \"x\"}}}",
            "mcp.json:2:9: server \"s\": unknown key \"comand\": did you mean `command`?",
        ),
        (
            "{\"mcp_servers\": {\"s\": {\"command\": \"x\"}}}",
            "mcp.json:1:2: unknown key \"mcp_servers\": did you mean `mcpServers`?",
        ),
        ("", "the file is empty"),
    ] {
        let run = Test::new().config(text).args(["call", "s", "t"]).status(3).stderr_contains(part).run();
        assert_eq!(fs::read_to_string(run.path("mcp.json")).expect("still there"), text);
    }
}

#[test]
fn a_misspelt_key_is_warned_of_once() {
    for words in [
        &["call", "s", "t"][..],
        &["tools", "s"],
        &["tools", "--trust"],
        &["servers", "--check", "--trust"],
        &["ping", "s"],
    ] {
        let entry = Fake::new().tool("t");
        let test = Test::new().server("s", &entry);
        let text = fs::read_to_string(test.folder().join("mcp.json")).expect("the file");
        let text = text.replacen("\"command\"", "\"call_timeout\": 5000, \"command\"", 1);
        let run = test.config(&text).args(words.iter().copied()).run();
        assert_eq!(run.stderr.matches("call_timeout").count(), 1, "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains("did you mean `callTimeout`?"), "{}", run.stderr);
    }
}
