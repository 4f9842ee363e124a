use std::fs;

use serde_json::json;

use super::{asks, key, schema, two_texts};

fn one_text() -> serde_json::Value {
    schema(&json!({"name": {"type": "string"}}), &["name"])
}

#[test]
fn wide_and_combined_characters() {
    let person = asks(&one_text()).at_terminal(24, 80);
    person.see("› ").send("漢字かな").see_typed("› 漢字かな").send(key::BACKSPACE).see_typed("› 漢字か");
    person.send(key::LEFT).send(key::LEFT).send(key::BACKSPACE).see("› 字か").see_typed("› ");
    person.send("e\u{301}").see_typed("› e\u{301}").send(key::BACKSPACE).see_typed("› ");
    person.send("🎉").see_typed("› 🎉").see("› 🎉字か").send("\r").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"name": "🎉字か"}));
}

#[test]
fn keys_of_a_line_editor() {
    let person = asks(&one_text()).at_terminal(24, 80);
    person.see("› ").send("one two three").see_typed("› one two three");
    person.send("\x1b[H").see_typed("› ").send("\x1b[1;5C").see_typed("› one").send("\x1bf").see_typed("› one two");
    person.send("\x1bb").see_typed("› one ").send("\x0b").gone("two").send("\x1b[F").see_typed("› one ");
    person.send("\x01").see_typed("› ").send("\x1b[3~").see("› ne").send("\x05").see_typed("› ne ");
    person.send("x y\x17").see_typed("› ne x ").send("\x1b[1;5D\x15").see_typed("› ").see("› x").send("\r").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"name": "x "}));
}

#[test]
fn two_pasted_lines_are_one_and_press_no_key() {
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.see("1 of 2").send("\x1b[200~one\r\ntwo\n\x1b[201~").see_typed("› one two").see("1 of 2");
    person.see("pasted as one line: each line break became a space").send("\r");
    person.see("2 of 2").send("x\r").review_and_send().see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"name": "one two", "town": "x"}));
}

#[test]
fn a_paste_chooses_and_marks_nothing_in_a_list() {
    let form = schema(
        &json!({"one": {"enum": ["x", "y", "z"]}, "some": {"type": "array", "items": {"enum": ["p", "q"]}}}),
        &["one", "some"],
    );
    let person = asks(&form).at_terminal(24, 80);
    person.see("› x").send("\x1b[200~jq \r\nfoo\n\x1b[201~").send(key::DOWN).see("› y").send(key::ENTER);
    person.see("› [ ] p").send("\x1b[200~a j\r\n\x1b[201~").send(key::DOWN).see("› [ ] q").send(" ").see("› [x] q");
    person.see("1 chosen").send(key::ENTER).review_and_send().see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"one": "y", "some": ["q"]}));
}

#[test]
fn long_text_scrolls_in_one_line() {
    let person = asks(&one_text()).at_terminal(24, 40);
    let text = "abcdefghij".repeat(8);
    person.see("› ").send(&text).see("…").see("abcdefghij").send("\x01").see("› abcdefghij").see_typed("› ");
    assert_eq!(person.screen().matches("› ").count(), 1);
    person.send("\r").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"name": text}));
}

#[test]
fn an_editor_of_their_own_writes_many_lines() {
    let script =
        "#!/bin/sh\nstat -c %a \"$1\" > mode\ncat \"$1\" > before\nprintf 'first\\nsecond\\n' > \"$1\"\necho edited\n";
    let test = asks(&one_text()).file("editor", script);
    let folder = test.folder().to_owned();
    let person = test.env("EDITOR", "sh editor").at_terminal(24, 80);
    person.see("Ctrl-O editor").send("draft").see_typed("› draft").send(key::CTRL_O);
    person.see_typed("› first⏎second").send("\r").see("done");
    assert_eq!(fs::read_to_string(folder.join("mode")).expect("it ran"), "600\n");
    assert_eq!(fs::read_to_string(folder.join("before")).expect("it ran"), "draft");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"name": "first\nsecond"}));
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    for (editor, reason) in
        [("false", "✗ false: it ended with"), ("/nowhere/vi", "✗ /nowhere/vi: "), ("", "are not set")]
    {
        let person = asks(&one_text()).env("EDITOR", editor).at_terminal(24, 80);
        person.see("› ").send("draft").send(key::CTRL_O).see(reason).see_typed("› draft").send("\r").see("done");
        assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"name": "draft"}));
    }
}
