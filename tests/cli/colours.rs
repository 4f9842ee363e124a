//! When text is coloured.

use super::harness::Test;

#[test]
fn only_terminals_get_colours_unless_something_else_is_said() {
    let wrong = |test: Test, is_coloured: bool| {
        let run = test.args(["call", "forms"]).status(2).run();
        let beginning = if is_coloured { "\u{1b}[1;31merror:\u{1b}[0m " } else { "error: " };
        assert!(run.stderr.starts_with(beginning), "{:?}", run.stderr);
        assert_eq!(run.stderr.contains("\u{1b}[36mhint:\u{1b}[0m "), is_coloured, "{:?}", run.stderr);
    };
    wrong(Test::new().demo(), false);
    wrong(Test::new().demo().env("CLICOLOR_FORCE", "1"), true);
    wrong(Test::new().demo().env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"), false);
    wrong(Test::new().demo().args(["--color", "always"]).env("NO_COLOR", "1"), true);
    wrong(Test::new().demo().args(["--color=never"]).env("CLICOLOR_FORCE", "1"), false);
    Test::new().args(["--color", "mauve", "tools"]).status(2).stderr_contains("auto, always, never").run();
}

#[test]
fn a_terminal_gets_them_unless_nobody_wants_them() {
    for (test, is_coloured) in [
        (Test::new().demo(), true),
        (Test::new().demo().env("NO_COLOR", "1"), false),
        (Test::new().demo().args(["--color", "never"]), false),
        (Test::new().demo().env("TERM", "dumb"), false),
    ] {
        let person = test.args(["call", "forms"]).at_terminal(24, 80);
        person.see("error: ");
        let written = person.all_written();
        person.end(2);
        assert_eq!(written.contains("\u{1b}[1;31m"), is_coloured, "{written:?}");
    }
}

#[test]
fn what_is_printed_as_json_has_none() {
    let test = Test::new().demo().args(["--color", "always", "-o", "json", "call", "forms"]).status(2);
    assert_eq!(test.run().error()["code"], "usage");
}
