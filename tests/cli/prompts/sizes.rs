use serde_json::json;

use super::{asks, key, schema, two_texts};

#[test]
fn forty_columns() {
    let form = schema(
        &json!({
            "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 20},
            "plan": {"title": "Plan", "oneOf": [{"const": "a", "title": "Free plan",
                "description": "nothing to pay, now and for ever, as long as you like"}]},
        }),
        &["name", "plan"],
    );
    let person = asks(&form).at_terminal(20, 40);
    person.see("1 of 2").see("  required, 2 to 20 characters").see("Ctrl-C cancel").send("Ada\r");
    person.see("› Free plan").see("│ nothing to pay, now and for ever, as").send("\r");
    person.review_and_send().see("done");
    person.end(0);
}

#[test]
fn ten_rows_and_three() {
    let options: Vec<String> = (1..=40).map(|number| format!("option {number}")).collect();
    let form = schema(
        &json!({"name": {"type": "string", "description": "line\n".repeat(20)}, "pick": {"enum": options}}),
        &["name", "pick"],
    );
    for rows in [10, 3] {
        let person = asks(&form).at_terminal(rows, 80);
        person.see("name  ").see("1 of 2").send("Ada").see_typed("› Ada").send("\r");
        person.see("› option 1").send(key::DOWN).see("› option 2").send(key::UP).send(key::UP).see("› option 40");
        person.send("\r").see("Send").send("1").send("\r").see("done");
        let reply = person.end(0).reply("forms", "ask-1");
        assert_eq!(reply["content"], json!({"name": "Ada", "pick": "option 40"}));
    }
}

#[test]
fn two_rows_are_refused_with_the_reason() {
    let person = asks(&two_texts()).at_terminal(2, 200);
    let written = person.all_written();
    assert!(written.contains("the terminal has only 2 rows; a question needs "), "{written}");
    let ended = person.end(8);
    assert_eq!(ended.reply("forms", "ask-1"), json!({"action": "cancel"}));
}

#[test]
fn every_prompt_is_drawn_anew_in_another_size() {
    let form = schema(
        &json!({
            "name": {"type": "string"},
            "keep": {"type": "boolean"},
            "pick": {"enum": ["x", "y", "z"]},
            "some": {"type": "array", "items": {"enum": ["p", "q", "r"]}},
        }),
        &["name", "keep", "pick", "some"],
    );
    let person = asks(&form).at_terminal(24, 80);
    let once = |text: &str| {
        for (rows, columns) in [(20, 40), (10, 80), (24, 100), (24, 80)] {
            person.resize(rows, columns).see(text);
        }
        assert_eq!(person.screen().matches(text).count(), 1, "{}", person.screen());
    };
    person.see("1 of 4").send("Ada").see_typed("› Ada");
    once("› Ada");
    person.see_typed("› Ada").send("\r").see("2 of 4").send(key::RIGHT).see("› yes");
    once("› yes");
    person.send("\r").see("3 of 4").send(key::DOWN).see("› y");
    once("› y");
    person.send("\r").see("4 of 4").send(" ").see("[x] p").send(key::DOWN).send(" ").see("[x] q");
    once("[x] q");
    person.see("[x] p").send("\r").see("  Send").send(key::DOWN).send(key::DOWN).see("› Change name");
    once("› Change name");
    person.send(key::UP).see("› Send").send(key::ENTER).see("done");
    let content = json!({"name": "Ada", "keep": true, "pick": "y", "some": ["p", "q"]});
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], content);
}

/// A terminal that becomes shorter moves what is above the cursor into its scrollback: it has to be nothing.
#[test]
fn the_cursor_of_a_list_is_in_its_first_row() {
    let many: Vec<String> = (0..60).map(|n| format!("Topic {n}")).collect();
    let form = schema(&json!({"one": {"enum": many}, "note": {"type": "string"}}), &["one", "note"]);
    for columns in [80, 40] {
        let person = asks(&form).at_terminal(24, columns);
        person.see("page 1/").see_cursor_at("forms asks").send(key::DOWN).see("› Topic 1").see_cursor_at("forms asks");
        // The last page is shorter.
        person.send("\x1b[F").see("› Topic 59").see_cursor_at("forms asks").see("page 4/4");
        person
            .resize(12, columns)
            .gone("page 4/4")
            .resize(24, columns)
            .see("page 4/4")
            .see("› Topic 59")
            .send(key::ENTER)
            .see("2 of 2");
        assert_eq!(person.screen().matches("forms asks").count(), 1, "{}", person.screen());
        person.send(key::CTRL_C).see("done");
        person.end(0);
    }
}

#[test]
fn a_terminal_that_becomes_too_small_is_waited_for() {
    let form = schema(&json!({"pick": {"enum": ["x", "y"]}}), &["pick"]);
    let person = asks(&form).at_terminal(24, 80);
    person.see("› x").resize(2, 80).see("a larger terminal is needed").resize(24, 80).see("› x").send("\r").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"pick": "x"}));
}
