use serde_json::json;

use super::{asks, key, schema};

fn form() -> serde_json::Value {
    schema(
        &json!({
            "name": {"type": "string", "minLength": 2},
            "keep": {"type": "boolean", "default": true},
            "pick": {"oneOf": [{"const": "x", "title": "First"}, {"const": "y", "title": "Second"}]},
            "some": {"type": "array", "minItems": 1, "items": {"enum": ["p", "q", "r"]}},
            "password": {"type": "string"},
        }),
        &["name", "keep", "pick", "some"],
    )
}

#[test]
fn a_terminal_without_a_cursor_gets_lines_and_numbers() {
    let person = asks(&form()).env("TERM", "dumb").at_terminal(60, 80);
    person.see("forms asks, during greet").see("| Welcome!").see("> ").send("A\r").see("x A is too short").send("da\r");
    person.see("type yes or no; Enter alone takes yes").send("\r");
    person.see("   1 First").see("   2 Second").send("9\r").see("x choose a number from 1 to 2").send("2\r");
    person.see("   1 [ ] p").send("1, 3\r");
    person.see("password  ").see("! secrets").send("hunter2").see("*******").send("\r").see("again").send("hunter2\r");
    person.see("What forms will receive").see("   1 Send").send("1\r").see("sent to forms").see("done");
    let written = person.written();
    assert!(!written.contains('\u{1b}'), "an escape sequence: {written:?}");
    let content = json!({"name": "Ada", "keep": true, "pick": "y", "some": ["p", "r"], "password": "hunter2"});
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], content);
}

#[test]
fn a_plain_terminal_can_step_back_correct_and_cancel() {
    let person = asks(&form()).env("TERM", "dumb").at_terminal(60, 80);
    person.see("> ").send("Adx").send(key::BACKSPACE).send("a\r").see("type yes or no").send(key::ESCAPE);
    person
        .see_times("> Ada", 2)
        .send(key::ESCAPE)
        .see("Leave this question?")
        .see("   2 Decline")
        .send("2\r")
        .see("declined");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "decline"}));
    let person = asks(&form()).env("TERM", "dumb").at_terminal(60, 80);
    person.see("> ").send("half").send(key::CTRL_C).see("cancelled").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
}

#[test]
fn no_color_means_no_colours() {
    let colours = |person: &super::AtTerminal| {
        let written = person.written();
        let codes = written.split("\u{1b}[").skip(1);
        codes.filter(|code| code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')).count()
    };
    let person = asks(&form()).env("NO_COLOR", "1").at_terminal(24, 80);
    person.see("Ctrl-C cancel the question").send(key::CTRL_C).see("done");
    assert_eq!(colours(&person), 0, "{:?}", person.written());
    person.end(0);
    let person = asks(&form()).at_terminal(24, 80);
    person.see("Ctrl-C cancel the question").send(key::CTRL_C).see("done");
    assert!(colours(&person) > 0);
    person.end(0);
}
