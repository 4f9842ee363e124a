//! The command line itself.

use serde_json::json;

use super::harness::{Fake, Test};

#[test]
fn near_misses_of_options_and_commands_are_named() {
    Test::new()
        .args(["cal"])
        .status(2)
        .stdout("")
        .stderr_contains("error: there is no command \"cal\"\nhint: did you mean call?")
        .run();
    Test::new().args(["call", "--cwdd", "x"]).status(2).stderr_contains("hint: did you mean --cwd?").run();
}

#[test]
fn usage_errors_are_json_where_json_was_asked_for() {
    let run = Test::new().args(["call", "-o", "json", "--nonsense"]).status(2).stdout("").run();
    assert_eq!((run.error()["code"].as_str(), run.error()["exit"].as_u64()), (Some("usage"), Some(2)));
    let run = Test::new().args(["-o=events", "nonsense"]).status(2).stdout("").run();
    assert_eq!(run.error()["code"], "usage");
    assert_eq!(run.stderr.lines().count(), 1);
}

#[test]
fn what_is_missing_is_named() {
    Test::new().args(["call"]).status(2).stderr_contains("SERVER and TOOL are missing").run();
    Test::new().args(["call", "forms"]).status(2).stderr_contains("`toolnexus tools forms` lists the tools").run();
    Test::new().args(["call", "--", "cat"]).status(2).stderr_contains("TOOL is missing").run();
    Test::new().status(2).stderr_contains("--help").run();
}

#[test]
fn help_and_version_are_output() {
    Test::new().args(["--help"]).stdout_contains("toolnexus call forms greet").stderr("").run();
    Test::new().args(["call", "--help"]).stdout_contains("-- COMMAND...").stderr("").run();
    Test::new().args(["--version"]).stdout(concat!("toolnexus ", env!("CARGO_PKG_VERSION"), "\n")).stderr("").run();
}

#[test]
fn options_may_stand_before_the_command() {
    let greet = ["call", "forms", "greet"];
    let words = ["--protocol", "2025-11-25", "--answer", "name=Ada", "-qo", "json"];
    let run = Test::new().demo().args(words).args(greet).run();
    assert_eq!(run.json()["content"][0]["text"], "Hello, Ada!");
    Test::new()
        .demo()
        .file("a.json", r#"{"name": "Bob"}"#)
        .args(["--answers=a.json", "call", "forms", "greet"])
        .stdout("Hello, Bob!\n")
        .run();
    let run = Test::new().demo().args(["-o", "json", "tools", "forms", "greet"]).run();
    assert_eq!(run.json()["servers"]["forms"]["tools"][0]["name"], "greet");
}

#[test]
fn options_of_other_commands_are_refused_by_name() {
    for words in [["--answers", "a.json", "tools", "forms"], ["tools", "forms", "--answers", "a.json"]] {
        let test = Test::new().demo().args(words).status(2).stdout("");
        test.stderr("error: --answers is not an option here\nhint: --answers is an option of call, read, prompt, shell and resume\n")
            .run();
    }
}

#[test]
fn without_a_command_the_help_is_shown_and_nothing_else() {
    let help = Test::new().args(["--help"]).run().stdout;
    Test::new().status(2).stdout("").stderr(&help).run();
    Test::new().args(["answers"]).status(2).stdout("").stderr_contains("Commands:\n  check ").run();
    let run = Test::new().args(["-o", "json"]).status(2).run();
    assert_eq!(run.error()["message"], "COMMAND is missing");
}

#[test]
fn words_in_the_wrong_place_lead_to_the_right_command() {
    for (words, told) in [
        (vec!["call", "greet", "forms", "name=Ada"], "did you mean `toolnexus call forms greet name=Ada`?"),
        (
            vec!["forms", "greet"],
            "it is a server: `toolnexus call forms TOOL` calls a tool, `toolnexus tools forms` lists them",
        ),
        (vec!["version"], "did you mean `toolnexus --version`?"),
        (vec!["import"], "hint: toolnexus import CLIENT|FILE [NAME]...\n"),
        (vec!["completions"], "SHELL is missing"),
    ] {
        let run = Test::new().demo().args(words.iter().copied()).stderr_contains(told);
        run.status(if words[0] == "call" { 3 } else { 2 }).run();
    }
}

#[test]
fn hints_can_be_pasted() {
    let hint = "hint: `toolnexus tools forms greet` shows what greet takes\n";
    Test::new().demo().args(["call", "forms", "greet", "x=1"]).status(2).stderr_contains(hint).run();
    let tool = Fake::new().tool_with("my tool", &json!({"type": "object", "required": ["q"], "properties": {"q": {}}}));
    let test = Test::new().server("s", &tool).args(["call", "s", "my tool"]).status(2);
    test.stderr("error: my tool needs q\nhint: give q=…; `toolnexus tools s 'my tool'` shows all arguments\n").run();
}
