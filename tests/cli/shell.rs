use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

const ENTER: &str = "\r";
const TAB: &str = "\t";
const UP: &str = "\x1b[A";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

fn person() -> Value {
    json!({"content": [{"type": "text", "text": "found"}], "structuredContent": {"name": "Ada Lovelace", "ids": [7, 8]}})
}

fn done() -> Step {
    Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}))
}

fn fake() -> Fake {
    let properties =
        json!({"name": {"type": "string"}, "id": {"type": "integer"}, "kind": {"enum": ["file", "folder"]}});
    Fake::new().tool("greet").tool_with("save", &json!({"type": "object", "properties": properties}))
}

#[test]
fn a_script_hands_values_on_over_one_connection() {
    let script = "# find, then save\n\n$who = call forms greet\ncall forms save name=${who.name} id=${who.ids[1]}\n";
    let test = Test::new()
        .server("forms", &fake().on_call([Step::Reply(person())]).on_call([done()]))
        .args(["shell"])
        .stdin(script);
    let run = test.stdout_contains("done").run();
    assert!(!run.stdout.contains("found"), "{}", run.stdout);
    let arguments = run.params("forms", "tools/call", 1)["arguments"].clone();
    assert_eq!(arguments, json!({"name": "Ada Lovelace", "id": 8}));
    let received = run.received("forms");
    assert_eq!(received.iter().filter(|message| message["method"] == "initialize").count(), 1);
}

#[test]
fn a_script_ends_at_the_first_failure_and_says_the_line() {
    let script = "call forms greet\ncall forms nope\ncall forms greet\n";
    let test = || Test::new().server("forms", &fake()).stdin(script).status(6);
    let run = test().args(["shell"]).stderr_contains("error: line 2: forms has no tool \"nope\"").run();
    assert_eq!(run.stdout, "done\n");
    let run = test().args(["shell", "--keep-going"]).stderr_contains("1 line failed").run();
    assert_eq!(run.stdout, "done\ndone\n");
    let unknown = Test::new().server("forms", &fake()).stdin("call forms save name=${who.name}").status(2);
    unknown.args(["shell"]).stderr_contains("line 1: $who has no value").run();
}

#[test]
fn in_json_each_result_is_a_line_and_answers_are_for_all_of_it() {
    let ask = |id: &str| {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        let params = json!({"message": "Who?", "requestedSchema": schema});
        [
            Step::Send(json!({"id": id, "method": "elicitation/create", "params": params})),
            Step::Expect(json!({"id": id})),
            Step::Reply(json!({"content": []})),
        ]
    };
    let fake = fake().on_call(ask("a")).on_call(ask("b")).on_call([done()]);
    let test = Test::new().server("forms", &fake).file("answers.json", r#"{"name": "Ada"}"#);
    let test = test.args(["shell", "-o", "json", "--answers", "answers.json"]);
    let run = test.stdin("call forms greet\ncall forms greet\ncall forms greet\ntools forms\n").run();
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 4, "{}", run.stdout);
    assert_eq!(lines[3]["servers"]["forms"]["tools"].as_array().map(Vec::len), Some(2));
    for id in ["a", "b"] {
        assert_eq!(run.reply("forms", &json!(id))["content"], json!({"name": "Ada"}));
    }
}

#[test]
fn a_person_completes_is_asked_and_stops_a_call() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let params = json!({"message": "Who are you?", "requestedSchema": schema});
    let fake = fake()
        .on_call([
            Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params})),
            Step::Expect(json!({"id": "ask-1"})),
            Step::Reply(json!({"content": [{"type": "text", "text": "welcome"}]})),
        ])
        .on_call([Step::Expect(json!({"method": "notifications/cancelled"}))])
        .on_call([done()]);
    let person = Test::new().server("forms", &fake).args(["shell", "forms"]).at_terminal(24, 80);
    person.see("toolnexus> ").send("ca").send(TAB).see_typed("toolnexus> call ");
    person.send("fo").send(TAB).see_typed("toolnexus> call forms ");
    person.send(TAB).see("greet  save").send("gr").send(TAB).see_typed("toolnexus> call forms greet ").send(ENTER);
    person.see("Who are you?").send("Ada").send(ENTER).see("welcome");
    person.see_typed("toolnexus> ").send("call forms greet").send(ENTER);
    person.send(CTRL_C).see("interrupted").see_typed("toolnexus> ");
    person.send("call forms save kind=fo").send(TAB).see_typed("toolnexus> call forms save kind=folder ").send(ENTER);
    person.see("done").see_typed("toolnexus> ").send(UP).send(UP).see_typed("toolnexus> call forms greet");
    person.send(CTRL_C).see_typed("toolnexus> ").send(CTRL_D);
    let ended = person.end(0);
    assert_eq!(ended.reply("forms", "ask-1")["content"], json!({"name": "Ada"}));
}
