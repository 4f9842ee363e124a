//! The command line itself.

use super::harness::Test;

#[test]
fn near_misses_of_options_and_commands_are_named() {
    Test::new().args(["cal"]).status(2).stdout("").stderr_contains("hint: a similar subcommand exists: 'call'").run();
    Test::new().args(["call", "--cwdd", "x"]).status(2).stderr_contains("'--cwd'").run();
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
fn an_argument_that_is_spelled_as_an_option_is_put_right() {
    let test = Test::new().args(["call", "forms", "greet", "--qty=5"]).status(2);
    test.stderr_contains("hint: what is for the tool is written key=value").run();
}

#[test]
fn help_and_version_are_output() {
    Test::new().args(["--help"]).stdout_contains("toolnexus call forms greet").stderr("").run();
    Test::new().args(["call", "--help"]).stdout_contains("-- COMMAND...").stderr("").run();
    Test::new().args(["--version"]).stdout(concat!("toolnexus ", env!("CARGO_PKG_VERSION"), "\n")).stderr("").run();
}
