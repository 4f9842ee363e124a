//! Completion in shells, and manual pages.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::json;

use super::harness::{Fake, Run, Test};

/// A run after which the names of the demo server are remembered.
fn listed() -> Run {
    let run = Test::new().demo().args(["servers"]).run();
    for command in ["tools", "resources", "prompts"] {
        let status = program(&run).args([command, "forms"]).output().expect("it runs").status;
        assert!(status.success());
    }
    run
}

fn in_folder(run: &Run, program: &str) -> Command {
    let own = Path::new(env!("CARGO_BIN_EXE_toolnexus")).parent().expect("a folder").display().to_string();
    let mut command = Command::new(program);
    command.env_clear().current_dir(run.folder()).env("HOME", run.path("home")).env("TERM", "xterm");
    command.env("PATH", format!("{own}:/usr/bin:/bin")).stdin(Stdio::null());
    command
}

fn program(run: &Run) -> Command {
    in_folder(run, env!("CARGO_BIN_EXE_toolnexus"))
}

/// The output of a shell script; skipped, with a message, if the shell is not installed.
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn script(run: &Run, shell: &str, script: &str) -> Option<String> {
    if !Path::new("/usr/bin").join(shell).exists() && !Path::new("/bin").join(shell).exists() {
        println!("SKIPPED: {shell} is not installed");
        return None;
    }
    let output = in_folder(run, shell).args(["-c", script]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

#[test]
fn words_come_from_the_grammar_the_configuration_and_what_was_listed_and_nothing_is_started() {
    let run = listed();
    let candidates = |words: &[&str]| {
        let output = program(&run).args(["__complete", "--"]).args(words).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(candidates(&["resu"]), ["resume"]);
    assert_eq!(candidates(&["call", "f"]), ["forms"]);
    assert_eq!(candidates(&["-o", "json", "call", "--verbose", "forms", "co"]), ["connect", "countdown"]);
    assert_eq!(candidates(&["call", "forms", "countdown", ""]), ["from="]);
    assert!(candidates(&["call", "forms", "countdown", "from="]).is_empty());
    assert_eq!(candidates(&["call", "forms", "countdown", "--fr"]), ["--from"]);
    assert_eq!(candidates(&["read", "forms", "demo://n"]), ["demo://notes/{day}"]);
    assert_eq!(candidates(&["prompt", "forms", "introduce", "to"]), ["tone="]);
    assert_eq!(candidates(&["call", "--el"]), ["--elicit-timeout", "--elicit"]);
    assert_eq!(candidates(&["watch", "forms", "--level", "e"]), ["error", "emergency"]);
    assert_eq!(candidates(&["completions", "z"]), ["zsh"]);
    assert_eq!(candidates(&["import", "co"]), ["codex", "copilot"]);
    assert_eq!(candidates(&["--color", "a"]), ["auto", "always"]);
    assert_eq!(candidates(&["--config", "mcp.json", "call", "f"]), ["forms"]);
    assert_eq!(candidates(&["answers", "ch"]), ["check"]);
    // Every command that takes SERVER is recognized by its grammar, and a command that takes several takes each once.
    for command in
        ["call", "tools", "ping", "watch", "doctor", "logs", "login", "remove", "enable", "servers", "up", "shell"]
    {
        assert_eq!(candidates(&[command, "f"]), ["forms"], "{command}");
    }
    assert!(candidates(&["up", "forms", "f"]).is_empty() && candidates(&["add", "f"]).is_empty());
    assert!(candidates(&["ping", "forms", "f"]).is_empty() && candidates(&["man", ""]).is_empty());
    assert!(candidates(&["call", "forms", "greet", "--", "x"]).is_empty());
    assert!(
        candidates(&["call", "nowhere", "g"]).is_empty() && candidates(&["tools", "--config", "none", "f"]).is_empty()
    );
    let mark = r#"{"mcpServers": {"s": {"command": "touch", "args": ["started"]}}}"#;
    std::fs::write(run.path("mcp.json"), mark).expect("written");
    assert_eq!(candidates(&["call", "s"]), ["s"]);
    assert!(candidates(&["call", "s", ""]).is_empty() && !run.path("started").exists());
}

#[test]
fn values_that_a_schema_lists_are_completed() {
    let schema = json!({"type": "object", "$defs": {"color": {"enum": ["red", "green"]}}, "properties": {
        "color": {"anyOf": [{"$ref": "#/$defs/color"}, {"type": "null"}]},
        "kinds": {"type": "array", "items": {"enum": ["work", "home"]}}, "deep": {"type": "boolean"}}});
    let run = Test::new().server("s", &Fake::new().tool_with("find", &schema)).args(["tools", "s"]).run();
    let candidates = |word: &str| {
        let output = program(&run).args(["__complete", "--", "call", "s", "find", word]).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).replace("\t\n", " ")
    };
    assert_eq!(candidates("c"), "color=red color=green ");
    assert_eq!(candidates("kinds="), "kinds=work kinds=home ");
    assert_eq!(candidates("deep=t"), "deep=true ");
    assert_eq!(candidates("--kin"), "--kinds ");
}

#[test]
fn bash_completes_words_with_colons_and_equals_signs() {
    let run = listed();
    let text = script(
        &run,
        "bash",
        r#"source <(toolnexus completions bash)
        try() { COMP_LINE=$1; COMP_POINT=${#1}; _toolnexus; printf '%s\n' "${COMPREPLY[@]}"; }
        try "toolnexus call forms gr"; try "toolnexus read forms demo://cl"; try "toolnexus call forms countdown fr""#,
    );
    assert!(text.is_none_or(|text| text == "greet\n//clock\nfrom=\n"));
}

#[test]
fn fish_completes_with_descriptions() {
    let run = listed();
    let words = "toolnexus completions fish | source; complete -C 'toolnexus call forms gr'";
    let text = script(&run, "fish", words);
    assert!(text.is_none_or(|text| text == "greet\tAsks who you are, and greets you.\n"));
}

#[test]
fn zsh_completes_at_its_prompt() {
    let run = listed();
    let text = script(
        &run,
        "zsh",
        r#"zmodload zsh/zpty
        zpty z 'zsh -f -i'
        zpty -w z 'PS1=; autoload -Uz compinit; compinit -u -D; source <(toolnexus completions zsh); echo rea""dy'
        zpty -r -m z out '*ready*'
        zpty -w -n z $'toolnexus call forms gr\t'
        zpty -r -m z out '*forms greet*'
        print -r -- completed
        zpty -d z"#,
    );
    assert!(text.is_none_or(|text| text.contains("completed")));
}

#[test]
fn every_shell_has_a_script_and_every_command_a_manual_page() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        Test::new().args(["completions", shell]).stdout_contains("completion for toolnexus").run();
    }
    Test::new().args(["completions", "csh"]).status(2).run();
    Test::new().args(["man"]).stdout_contains(".TH toolnexus 1").run();
    let run = Test::new().args(["man", "--dir", "pages"]).run();
    for page in ["toolnexus.1", "toolnexus-call.1", "toolnexus-answers-check.1"] {
        assert!(run.path("pages").join(page).is_file(), "{page}");
    }
}
