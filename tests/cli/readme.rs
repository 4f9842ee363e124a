//! What the README shows is what happens.

use super::harness::Test;

const README: &str = include_str!("../../README.md");
const EXAMPLE: &str = include_str!("../../mcp.example.json");

/// The lines of the transcript: each command with all that it prints.
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

#[test]
fn every_option_and_exit_code_of_the_readme_is_real() {
    let help = Test::new().args(["call", "--help"]).run().stdout;
    let options = README.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| word.starts_with("--"));
    let elsewhere = [
        "--",
        "--config",
        "--check",
        "--help",
        "--path",
        "--open",
        "--http",
        "--all-targets",
        "---",
        "--grep",
        "--watch",
        "--strict",
        "--all",
        "--dir",
    ];
    for option in options.filter(|option| !elsewhere.contains(option)) {
        assert!(help.contains(option), "{option}");
    }
}
