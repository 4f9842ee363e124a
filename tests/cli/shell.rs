use std::{process::Stdio, time::Duration};

use serde_json::{Value, json};

use super::harness::{Fake, Run, Step, Test, wait};

const ENTER: &str = "\r";
const TAB: &str = "\t";
const UP: &str = "\x1b[A";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_L: &str = "\x0c";

fn person() -> Value {
    json!({"content": [{"type": "text", "text": "file"}], "structuredContent": {"name": "Ada Lovelace", "ids": [7, 8]}})
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
    let script = "# find, then save\n\n$who = call forms greet\ncall forms save name=${who.name} id=${who.ids[1]} kind=${who.content[0].text}\n";
    let test = Test::new()
        .server("forms", &fake().on_call([Step::Reply(person())]).on_call([done()]))
        .args(["shell"])
        .stdin(script);
    let run = test.stdout_contains("done").run();
    assert!(!run.stdout.contains("file"), "{}", run.stdout);
    let arguments = run.params("forms", "tools/call", 1)["arguments"].clone();
    assert_eq!(arguments, json!({"name": "Ada Lovelace", "id": 8, "kind": "file"}));
    // The list of tools is requested once, and again after the server has reported a change.
    let listed = |run: &Run| run.received("forms").iter().filter(|message| message["method"] == "tools/list").count();
    assert_eq!(listed(&run), 1);
    let changed = Step::Send(json!({"method": "notifications/tools/list_changed"}));
    let fake = fake().on_call([done(), changed]).on_call([done()]);
    let lines = "call forms greet\nping forms\ncall forms greet\ncall forms greet\ntoolnexus call forms greet\n";
    let run = Test::new().server("forms", &fake).args(["shell"]).stdin(lines).run();
    assert_eq!((listed(&run), run.stdout.matches("done").count()), (2, 4));
    let received = run.received("forms");
    assert_eq!(received.iter().filter(|message| message["method"] == "initialize").count(), 1);
}

#[test]
fn a_value_is_shown_by_its_name_and_a_dollar_sign_can_be_only_that() {
    let test = |script: &str| {
        let fake = fake().on_call([Step::Reply(person())]).on_call([done()]);
        Test::new().server("forms", &fake).args(["shell"]).stdin(format!("$who = call forms greet\n{script}\n"))
    };
    test("$who.name\n${who.ids}\n$who")
        .stdout("Ada Lovelace\n[7,8]\n{\"name\":\"Ada Lovelace\",\"ids\":[7,8]}\n")
        .run();
    let run = test(r#"call forms save name=\$who other="\${who} 5\$""#).run();
    let arguments = run.params("forms", "tools/call", 1)["arguments"].clone();
    assert_eq!(arguments, json!({"name": "$who", "other": "${who} 5$"}));
    let run = test("call forms save name=$who").status(2).stderr_contains("line 2: $who is not replaced").run();
    assert!(run.stderr.contains(r"hint: write ${who} for the value, or \$who for these characters"), "{}", run.stderr);
    test("$whom").status(2).stdout("").stderr_contains("$whom has no value").run();
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

#[test]
fn the_screen_is_cleared_and_the_line_stays() {
    let person = Test::new().server("forms", &fake()).args(["shell", "forms"]).at_terminal(24, 80);
    person.see_typed("toolnexus> ").send("clear").send(ENTER).see("no command \"clear\"");
    person.see("hint: `toolnexus help` lists the commands").see_typed("toolnexus> ").send("call forms");
    person.see_typed("toolnexus> call forms").send(CTRL_L).gone("no command").see_typed("toolnexus> call forms");
    assert_eq!(person.screen().trim_end(), "toolnexus> call forms");
    person.send(" greet").send(ENTER).see("done").see_typed("toolnexus> ").send(CTRL_D);
    person.end(0);
}

#[test]
fn what_is_typed_ahead_is_the_next_command_and_a_forgotten_server_is_named() {
    let person = Test::new().server("forms", &fake()).args(["shell", "forms"]).at_terminal(24, 80);
    person.see("toolnexus> ").send_at_once("call fo\tgr\t\rcall forms sa\tkind=fi\t\rping forms\r");
    person.see_times("done", 2).see("answered ping in ");
    person
        .see_typed("toolnexus> ")
        .send("greet a=1\r")
        .see("it is a tool of forms")
        .see("did you mean `call forms greet a=1`?");
    person
        .see_typed("toolnexus> ")
        .send("call greet\r")
        .see("there is no server")
        .see("did you mean `call forms greet`?");
    // The line is complete after every change of the terminal's size.
    person.see_typed("toolnexus> ").send("ping for");
    for step in 0..50 {
        person.resize(24 - step % 10, 80 - 4 * (step % 11));
    }
    person.resize(24, 80).see_typed("toolnexus> ping for").send("ms\r").see_times("answered ping in ", 2);
    person.see_typed("toolnexus> ").send(CTRL_D);
    person.end(0);
}

#[test]
fn every_command_of_a_line_goes_over_the_connections_of_the_shell() {
    let script = "tools forms --grep save\nresources forms\nread forms a://b\nprompt forms p\nping forms\ninstructions forms\n\
                  $who = call forms greet -o json\ncall forms save name=${who.name} --answer name=Ada\ncall forms greet --each in.jsonl\n";
    let initialized = json!({
        "protocolVersion": "$version", "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "fake", "version": "1"}, "instructions": "Ask first.",
    });
    let contents = json!({"contents": [{"uri": "a://b", "text": "words"}]});
    let fake = fake()
        .on("initialize", [Step::Reply(initialized)])
        .on("resources/list", [Step::Reply(json!({"resources": [{"uri": "a://b", "name": "b"}]}))])
        .on("resources/templates/list", [Step::Reply(json!({"resourceTemplates": []}))])
        .on("resources/read", [Step::Reply(contents)])
        .on("prompts/list", [Step::Reply(json!({"prompts": [{"name": "p"}]}))])
        .on(
            "prompts/get",
            [Step::Reply(json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]}))],
        )
        .on_call([Step::Reply(person())])
        .on_call([done()]);
    let test = Test::new().server("forms", &fake).file("in.jsonl", "{}\n{}\n").args(["shell"]).stdin(script);
    let run = test.run();
    for part in ["forms save", "a://b", "words\n", "hi", "answered ping", "Ask first.", "{\"index\":1,\"ok\":true"] {
        assert!(run.stdout.contains(part), "stdout lacks {part:?}: {}", run.stdout);
    }
    let received = run.received("forms");
    assert_eq!(received.iter().filter(|message| message["method"] == "initialize").count(), 1);
    assert_eq!(run.params("forms", "tools/call", 1)["arguments"], json!({"name": "Ada Lovelace"}));
}

