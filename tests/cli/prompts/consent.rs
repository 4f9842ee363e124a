//! A person agrees only to what they read and chose: not with a key that was already down, not with a letter or a
//! space.

use serde_json::{Value, json};

use super::{Step, asks, key, request, schema, script, two_texts};

/// The key repeat intervals of keyboards, in milliseconds.
const REPEATS: [u64; 3] = [33, 100, 200];

/// The question is cancelled. On a busy machine the repeats of a held key can come so far apart that each counts as a
/// separate press, so there are two more attempts.
#[track_caller]
fn nothing_is_accepted(what: &str, mut attempt: impl FnMut() -> Value) {
    let is_cancelled = (0..3).any(|_| attempt() == json!({"action": "cancel"}));
    assert!(is_cancelled, "{what} was accepted three times over");
}

#[test]
fn a_held_enter_accepts_nothing() {
    let optional = schema(&json!({"age": {"type": "integer"}, "plan": {"enum": ["free", "pro"]}}), &[]);
    let one = schema(&json!({"keep": {"type": "boolean", "default": true}}), &["keep"]);
    let confirm = schema(&json!({}), &[]);
    for pause in REPEATS {
        for form in [&optional, &one, &confirm] {
            nothing_is_accepted(&format!("{pause} ms: {form}"), || {
                let person = asks(form).at_terminal(24, 80);
                person.hold(key::ENTER, pause).send(key::CTRL_C).see("done");
                person.end(0).reply("forms", "ask-1")
            });
        }
    }
}

#[test]
fn what_was_being_typed_for_something_else_is_not_sent() {
    let of = |field: Value| schema(&json!({"answer": field}), &["answer"]);
    let text = of(json!({"type": "string"}));
    let choice = of(json!({"enum": ["x", "y", "z"]}));
    let yes_or_no = of(json!({"type": "boolean"}));
    let several = of(json!({"type": "array", "items": {"enum": ["x", "y"]}}));
    for (form, keys) in
        [(&text, "x\r"), (&choice, "y\r"), (&choice, "\x1b[B\r"), (&yes_or_no, "y\r"), (&several, " \r")]
    {
        nothing_is_accepted(&format!("{form}: {keys:?}"), || {
            let person = asks(form).at_terminal(24, 80);
            person.hold(keys, 50).send(key::CTRL_C).see("done");
            person.end(0).reply("forms", "ask-1")
        });
    }
    nothing_is_accepted("a line on a plain terminal", || {
        let person = asks(&text).env("TERM", "dumb").at_terminal(24, 80);
        person.hold("x\r", 50).send(key::CTRL_C).see("done");
        person.end(0).reply("forms", "ask-1")
    });
}

#[test]
fn what_was_typed_before_the_question_is_discarded() {
    let form = schema(&json!({"name": {"type": "string"}}), &["name"]);
    for columns in [80, 40] {
        let steps =
            [Step::ExpectFile("ask".into()), request("ask-1", "Welcome!", &form), Step::Expect(json!({"id": "ask-1"}))];
        let person = script(steps).at_terminal(24, columns);
        person.wait_for_request("forms", "tools/call").send_at_once("rm -rf\rno").write_file("ask");
        person.see("Enter sends").see_typed("› ").send("Ada").see_typed("› Ada").send_at_once(key::ENTER).see("done");
        assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"name": "Ada"}));
    }
}

#[test]
fn what_was_typed_as_the_question_appeared_is_sent_by_another_enter() {
    let form = schema(&json!({"name": {"type": "string"}}), &["name"]);
    let person = asks(&form).at_terminal(24, 80);
    // Far more than fits into the pause after which Enter counts.
    person.see("Enter sends").hold("x\r", 50).see("✗ you typed this as the question appeared: Enter again sends it");
    person.send(key::ENTER).see("sent to forms").see("done");
    let content = person.end(0).reply("forms", "ask-1")["content"].clone();
    assert!(content["name"].as_str().is_some_and(|name| name.len() > 1 && name.chars().all(|c| c == 'x')), "{content}");
}

#[test]
fn one_object_is_reviewed_before_it_is_sent() {
    let trip = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let person = asks(&schema(&json!({"trip": trip}), &["trip"])).at_terminal(24, 80);
    person.see("trip: city").see("Enter next").send("Paris").send(key::ENTER);
    person.review_and_send().see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"trip": {"city": "Paris"}}));
    let person = asks(&schema(&json!({"trip": trip}), &[])).at_terminal(24, 80);
    person.see("leave it out").see("Enter choose").send(key::ENTER).review_and_send().see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({}));
}

