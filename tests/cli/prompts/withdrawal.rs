use serde_json::{Value, json};

use super::{AtTerminal, Step, Test, key, request, schema, script, two_texts};

/// The server asks, withdraws the question when a file appears, and asks something else.
fn withdrawing(form: &Value) -> Test {
    let next = schema(&json!({"other": {"type": "string"}}), &["other"]);
    script([
        request("ask-1", "First?", form),
        Step::ExpectFile("withdraw".into()),
        Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": "ask-1"}})),
        request("ask-2", "Second?", &next),
        Step::Expect(json!({"id": "ask-2"})),
    ])
}

fn withdraws(form: &Value) -> AtTerminal {
    withdrawing(form).at_terminal(24, 80)
}

#[test]
fn a_plain_terminal_goes_on_with_a_line_of_its_own() {
    let person = withdrawing(&two_texts()).env("TERM", "dumb").at_terminal(24, 80);
    person.see("First?").see("> ").send("half").see("> half").write_file("withdraw").see("Second?");
    person.see_times("> ", 2).send("x\r").see("done");
    assert_eq!(person.end(0).reply("forms", "ask-2")["content"], json!({"other": "x"}));
}

#[test]
fn a_withdrawn_question_disappears_while_it_is_typed() {
    let person = withdraws(&two_texts());
    person.see("First?").send("half of it").see_typed("› half of it").write_file("withdraw");
    person.see("Second?").gone("First?").see("withdrew its question").see_typed("› ").send("x\r").see("done");
    let ended = person.end(0);
    assert_eq!(ended.reply("forms", "ask-2")["content"], json!({"other": "x"}));
    assert!(
        ended.received("forms").iter().all(|message| message["id"] != "ask-1"),
        "a withdrawn question was answered"
    );
}

#[test]
fn a_withdrawn_question_disappears_in_every_kind_of_prompt() {
    let any = json!({"type": "array", "items": {"enum": ["p", "q"]}});
    for (field, seen) in
        [(json!({"enum": ["p", "q"]}), "› p"), (any, "› [ ] p"), (json!({"type": "boolean"}), "yes    no")]
    {
        let person = withdraws(&schema(&json!({"field": field}), &["field"]));
        person.see("First?").see(seen).send(key::DOWN).write_file("withdraw");
        person.see("Second?").gone("First?").send("x\r").see("done");
        assert_eq!(person.end(0).reply("forms", "ask-2")["content"], json!({"other": "x"}));
    }
}

#[test]
fn the_result_appears_without_a_key_press() {
    let person = script([
        request("ask-1", "First?", &two_texts()),
        Step::ExpectFile("withdraw".into()),
        Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": "ask-1"}})),
    ]);
    let person = person.at_terminal(24, 80);
    person.see("First?").send("half").see_typed("› half").write_file("withdraw").see("done").gone("First?");
    person.end(0);
}

#[test]
fn a_server_that_dies_takes_its_question_with_it() {
    let test = script([request("ask-1", "First?", &two_texts()), Step::ExpectFile("withdraw".into()), Step::Exit(3)]);
    let person = test.at_terminal(24, 80);
    person.see("First?").send("half").write_file("withdraw").gone("First?");
    person.end(4);
}

#[test]
fn an_editor_is_ended_with_the_question() {
    let editor = "sh -c 'echo in the editor; exec sleep 60'";
    let person = withdrawing(&two_texts()).env("EDITOR", editor).at_terminal(24, 80);
    person.see("First?").send(key::CTRL_O).see("in the editor").write_file("withdraw");
    person.see("Second?").send("x\r").see("done");
    person.end(0);
}
