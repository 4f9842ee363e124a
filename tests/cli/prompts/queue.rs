use serde_json::json;

use super::{Step, key, request, schema, script};

fn one_text() -> serde_json::Value {
    schema(&json!({"name": {"type": "string"}}), &["name"])
}

fn three() -> super::Test {
    let asks = (1..=3).map(|n| request(&format!("ask-{n}"), &format!("Question {n}?"), &one_text()));
    script(asks.chain((1..=3).map(|n| Step::Expect(json!({"id": format!("ask-{n}")})))))
}

#[test]
fn questions_wait_for_their_turn() {
    let person = three().at_terminal(24, 80);
    person.see("2 more waiting").see("Question 1?").send("a\r").see("Question 2?").see("1 more waiting").send("b\r");
    person.see("Question 3?").see("› ").gone("more waiting").send("c\r").see("done");
    let ended = person.end(0);
    for (n, name) in [(1, "a"), (2, "b"), (3, "c")] {
        let reply = ended.reply("forms", &format!("ask-{n}"));
        assert_eq!(reply, json!({"action": "accept", "content": {"name": name}}));
    }
}

#[test]
fn all_that_wait_can_be_cancelled() {
    let person = three().at_terminal(24, 80);
    person.see("2 more waiting").send(key::ESCAPE).see("Cancel all   this one and 2 more").send(key::UP);
    person.see("› Cancel all").send(key::ENTER).see("done");
    let ended = person.end(0);
    for n in 1..=3 {
        assert_eq!(ended.reply("forms", &format!("ask-{n}")), json!({"action": "cancel"}));
    }
}

#[test]
fn a_server_that_asks_too_much_is_questioned_itself() {
    let turns = |n: usize| {
        [
            request(&format!("ask-{n}"), &format!("Question {n}?"), &one_text()),
            Step::Expect(json!({"id": format!("ask-{n}")})),
        ]
    };
    let person = script((1..=22).flat_map(turns)).at_terminal(24, 80);
    for n in 1..=20 {
        person.see(&format!("Question {n}?")).see_typed("› ").send("x\r");
    }
    person
        .see("forms has asked 20 questions, during greet")
        .send(key::DOWN)
        .see("› Go on")
        .send(key::DOWN)
        .see("› Cancel all")
        .send(key::ENTER)
        .see("done");
    let ended = person.end(0);
    assert_eq!(ended.reply("forms", "ask-20")["action"], "accept");
    assert_eq!(ended.reply("forms", "ask-21"), json!({"action": "cancel"}));
    assert_eq!(ended.reply("forms", "ask-22"), json!({"action": "cancel"}));
}

#[test]
fn what_is_said_meanwhile_waits_for_the_prompt() {
    for mode in ["text", "events"] {
        let log = json!({"method": "notifications/message", "params": {"level": "error", "data": "the disk is full"}});
        let test = script([
            request("ask-1", "Which name?", &one_text()),
            Step::ExpectFile("go-on".into()),
            Step::Send(log),
            Step::Send(json!({"id": "ping-1", "method": "ping"})),
            Step::Expect(json!({"id": "ping-1"})),
            Step::Expect(json!({"id": "ask-1"})),
        ]);
        let person = test.args(["-o", mode]).at_terminal(24, 80);
        person.see("│ Which name?").see("› ").send("Ada").see_typed("› Ada").write_file("go-on");
        person.wait_for_reply("forms", "ping-1");
        assert!(!person.screen().contains("the disk is full"));
        person.send("\r").see("the disk is full").see("done");
        person.end(0);
    }
}