#[test]
fn a_held_enter_opens_no_link_and_starts_no_server() {
    let params = json!({"mode": "url", "message": "Go.", "url": "https://a.example/"});
    let ask = Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params}));
    nothing_is_accepted("a link", || {
        let person = script([ask.clone(), Step::Expect(json!({"id": "ask-1"}))]).at_terminal(24, 80);
        person.hold(key::ENTER, 33).see("a.example").send(key::CTRL_C).see("done");
        person.end(0).reply("forms", "ask-1")
    });
}

#[test]
fn a_key_for_a_withdrawn_question_does_not_answer_the_next() {
    let withdraw = Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": "ask-1"}}));
    let person = script([
        request("ask-1", "First?", &schema(&json!({}), &[])),
        Step::ExpectFile("withdraw".into()),
        withdraw,
        request("ask-2", "Really delete everything?", &schema(&json!({}), &[])),
        Step::Expect(json!({"id": "ask-2"})),
    ])
    .at_terminal(24, 80);
    person.see("First?").send("y").see("› Accept").write_file("withdraw").see("Really delete");
    person.send_at_once(key::ENTER).send_at_once("y").send_at_once(key::ENTER);
    person.send(key::ENTER).see("choose first").send(key::CTRL_C).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-2"), json!({"action": "cancel"}));
}

#[test]
fn words_are_no_consent() {
    for (words, action) in
        [("n\r", "decline"), ("no\r", "decline"), ("no thanks\r", ""), ("maybe\r", ""), (" \r", ""), ("y\r", "accept")]
    {
        let person = asks(&schema(&json!({}), &[])).at_terminal(24, 80);
        person.see("  Accept").send(words);
        if action.is_empty() {
            person.see("choose first").send(key::CTRL_C);
        }
        person.see("done");
        let action = if action.is_empty() { "cancel" } else { action };
        assert_eq!(person.end(0).reply("forms", "ask-1")["action"], action, "{words:?}");
    }
    let params = json!({"mode": "url", "message": "Go.", "url": "https://a.example/"});
    let ask = Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params}));
    let person = script([ask, Step::Expect(json!({"id": "ask-1"}))]).at_terminal(24, 80);
    person.see("  Open it in the browser").send("is this safe\r").see("choose first");
    person.send(key::ESCAPE).see("Leave this question?").send(key::DOWN).see("› Decline").send(key::ENTER).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "decline"}));
}

#[test]
fn nothing_is_marked_in_a_review_until_somebody_moves() {
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.fill("name", "Ada").fill("town", "Paris").see("What forms will receive").see("  Send");
    person.send(key::ENTER).see("choose first").send("s").send(" ").send(key::ENTER).see("  Send");
    person.send(key::DOWN).see("› Send").send(key::ENTER).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["action"], "accept");
}

#[test]
fn a_long_list_filters_as_one_types() {
    let countries: Vec<String> = (0..500).map(|n| format!("Country {n:03}")).collect();
    let form = schema(&json!({"country": {"enum": countries}, "note": {"type": "string"}}), &["country"]);
    for columns in [80, 40] {
        let person = asks(&form).at_terminal(24, columns);
        person.see("type to filter").see("› Country 000").see("page 1/").send("\x1b[6~").see("page 2/");
        person.send("country 42").see("filter: country 42").see("of 500").see("› Country 420");
        person.send(key::BACKSPACE).see("filter: country 4 ").send("99").see("› Country 499").see("1 of 500");
        person.send(key::ENTER).see("note").send(key::ENTER).see("Country 499").review_and_send().see("done");
        let content = person.end(0).reply("forms", "ask-1")["content"].clone();
        assert_eq!(content, json!({"country": "Country 499"}));
    }
}

#[test]
fn several_of_a_long_list_show_how_many_and_which_page() {
    let many: Vec<String> = (0..60).map(|n| format!("Topic {n}")).collect();
    let items = json!({"type": "array", "maxItems": 2, "items": {"type": "string", "enum": many}});
    let form = schema(&json!({"topics": items, "note": {"type": "string"}}), &[]);
    let person = asks(&form).at_terminal(24, 80);
    person.see("0 chosen").see("page 1/").send("7").see("› [ ] Topic 7").send(" ").see("1 chosen");
    person.send(key::ESCAPE).gone("filter:").see("› [x] Topic 7").send("59").see("Topic 59").send(" ").see("2 chosen");
    person.send("\x15").send(key::ENTER).see("note").send(key::CTRL_C).see("done");
    person.end(0);
}