#[test]
fn answers_of_one_line_are_for_that_line() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let params = json!({"message": "Who?", "requestedSchema": schema});
    let ask = |id: &str| {
        [
            Step::Send(json!({"id": id, "method": "elicitation/create", "params": params})),
            Step::Expect(json!({"id": id})),
            Step::Reply(json!({"content": []})),
        ]
    };
    let test = Test::new().server("forms", &fake().on_call(ask("a")).on_call(ask("b")));
    let test = test.args(["shell"]).stdin("call forms greet --answer name=Ada\ncall forms greet\n").status(8);
    let run = test.stderr_contains("error: line 2: forms asked a question").run();
    assert_eq!(run.reply("forms", &json!("a"))["content"], json!({"name": "Ada"}));
    assert_eq!(run.reply("forms", &json!("b"))["action"], "cancel");
}

#[test]
fn stdin_is_only_for_the_script() {
    for (line, told) in [
        ("call forms greet --each -", "- cannot be used in a shell"),
        ("call forms greet name=@-", "name=@- cannot be used in a shell"),
        ("call forms greet --answers=-", "--answers=- cannot be used in a shell"),
        ("shell", "shell cannot be used in a shell"),
        ("$a = tools forms", "only the result of `call` can be kept"),
        ("$a = call forms greet --each in", "not those of --each"),
    ] {
        let test = Test::new().server("forms", &fake()).args(["shell"]).stdin(format!("{line}\n"));
        let run = test.status(2).stderr_contains(&format!("line 1: {}", "")).stderr_contains(told).run();
        assert!(run.received("forms").iter().all(|message| message["method"] != "tools/call"));
    }
}

/// The cost of this many calls in one shell, of which every 20th ends the server: the failed lines, the successful
/// ones, and the peak memory in KiB.
fn long_session(calls: usize) -> (usize, usize, u64) {
    let mut fake = fake();
    for _ in 0..19 {
        fake = fake.on_call([done()]);
    }
    let fake = fake.on_call([Step::Exit(3)]);
    let script = "call forms greet\n".repeat(calls);
    let test = Test::new().server("forms", &fake).args(["shell", "--keep-going"]).file("script", script);
    // If each start leaked something, there would soon be too much.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 48; exec \"$0\" \"$@\" < script"]).arg(test.command().get_program());
    command.args(test.command().get_args()).current_dir(test.folder()).env_clear();
    command.envs(test.command().get_envs().filter_map(|(name, value)| Some((name, value?))));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let run = wait(child, Duration::from_secs(300));
    assert_eq!(run.status, Some(4), "{}", run.stderr);
    let failed = run.stderr.matches("error: line ").count();
    (failed, run.stdout.matches("done").count(), run.peak)
}

#[test]
fn a_thousand_calls_and_fifty_starts_leave_nothing_behind() {
    let (failed, succeeded, few) = long_session(60);
    assert_eq!((failed, succeeded), (3, 57));
    let (failed, succeeded, many) = long_session(1_000);
    assert_eq!((failed, succeeded), (50, 950));
    assert!(many < few + 6_000, "{few} KiB for 60 calls, {many} KiB for 1,000");
}
