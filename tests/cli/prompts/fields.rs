use serde_json::json;

use super::{asks, key, schema};

#[test]
fn a_text_is_refused_with_its_reason_and_kept() {
    let form = schema(
        &json!({"name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 20,
        "description": "As on your passport"}}),
        &["name"],
    );
    let person = asks(&form).at_terminal(24, 80);
    person.see("forms asks, during greet").see("│ Welcome!").see("required, 2 to 20 characters");
    person.see("│ As on your passport").see("Enter sends").see("Esc menu").see("Ctrl-C cancel the question");
    person.send("A\r").see("✗ A is too short: 2 to 20 characters").see_typed("› A");
    person.send("da\r").see("✓ sent to forms").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "accept", "content": {"name": "Ada"}}));
}

#[test]
fn numbers_mail_and_yes_or_no_without_titles() {
    let form = schema(
        &json!({
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "name": {"type": "string", "minLength": 2},
            "mail": {"type": "string", "format": "email"},
            "height": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
            "agree": {"type": "boolean"},
        }),
        &["age", "name", "mail", "height", "agree"],
    );
    let person = asks(&form).at_terminal(24, 80);
    person.see("1 of 5").fill("age", "130").see("✗ 130 is above the maximum, 120").see_typed("› 130");
    person.send(key::BACKSPACE).send("\r").see("2 of 5");
    person.fill("name", "x").see("✗ x is too short").send("y\r").see("3 of 5");
    person.fill("mail", "nobody").see("✗ nobody is not an e-mail address").send("@a.example\r").see("4 of 5");
    person.fill("height", "0.7").see("✗ 0.7 is not a multiple").send(key::CTRL_U).send("1.5\r").see("5 of 5");
    person.see("yes    no").send("perhaps\r").see("✗ perhaps is neither yes nor no");
    person.send("\r").see("✗ choose yes or no").send("y\r");
    person.review_and_send().see("done");
    let content = json!({"age": 13, "name": "xy", "mail": "nobody@a.example", "height": 1.5, "agree": true});
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "accept", "content": content}));
}

#[test]
fn a_default_of_true_is_never_inverted() {
    for (keys, value) in [("\r", true), ("true\r", true), ("yes\r", true), ("perhaps\r\r", true), ("no\r", false)] {
        let form = schema(&json!({"keep": {"type": "boolean", "default": true}}), &["keep"]);
        let person = asks(&form).at_terminal(24, 80);
        person.see("› yes    no");
        for keys in keys.split_inclusive('\r') {
            person.send(keys);
        }
        person.see("done");
        let reply = person.end(0).reply("forms", "ask-1");
        assert_eq!(reply, json!({"action": "accept", "content": {"keep": value}}), "{keys:?}");
    }
}

#[test]
fn an_optional_yes_or_no_can_be_left_out_and_moved_over() {
    let form = schema(&json!({"news": {"type": "boolean"}}), &[]);
    for (keys, content) in
        [("\r", json!({})), ("\x1b[C\r", json!({"news": true})), ("\x1b[D\r", json!({"news": false}))]
    {
        let person = asks(&form).at_terminal(24, 80);
        person.see("› leave it out").send(keys).see("done");
        assert_eq!(person.end(0).reply("forms", "ask-1")["content"], content);
    }
}

#[test]
fn choices_show_titles_and_send_values() {
    let form = schema(
        &json!({
            "airport": {"type": "string", "enum": ["lax", "sfo"], "enumNames": ["Los Angeles", "San Francisco"],
                "default": "sfo"},
            "plan": {"oneOf": [{"const": "go", "title": "Go on", "description": "no card needed"},
                {"const": "why", "title": "Explain first"}]},
            "level": {"enum": [1, 2, 3]},
        }),
        &["airport", "plan"],
    );
    let person = asks(&form).at_terminal(24, 80);
    person.see("  Los Angeles").see("› San Francisco").see("↑↓ move · Enter choose").send(key::ENTER);
    person.see("› Go on").see("no card needed").see("  Explain first").send(key::DOWN).see("› Explain first");
    person.send(key::ENTER).see("› leave it out").send(key::DOWN).send(key::DOWN).see("› 2").send(key::ENTER);
    person.see("San Francisco").see("Explain first").review_and_send().see("done");
    let content = json!({"airport": "sfo", "plan": "why", "level": 2});
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], content);
}

