use nix::sys::signal::Signal;
use serde_json::json;

use super::{asks, key, schema, two_texts};

#[test]
fn escape_steps_back_and_opens_the_menu_on_the_first_field() {
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.fill("name", "Ada").see("2 of 2").send("Lon").send(key::ESCAPE).see("1 of 2").see_typed("› Ada");
    person.send("!").send(key::ESCAPE).see("Leave this question?").see("› Go on").send(key::ENTER);
    person.see("1 of 2").see_typed("› Ada!").send("\r").see("2 of 2").see_typed("› Lon").send("don\r");
    person.see("What forms will receive").send(key::ESCAPE).see("2 of 2").see_typed("› London").send("\r");
    person.review_and_send().see("done");
    let content = json!({"name": "Ada!", "town": "London"});
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "accept", "content": content}));
}

#[test]
fn the_end_of_input_deletes_steps_back_and_on_a_plain_terminal_cancels() {
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.see("1 of 2").send("Ada\x01").see_typed("› ").send(key::CTRL_D).see("› da").send(key::CTRL_U);
    person
        .send("\x0b")
        .gone("› da")
        .send(key::CTRL_D)
        .see("Leave this question?")
        .send(key::CTRL_C)
        .see("cancelled")
        .see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
    let person = asks(&two_texts()).env("TERM", "dumb").at_terminal(24, 80);
    person.see("> ").send(key::CTRL_D).see("cancelled").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
}

#[test]
fn a_field_is_changed_in_the_review() {
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.fill("name", "Ada").fill("town", "Paris").see("  Send").send(key::DOWN).send(key::DOWN).send(key::DOWN);
    person.see("› Change town   Paris").send(key::ENTER).see("Enter keep").see_typed("› Paris");
    person.send(key::CTRL_U).send("Rome\r").see("Change town   Rome").review_and_send().see("done");
    let content = json!({"name": "Ada", "town": "Rome"});
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], content);
}

#[test]
fn a_no_is_a_decline_and_a_closed_question_a_cancel() {
    for (downs, action) in [(1, "decline"), (2, "cancel")] {
        let person = asks(&two_texts()).at_terminal(24, 80);
        person.see("1 of 2").send(key::ESCAPE).see("Leave this question?").send(&key::DOWN.repeat(downs));
        person.send(key::ENTER).see("done");
        assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": action}));
    }
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.fill("name", "Ada").fill("town", "Paris").see("  Send").send(key::UP).send(key::UP).see("› Decline");
    person.send(key::ENTER).see("declined").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "decline"}));
}

#[test]
fn ctrl_c_cancels_the_question_and_the_call_goes_on() {
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.fill("name", "Ada").see("2 of 2").send("half").send(key::CTRL_C).see("cancelled").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
    // In a list, too.
    let form = schema(&json!({"c": {"enum": ["x", "y"]}}), &["c"]);
    let person = asks(&form).at_terminal(24, 80);
    person.see("› x").send(key::CTRL_C).see("cancelled").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
}

#[test]
fn an_interrupt_from_outside_belongs_to_the_prompt() {
    for (form, seen) in [(two_texts(), "1 of 2"), (schema(&json!({"c": {"enum": ["x", "y"]}}), &["c"]), "› x")] {
        let person = asks(&form).at_terminal(24, 80);
        person.see(seen).signal(Signal::SIGINT).see("cancelled").see("done");
        assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
    }
}

#[test]
fn ctrl_z_suspends_and_the_prompt_is_there_again() {
    let person = asks(&two_texts()).in_shell(24, 80);
    person.fill("name", "Ada").see("2 of 2").send("Lon").see_typed("› Lon").send(key::CTRL_Z);
    person.see("the shell").gone("2 of 2").is_whole().send("\r");
    person.see("2 of 2").see_typed("› Lon").send("don\r").review_and_send().see("done");
    let content = json!({"name": "Ada", "town": "London"});
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "accept", "content": content}));
    let form = schema(&json!({"c": {"enum": ["x", "y"]}}), &["c"]);
    let person = asks(&form).in_shell(24, 80);
    person.see("› x").send(key::DOWN).see("› y").send(key::CTRL_Z).see("the shell").gone("› y").is_whole().send("\r");
    person.see("› y").send("\r").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1")["content"], json!({"c": "y"}));
    let person = asks(&two_texts()).env("TERM", "dumb").in_shell(24, 80);
    person.see("1 of 2").send("Ad").see_typed("> Ad").send(key::CTRL_Z).see("the shell").is_whole().send("\r");
    person.see_typed("> Ad").send("a\r").see("2 of 2").send(key::CTRL_C).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
}

#[test]
fn where_no_shell_could_wake_it_ctrl_z_does_nothing() {
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.see("1 of 2").send("Ad").see_typed("› Ad");
    let times = person.written().matches("1 of 2").count();
    // It is redrawn, and nothing else.
    person.send(key::CTRL_Z).see_written_again("1 of 2", times).see_typed("› Ad").send("a\r");
    person.see("2 of 2").see("Ada").send(key::CTRL_C).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
}

#[test]
fn termination_leaves_the_terminal_whole() {
    for (signal, form) in
        [(Signal::SIGTERM, two_texts()), (Signal::SIGHUP, schema(&json!({"c": {"enum": [1, 2]}}), &[]))]
    {
        let person = asks(&form).at_terminal(24, 80);
        person.see("Ctrl-C cancel the question").signal(signal);
        person.end(143);
    }
}

#[test]
fn what_was_typed_ahead_is_no_consent() {
    let person = asks(&two_texts()).at_terminal(24, 80);
    person.fill("name", "Ada").see("2 of 2").send("Paris\r\r\r");
    person.see("  Send").send(key::DOWN).send(key::DOWN).see("› Change name").send(key::CTRL_C).see("done");
    assert_eq!(person.end(0).reply("forms", "ask-1"), json!({"action": "cancel"}));
}
