//! What the README shows is what happens.

use std::{collections::BTreeSet, process::Stdio, time::Duration};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::json;

use super::{
    harness::{Fake, Step, Test, until, wait},
    http::server::Server,
};

const README: &str = include_str!("../../README.md");
const EXAMPLE: &str = include_str!("../../mcp.example.json");

/// The lines of the transcript: each command with its output.
fn transcript() -> Vec<(String, String)> {
    let text = README.split("```console\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a transcript");
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => output.extend([line, "\n"]),
            (None, None) => panic!("the transcript begins with {line:?}"),
        }
    }
    commands
}

#[test]
fn the_transcript_is_true() {
    let commands = transcript();
    let file = |name: &str| commands.iter().find(|(command, _)| *command == format!("cat {name}"));
    let (_, answers) = file("answers.json").expect("the answers file is shown");
    assert!(commands.len() > 3);
    for (command, output) in &commands {
        let words = command.split_whitespace().collect::<Vec<_>>();
        let ["toolnexus", words @ ..] = words.as_slice() else { continue };
        let test = Test::new().config(EXAMPLE).file("answers.json", answers).args(words.iter().copied());
        let run = test.run_any();
        assert_eq!(format!("{}{}", run.stdout, run.stderr), *output, "$ {command}");
    }
}

#[test]
fn the_first_command_ends_in_a_greeting() {
    let test = Test::new().file("mcp.example.json", EXAMPLE);
    let words = ["--config", "mcp.example.json", "call", "forms", "greet"];
    assert!(README.contains(&format!("cargo run -- {}\n", words.join(" "))));
    test.args(words).args(["--answer", "name=Ada"]).stdout("Hello, Ada!\n").stderr("").run();
}

/// The help of the program and of every command.
fn all_help() -> String {
    let own = Test::new().args(["--help"]).run().stdout;
    let list = own.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list of commands");
    // The second line of a description is indented.
    let names = list.lines().filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.map(|name| Test::new().args([name, "--help"]).run().stdout).chain([own.clone()]).collect()
}

#[test]
fn every_option_of_the_readme_is_real() {
    let help = all_help();
    let cargos = ["--path", "--open", "--no-default-features", "--features"];
    let words = README.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let options = words.filter(|word| word.starts_with("--") && word.contains(char::is_alphabetic));
    for option in options.filter(|option| !cargos.contains(option) && *option != "--key") {
        assert!(help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == option), "{option}");
    }
}

/// The codes in the first column of the README's table.
fn documented() -> BTreeSet<i32> {
    let table = README.split("## Exit codes").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a table");
    let first = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    first.flat_map(|codes| codes.split(", ")).filter_map(|code| code.parse().ok()).collect()
}

/// The exit code of a call that the server never answers, when the program gets `signal`.
fn ended_by(signal: Signal) -> Option<i32> {
    let test = Test::new().server("s", &Fake::new().tool("t").on_call([Step::ExpectEnd])).args(["call", "s", "t"]);
    let program = test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let program = program.expect("the program starts");
    let called =
        || super::harness::received(test.folder(), "s").iter().any(|message| message["method"] == "tools/call");
    until("the call is made", called);
    kill(Pid::from_raw(i32::try_from(program.id()).expect("a process id")), signal).expect("the program is there");
    wait(program, Duration::from_secs(20)).status
}

#[test]
fn every_exit_code_of_the_readme_is_real_and_there_is_no_other() {
    let demo = |words: &[&str]| Test::new().demo().args(words.iter().copied()).run_any().status;
    let silent = Fake::new().tool("t").on_call([Step::Expect(json!({"method": "notifications/cancelled"}))]);
    let silent = Test::new().server("s", &silent).args(["call", "s", "t", "--timeout", "0.3"]);
    let closed = Server::start(|_, reply| reply.respond(401, "WWW-Authenticate: Bearer\r\n", b""));
    let seen = [
        (0, demo(&["call", "forms", "greet", "--answer", "name=Ada"])),
        (1, demo(&["call", "forms", "fail"])),
        (2, demo(&["call", "forms", "greet", "--nonsense"])),
        (3, demo(&["call", "nowhere", "greet"])),
        (4, demo(&["tools", "--", "false"])),
        (5, demo(&["tools", &closed.url("/mcp")])),
        (6, demo(&["call", "forms", "nothing"])),
        (7, silent.run_any().status),
        (8, demo(&["call", "forms", "greet"])),
        (75, demo(&["call", "forms", "greet", "--defer", "call.json"])),
        (130, ended_by(Signal::SIGINT)),
        (143, ended_by(Signal::SIGTERM)),
    ];
    for (code, status) in seen {
        assert_eq!(status, Some(code));
    }
    assert_eq!(documented(), seen.into_iter().map(|(code, _)| code).collect());
}