#[test]
fn a_multiple_choice_is_checked_and_kept() {
    let items = json!({"anyOf": [{"const": "r", "title": "Releases"}, {"const": "s", "title": "Security"},
        {"const": "e", "title": "Events"}]});
    let topics = json!({"type": "array", "title": "Topics", "minItems": 1, "maxItems": 2, "items": items});
    let person = asks(&schema(&json!({"topics": topics}), &["topics"])).at_terminal(24, 80);
    person.see("choose 1 to 2").see("0 chosen").send(key::ENTER).see("✗ nothing is chosen");
    person.send(" ").see("› [x] Releases").see("1 chosen").send(key::DOWN).send(" ").send(key::DOWN).send(" ");
    person.see("3 chosen").send(key::ENTER).see("✗ 3 are chosen").see("[x] Releases").see("[x] Events");
    person.send(" ").see("[ ] Events").send(key::ENTER).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"topics": ["r", "s"]}));
}

#[test]
fn optional_fields_are_left_out_by_enter_and_defaults_can_be_refused() {
    let form = schema(
        &json!({
            "note": {"type": "string"},
            "city": {"type": "string", "default": "Paris"},
            "land": {"type": "string", "default": "France"},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        }),
        &[],
    );
    let person = asks(&form).at_terminal(24, 80);
    person.see("1 of 4").see("empty leaves it out").send("\r");
    person.see("2 of 4").see_typed("› Paris").see("Ctrl-U, Enter leaves it out").send(key::CTRL_U).send("\r");
    person.see("3 of 4").see_typed("› France").send("\r");
    person.see("4 of 4").see("choose nothing to leave it out").send("\r");
    person.see("Change city   left out").review_and_send().see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"land": "France"}));
}

#[test]
fn a_secret_is_masked_warned_about_and_asked_twice() {
    let form = schema(&json!({"password": {"type": "string", "title": "Password"}}), &["password"]);
    let person = asks(&form).at_terminal(24, 80);
    person.see("! secrets do not belong in forms: forms will be able to read it").send("hunter2\r");
    person.see("Password, again").send("hunter\r").see("✗ the two do not match").send("hunter2");
    person.see_typed("› •••••••").send("\r").see("Password, again").send("hunter2\r").see("••••••").see("done");
    assert!(!person.written().contains("hunter"), "the secret was shown");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"password": "hunter2"}));
}

#[test]
fn what_cannot_be_drawn_is_asked_for_as_json() {
    let list = json!({"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}});
    let person = asks(&schema(&json!({"points": list}), &["points"])).at_terminal(24, 80);
    person
        .see("required, JSON")
        .send("[{\"x\":\r")
        .see("is not JSON")
        .see_typed("› [{\"x\":")
        .send("1}]\r")
        .see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"points": [{"x": 1}]}));
}

#[test]
fn a_form_without_fields_is_a_confirmation() {
    let ask = || asks(&json!({"type": "object", "properties": {}})).at_terminal(24, 80);
    for (downs, reply) in [
        (0, json!({"action": "accept", "content": {}})),
        (1, json!({"action": "decline"})),
        (2, json!({"action": "cancel"})),
    ] {
        let person = ask();
        person.see("│ Welcome!").see("  Accept").see("Decline   forms is told that you said no").see("Cancel");
        person.send(&key::DOWN.repeat(downs + 1)).send(key::ENTER).see("done");
        assert_eq!(person.end(0).reply("forms", "ask-1"), reply);
    }
}

#[test]
fn keys_of_fields_and_text_that_does_harm() {
    let form = schema(
        &json!({"n": {"type": "string", "title": "Na\u{1b}[2Jme", "description": "one\u{202e}two\n✗ 3 is wrong"}}),
        &["n"],
    );
    let person = asks(&form).at_terminal(24, 80);
    person.see("Na\\u{1b}[2Jme (n)").see("│ one\\u{202e}two").see("│ ✗ 3 is wrong").send("x\r").see("done");
    person.end(0);
}

#[test]
fn standard_input_may_carry_data_while_a_person_is_asked() {
    let form = schema(&json!({"name": {"type": "string"}, "pick": {"enum": ["x", "y"]}}), &["name", "pick"]);
    let person = asks(&form).args(["--args", "-"]).stdin("{}").at_terminal_with_stdin(24, 80);
    person.see("1 of 2").send("Ada\r").see("› x").send(key::DOWN).see("› y").send("\r").review_and_send().see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"name": "Ada", "pick": "y"}));
}
