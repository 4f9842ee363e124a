//! What a server lists is shortened when it is shown, has an end, and is never interpreted by a shell.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Fake, Step, Test};

/// The length of one name from a hostile server.
const LONG: usize = 300_000;
/// More than a listing of a few such names may print.
const MOST: usize = 20_000;

/// A server that gives everything the same name.
fn named(name: &str) -> Fake {
    let about = json!({"name": name, "version": name, "title": name, "websiteUrl": name});
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}, (name): {}});
    let part = json!({"type": "string", "title": name, "description": name, "enum": [name, "b"]});
    let schema = json!({"type": "object", "properties": {(name): part}, "required": [name]});
    let entry = |extra: Value| {
        let mut entry = json!({"name": name, "title": name, "description": name, "mimeType": name});
        entry.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
        entry
    };
    let initialized = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": about});
    let message = json!({"role": name, "content": {"type": "resource_link", "uri": name, "name": name}});
    Fake::new()
        .on("initialize", [Step::Reply(initialized)])
        .on(
            "tools/list",
            [Step::Reply(json!({"tools": [entry(json!({"inputSchema": schema})),
            {"name": "t", "description": "T.", "inputSchema": schema}]}))],
        )
        .on("resources/list", [Step::Reply(json!({"resources": [entry(json!({"uri": name}))]}))])
        .on(
            "resources/templates/list",
            [Step::Reply(json!({"resourceTemplates": [entry(json!({"uriTemplate": name}))]}))],
        )
        .on(
            "prompts/list",
            [Step::Reply(json!({"prompts": [entry(json!({"arguments": [{"name": name}]})), {"name": "p"}]}))],
        )
        .on("prompts/get", [Step::Reply(json!({"messages": [message]}))])
        .on("completion/complete", [Step::Reply(json!({"completion": {"values": [name]}}))])
}

#[test]
fn a_name_without_end_is_cut_wherever_it_is_listed() {
    let server = named(&"n".repeat(LONG));
    for words in [
        &["tools", "s"][..],
        &["tools", "s", "t"],
        &["tools", "s", "nothing"],
        &["tools", "s", "--grep", "n"],
        &["resources", "s"],
        &["prompts", "s"],
        &["prompt", "s", "p"],
        &["prompt", "s", "nothing"],
        &["complete", "s", "p", "a=b"],
        &["instructions", "s"],
        &["servers", "--check", "s"],
        &["doctor", "s"],
        &["call", "s", "t"],
        &["call", "s", "t", "a=b", "-o", "json"],
        &["call", "s", "nothing", "-o", "json"],
    ] {
        let run = Test::new().server("s", &server).args(words.iter().copied()).run_any();
        let length = run.stdout.len() + run.stderr.len();
        assert!((10..MOST).contains(&length), "{words:?}: {length} bytes");
    }
}

#[test]
fn a_long_list_of_arguments_is_cut() {
    let arguments: Vec<Value> = (0..5_000).map(|index| json!({"name": format!("a{index}")})).collect();
    let capabilities = json!({"prompts": {}});
    let initialized =
        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "s"}});
    let server = Fake::new()
        .on("initialize", [Step::Reply(initialized)])
        .on("prompts/list", [Step::Reply(json!({"prompts": [{"name": "p", "arguments": arguments}]}))]);
    let run = Test::new().server("s", &server).args(["prompts", "s"]).stdout_contains("p(a0?, a1?, ").run();
    assert!(run.stdout.ends_with(", a39?, …)\n"), "{}", run.stdout);
}

#[test]
fn names_are_never_signs_of_the_shell_that_completes_them() {
    let tools = ["plain", "touch$(touch made)", "semi;colon", "back`tick`", "a&b", "--on-elicit=evil", "tab\u{1b}x"]
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
    let server = Fake::new().on("tools/list", [Step::Reply(json!({"tools": tools}))]);
    let run = Test::new().server("s", &server).args(["tools", "s"]).run();
    let program = env!("CARGO_BIN_EXE_toolnexus");
    let folder = std::path::Path::new(program).parent().expect("a folder").display();
    let script = r#"source <(toolnexus completions bash)
        COMP_LINE="toolnexus call s "; COMP_POINT=${#COMP_LINE}; _toolnexus; printf '%s\n' "${COMPREPLY[@]}""#;
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).env_clear().current_dir(run.folder()).env("HOME", run.path("home"));
    let output = bash.env("PATH", format!("{folder}:/usr/bin:/bin")).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text, "plain\nsemi\\;colon\nback\\`tick\\`\na\\&b\n", "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!run.path("made").exists());
    let script = run.command_again(&["completions", "powershell"]);
    assert!(script.contains(r#"$value.Replace("'", "''")"#), "{script}");
}
