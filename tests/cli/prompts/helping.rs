use serde_json::{Value, json};

use super::{asks, key, request, schema, script};
use crate::harness::Step;

const CTRL_R: &str = "\x12";
const CTRL_T: &str = "\x14";
const END: &str = "\x1b[F";

#[test]
fn nothing_is_agreed_to_before_all_of_it_was_on_the_screen() {
    let message: Vec<String> = (1..=60).map(|line| format!("clause {line}")).collect();
    let ask = request("ask-1", &message.join("\n"), &schema(&json!({}), &[]));
    let person = script([ask, Step::Expect(json!({"id": "ask-1"}))]).at_terminal(24, 80);
    person.see("more lines, Ctrl-T shows them").see("Ctrl-T shows all the text").send("y").see("› Accept");
    person.send(key::ENTER).see("not all of the text has been shown: press Ctrl-T first");
    person.send(CTRL_T).see("lines 1 to 22 of 63").send(key::ESCAPE).see("Do you accept?");
    person.send("y").see("› Accept").send(key::ENTER).see("not all of the text has been shown");
    person.send(CTRL_T).see("clause 5").send(END).see("clause 60").see("Enter back").send(key::ENTER);
    person.see("Do you accept?").send("y").see("› Accept").send(key::ENTER).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "accept", "content": {}}));
}

#[test]
fn a_default_is_named_replaced_by_typing_and_brought_back() {
    let form = schema(&json!({"age": {"type": "integer", "default": 3}}), &["age"]);
    let person = asks(&form).at_terminal(24, 80);
    person.see("default 3").see_typed("› 3").send("11").see_typed("› 11").send(key::CTRL_U).see_typed("› ");
    person.send(CTRL_R).see_typed("› 3").send(key::LEFT).send("1").see_typed("› 1").send(key::ENTER).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"age": 13}));
}

#[test]
fn seconds_and_the_offset_are_filled_in_and_a_comma_is_explained() {
    let when = json!({"type": "string", "format": "date-time"});
    let form = schema(&json!({"when": when, "size": {"type": "number"}}), &["when", "size"]);
    let person = asks(&form).env("TZ", "UTC").at_terminal(24, 80);
    person.fill("when", "2026-01-31 09:30").see("2026-01-31T09:30:00Z").see("2 of 2");
    person
        .fill("size", "1,8")
        .see("write 1.8")
        .send(key::CTRL_U)
        .send("1.000,5\r")
        .see("write 1000.5")
        .send(key::CTRL_U)
        .send("1.8\r");
    person.review_and_send().see("done");
    let content = json!({"when": "2026-01-31T09:30:00Z", "size": 1.8});
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], content);
    // Without a review, the value that will be sent is shown first.
    let person = asks(&schema(&json!({"when": when}), &["when"])).env("TZ", "UTC").at_terminal(24, 80);
    person
        .see("when")
        .see_typed("› ")
        .send("2026-01-31 09:30\r")
        .see_typed("› 2026-01-31T09:30:00Z")
        .see("Enter sends");
    person.send(key::ENTER).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"when": "2026-01-31T09:30:00Z"}));
}

fn address() -> Value {
    json!({"type": "object", "required": ["street"], "properties": {
        "street": {"type": "string"}, "zip": {"type": "integer"}}})
}

#[test]
fn an_object_is_asked_key_by_key() {
    let form = schema(&json!({"home": address(), "work": address()}), &["home"]);
    let person = asks(&form).at_terminal(24, 80);
    person.fill("home: street", "Main St 1").fill("home: zip", "x").see("not a whole number");
    person.send(key::CTRL_U).send("123\r").see("› leave it out").send(key::ENTER);
    person.review_and_send().see("done");
    let content = json!({"home": {"street": "Main St 1", "zip": 123}});
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], content);
}

#[test]
fn a_list_of_objects_shows_its_keys_and_opens_with_a_template() {
    let form = schema(&json!({"homes": {"type": "array", "items": address()}}), &["homes"]);
    let editor = r#"sh -c 'sed -i "s/\"street\": null/\"street\": \"Main\"/; s/\"zip\": null/\"zip\": 7/" "$1"' sh"#;
    let person = asks(&form).env("EDITOR", editor).at_terminal(24, 80);
    person.see("each entry: street (required, text").see("zip (optional, whole number").send(key::CTRL_O);
    person.see_typed(r#"› [{"street":"Main","zip":7}]"#).send(key::ENTER).see("done");
    let content = json!({"homes": [{"street": "Main", "zip": 7}]});
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], content);
}

#[test]
fn an_error_goes_at_the_next_key() {
    let form =
        schema(&json!({"age": {"type": "integer", "minimum": 18}, "size": {"type": "number"}}), &["age", "size"]);
    for columns in [80, 40] {
        let person = asks(&form).at_terminal(24, columns);
        person.fill("age", "17").see("✗ 17 is below the minimum, 18").send(key::BACKSPACE).gone("✗").see_typed("› 1");
        person.send("9\r").see("2 of 2").send("x\r").see("✗ x is not a number").send("\x15").gone("✗").see_typed("› ");
        person.send(key::ENTER).see("✗ ");
        assert!(!person.screen().contains("leave it out"), "{}", person.screen());
        person.send(key::CTRL_C).see("done");
        person.end(0);
    }
}
