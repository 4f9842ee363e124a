//! Questions of servers during a call, answered without a person.

use std::time::Duration;

use serde_json::{Value, json};

use super::harness::{Fake, Run, Step, Test};

fn text(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}]})
}

fn name_form() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
}

fn ask(id: impl Into<Value>, schema: &Value) -> Step {
    let params = json!({"message": "What is your name?", "requestedSchema": schema});
    Step::Send(json!({"id": id.into(), "method": "elicitation/create", "params": params}))
}

fn ask_link(id: &str, url: &str) -> Step {
    let params = json!({"mode": "url", "message": "Go", "url": url, "elicitationId": "e1"});
    Step::Send(json!({"id": id, "method": "elicitation/create", "params": params}))
}

fn replied(id: impl Into<Value>) -> Step {
    Step::Expect(json!({"id": id.into()}))
}

/// A server whose tool `t` asks for a name, and is then done.
fn asking() -> Fake {
    Fake::new().tool("t").on_call([
        Step::Pause(50),
        ask("ask-1", &name_form()),
        replied("ask-1"),
        Step::Reply(text("done")),
    ])
}

fn call(server: &Fake) -> Test {
    Test::new().server("s", server).args(["call", "s", "t"])
}

fn reply(run: &Run) -> Value {
    run.reply("s", &json!("ask-1"))
}

#[test]
fn a_question_is_answered_while_the_call_is_in_flight() {
    let run = call(&asking()).args(["--answer", "name=Ada"]).stdout("done\n").stderr("").run();
    assert_eq!(reply(&run), json!({"action": "accept", "content": {"name": "Ada"}}));
    assert_eq!(run.params("s", "initialize", 0)["capabilities"]["elicitation"], json!({"form": {}, "url": {}}));
}

#[test]
fn a_modern_server_asks_inside_its_result() {
    let params = json!({"message": "What is your name?", "requestedSchema": name_form()});
    let server = Fake::new()
        .modern()
        .tool("t")
        .result(json!({
            "resultType": "input_required", "requestState": "a\u{1}b", "inputRequests": {
                "who": {"method": "elicitation/create", "params": params}}
        }))
        .result(json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]}));
    let run = call(&server).args(["--answer", "name=Ada"]).stdout("done\n").run();
    let again = run.params("s", "tools/call", 1);
    assert_eq!(again["inputResponses"], json!({"who": {"action": "accept", "content": {"name": "Ada"}}}));
    assert_eq!(again["requestState"], "a\u{1}b");
    let ids: Vec<Value> =
        run.received("s").iter().filter(|m| m["method"] == "tools/call").map(|m| m["id"].clone()).collect();
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn elicitation_is_declared_unless_it_is_off() {
    let run = call(&asking()).args(["--elicit", "off"]).stdout("done\n").run();
    assert_eq!(run.params("s", "initialize", 0)["capabilities"].get("elicitation"), None);
    assert_eq!(reply(&run)["code"], -32601);

    // Without a terminal and without options, nobody answers, and the error says so.
    let run = call(&asking()).status(8).stdout("done\n").stderr_contains("nobody answered it").run();
    assert_eq!(run.params("s", "initialize", 0)["capabilities"]["elicitation"], json!({"form": {}, "url": {}}));
    assert_eq!(reply(&run), json!({"action": "cancel"}));
    assert!(!run.stderr.contains("note:"), "{}", run.stderr);
}

#[test]
fn a_failure_without_a_terminal_says_nothing_of_questions() {
    let failed = Fake::new().tool("t").result(json!({"content": [], "isError": true}));
    let run = call(&failed).status(1).run();
    assert!(!run.stderr.contains("answer"), "{}", run.stderr);
    let run = Test::new().args(["call", "s", "t"]).status(3).run();
    assert!(!run.stderr.contains("answer"), "{}", run.stderr);
}

#[test]
fn a_question_that_nobody_answered_exits_8_with_an_entry_to_paste() {
    let run = call(&asking())
        .args(["--elicit", "fail"])
        .status(8)
        .stdout("done\n")
        .stderr_contains("error: s asked a question that could not be answered (call t)")
        .stderr_contains("│ What is your name?\n  name  required, text\n")
        .stderr_contains(r#""content": {"name": null}"#)
        .run();
    assert_eq!(reply(&run), json!({"action": "cancel"}));
}

#[test]
fn the_fields_of_an_unanswered_form_are_told_so_that_an_entry_can_be_written() {
    let trip = json!({"type": "object", "required": ["city"], "properties":
        {"city": {"type": "string"}, "nights": {"type": "integer", "minimum": 1}}});
    let schema = json!({"type": "object", "required": ["plan", "sure", "trip"], "properties": {
        "plan": {"enum": ["free", "pro"], "default": "pro"}, "sure": {"type": "boolean"}, "trip": trip,
        "stops": {"type": "array", "items": {"$ref": "#/$defs/stop"}}, "tags": {"type": "array", "items":
            {"enum": ["a", "b"]}}}, "$defs": {"stop": {"type": "object", "properties": {"at": {"type": "string"}}}}});
    let server = Fake::new().tool("t").on_call([ask("ask-1", &schema), replied("ask-1"), Step::Reply(text("done"))]);
    call(&server)
        .status(8)
        .stderr_contains("\n  plan   required, one of free, pro, default pro\n")
        .stderr_contains("\n  sure   required, yes or no\n")
        .stderr_contains("\n  trip   required, {city: text, nights?: whole number}\n")
        .stderr_contains("\n  stops  optional, [{at?: text}]\n")
        .stderr_contains("\n  tags   optional, choose any of a, b\n")
        .stderr_contains(r#""sure": null, "trip": null"#)
        .run();
}

#[test]
fn a_refused_answer_names_its_rule_once_and_the_point_that_is_meant() {
    let schema = json!({"type": "object", "properties": {
        "when": {"type": "string", "format": "date-time"}, "size": {"type": "number"}}});
    for (answer, words) in [
        ("when=2026-01-31 09:30", "--answer when: 2026-01-31 09:30 is not a date and time like 2026-01-31T09:30:00Z\n"),
        ("size=1,8", "--answer size: 1,8 is not a number; use a point as the decimal point: write 1.8\n"),
        ("size=1.000,5", "--answer size: 1.000,5 is not a number; use a point as the decimal point: write 1000.5\n"),
        ("size=1.5,3", "--answer size: 1.5,3 is not a number\n"),
    ] {
        let server =
            Fake::new().tool("t").on_call([ask("ask-1", &schema), replied("ask-1"), Step::Reply(text("done"))]);
        let run = call(&server).args(["--answer", answer]).status(8).stderr_contains(words).run();
        assert_eq!(reply(&run), json!({"action": "cancel"}));
    }
}

#[test]
fn a_required_field_that_the_answers_leave_out_is_named() {
    let left_out = |options: &[&str], words: &str| {
        let server = asking();
        let test = call(&server).file("a.json", r#"{"nmae": "Ada"}"#).args(options.iter().copied());
        let run = test.status(8).stderr_contains(words).run();
        assert_eq!(reply(&run), json!({"action": "cancel"}));
    };
    left_out(&["--answers", "a.json"], "nobody answered it; a.json leaves out name, which is required");
    left_out(&["--answer", "nam=Ada"], "nobody answered it; --answer leaves out name, which is required");
}

#[test]
fn decline_and_cancel_are_told_as_such() {
    let told = |policy| reply(&call(&asking()).args(["--elicit", policy]).run());
    assert_eq!(told("decline"), json!({"action": "decline"}));
    assert_eq!(told("cancel"), json!({"action": "cancel"}));
    call(&asking()).args(["--elicit", "off", "--answer", "a=b"]).status(2).stderr_contains("--answer").run();
}

#[test]
fn a_wrong_answer_is_not_sent() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}, "required": ["n"]});
    let server = Fake::new().tool("t").on_call([ask("ask-1", &schema), replied("ask-1"), Step::Reply(text("done"))]);
    for content in [r#"{"n": "7"}"#, r#"{"n": 7}"#, r#"{"n": null}"#] {
        let run = call(&server).file("a.json", content).args(["--answers", "a.json"]).status(8).run();
        assert_eq!(reply(&run), json!({"action": "cancel"}), "{content}");
    }
    call(&server).file("a.json", "[1").args(["--answers", "a.json"]).status(3).stderr_contains("a.json").run();
    call(&server).args(["--answers", "gone.json"]).status(3).run();
}

#[test]
fn answers_come_from_stdin_too() {
    call(&asking()).args(["--answers", "-"]).stdin(r#"{"name": "Ada"}"#).stdout("done\n").run();
}

#[test]
fn unused_answers_are_reported() {
    let test = call(&asking()).args(["--answer", "name=Ada", "--answer", "nam=Eve"]);
    test.stderr_contains("warning: not used: --answer nam").run();
}

#[test]
fn what_was_answered_is_recorded_and_answers_again() {
    let run = call(&asking()).args(["--answer", "name=Ada", "--record", "r.json"]).run();
    let record = std::fs::read_to_string(run.path("r.json")).expect("a record");
    let run = call(&asking()).file("r.json", record).args(["--answers", "r.json"]).run();
    assert_eq!(reply(&run)["content"], json!({"name": "Ada"}));
}

#[test]
fn the_record_of_a_form_without_fields_answers_no_other_question() {
    let server = |message: &str| {
        let params = json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}});
        let asks = Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params}));
        Fake::new().tool("t").on_call([asks, replied("ask-1"), Step::Reply(text("done"))])
    };
    let any = r#"[{"when": {"message": "*"}, "action": "accept"}]"#;
    let run =
        call(&server("Delete?\nfrom: a")).file("a.json", any).args(["--answers", "a.json", "--record", "r.json"]).run();
    let record = std::fs::read_to_string(run.path("r.json")).expect("a record");
    for (message, action) in [("Delete?\nfrom: a", "accept"), ("Delete?\nfrom: b", "cancel"), ("Delete?", "cancel")] {
        let run = call(&server(message)).file("r.json", &record).args(["--answers", "r.json"]);
        let run = run.status(if action == "accept" { 0 } else { 8 }).run();
        assert_eq!(reply(&run)["action"], action, "{message}: {record}");
    }
}

#[test]
fn a_program_answers() {
    let program = r#"sh -c 'read line; echo "$line" > asked; echo "{\"ok\": true, \"data\": {\"name\": \"Ada\"}}"'"#;
    let run = call(&asking()).args(["--on-elicit", program]).stdout("done\n").run();
    assert_eq!(reply(&run)["content"], json!({"name": "Ada"}));
    let asked: Value = serde_json::from_slice(&std::fs::read(run.path("asked")).expect("asked")).expect("JSON");
    assert_eq!((&asked["kind"], &asked["server"], &asked["call"]), (&json!("input"), &json!("s"), &json!("t")));
}

#[test]
fn the_clock_is_paused_while_a_question_is_open() {
    let slow = r#"sh -c 'read line; sleep 1.5; echo "{\"ok\": true, \"data\": {\"name\": \"Ada\"}}"'"#;
    let run = call(&asking()).args(["--timeout", "1", "--on-elicit", slow]).stdout("done\n").run();
    assert!(run.took > Duration::from_millis(1400));
}

#[test]
fn a_ping_is_answered_while_a_question_is_open() {
    let ping = Step::Send(json!({"id": "p-9", "method": "ping"}));
    let server = Fake::new().tool("t").on_call([
        ask(7, &name_form()),
        ping,
        replied("p-9"),
        replied(7),
        Step::Reply(text("done")),
    ]);
    let slow = r#"sh -c 'read line; sleep 0.3; echo "{\"ok\": false}"'"#;
    let run = call(&server).args(["--on-elicit", slow]).stdout("done\n").run();
    assert_eq!(run.reply("s", &json!("p-9")), json!({}));
    assert_eq!(run.reply("s", &json!(7)), json!({"action": "cancel"}));
    let ids: Vec<Value> =
        run.received("s").iter().filter(|m| m.get("method").is_none()).map(|m| m["id"].clone()).collect();
    assert_eq!(ids, [json!("p-9"), json!(7)], "the ping does not wait for the question");
}

#[test]
fn a_plain_server_is_offered_only_forms() {
    let server = Fake::new().tool("t").on_call([
        ask_link("ask-1", "https://idp.example/"),
        replied("ask-1"),
        Step::Reply(text("done")),
    ]);
    let test = call(&server).args(["--elicit", "cancel"]);
    let mut entry = server.entry(test.folder(), "s");
    entry["elicitation"] = json!("plain");
    let run = test.entry("s", entry).stdout("done\n").run();
    assert_eq!(run.params("s", "initialize", 0)["capabilities"]["elicitation"], json!({}));
    assert_eq!(reply(&run)["code"], -32602);
}

const LINKS: &str = r#"[{"when": {"mode": "url"}, "action": "accept", "open": true}]"#;

fn call_with_link(url: &str) -> Test {
    let server = Fake::new().tool("t").on_call([ask_link("ask-1", url), replied("ask-1"), Step::Reply(text("done"))]);
    call(&server).file("links.json", LINKS).args(["--answers", "links.json", "--url-wait", "1"])
}

#[test]
fn a_link_is_printed_and_a_browser_that_does_not_start_is_a_note() {
    let url = "https://idp.example/go?x=1&y=2";
    // The server is slow, so that the program is still running when the browser fails.
    let steps = [ask_link("ask-1", url), replied("ask-1"), Step::Pause(1000), Step::Reply(text("done"))];
    let test = call(&Fake::new().tool("t").on_call(steps)).file("links.json", LINKS).args(["--answers", "links.json"]);
    // The server needs a shell; nothing else can be started.
    let programs = test.folder().join("programs");
    std::fs::create_dir(&programs).expect("a folder");
    std::os::unix::fs::symlink("/bin/sh", programs.join("sh")).expect("a link");
    let programs = programs.display().to_string();
    let run = test.env("PATH", &programs).stdout("done\n").stderr_contains(url).run();
    assert!(run.stderr.contains("warning: the browser did not start: "), "{}", run.stderr);
    assert_eq!(reply(&run), json!({"action": "accept"}));
}

#[test]
fn an_accepted_link_is_printed_with_its_true_host() {
    let run = call_with_link("https://bank.example@evil.example/").args(["--no-browser"]).stdout("done\n").run();
    assert!(run.stderr.contains("\nhost    evil.example\n! there is a user name before the host"), "{}", run.stderr);
}

#[test]
fn only_web_addresses_are_opened() {
    for url in ["javascript:alert(1)", "data:text/html,x", "vscode://x", "file:///etc/passwd", "not a url"] {
        let run = call_with_link(url).run_any();
        assert_eq!(reply(&run), json!({"action": "cancel"}), "{url}");
        assert!(run.stderr.contains("warning:") || run.stderr.contains("error:"), "{url}: {}", run.stderr);
    }
}

#[test]
fn what_is_odd_about_an_accepted_link_is_printed_in_ascii() {
    let run = call_with_link("http://b\u{fc}cher.example/").args(["--no-browser", "--quiet"]).run();
    assert!(run.stderr.contains("\nhost    xn--bcher-kva.example\n! "), "{}", run.stderr);
    assert!(run.stderr.contains("not encrypted") && run.stderr.is_ascii(), "{}", run.stderr);
}

#[test]
fn a_record_that_cannot_be_written_is_an_error_before_anything_starts() {
    for (place, reason, status) in [("no/r.json", "there is no folder no", 3), (".", "it is a folder", 2)] {
        let test = Test::new().entry("s", json!({"command": "touch", "args": ["started"]}));
        let test = test.args(["call", "s", "t", "--answer", "name=Ada", "--record", place]).status(status);
        let run = test.stderr(&format!("error: the record {place} cannot be written: {reason}\n")).run();
        assert!(!run.path("started").exists());
    }
}

#[test]
fn a_server_that_ends_over_the_sub_keys_of_elicitation_is_started_again_without() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("strict");
    let text = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case $line in
    *server/discover*) say '"error":{"code":-32601,"message":"no"}' ;;
    *'"url":{}'*) echo 'elicitation.form: Extra inputs are not permitted' >&2; exit 1 ;;
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *tools/list*) say '"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
    *tools/call*) say '"result":{"content":[{"type":"text","text":"done"}]}' ;;
  esac
done"#;
    std::fs::write(&script, text).expect("a script");
    let script = script.to_str().expect("a path");
    let words = ["call", "t", "--elicit", "cancel", "--", "sh", script];
    Test::new().args(words).stdout("done\n").stderr_contains("\"elicitation\": \"plain\"").run();
}

#[test]
fn errors_are_reported_without_unused_answers() {
    let refused = Test::new().entry("s", json!({"url": "http://127.0.0.1:9/mcp"})).args(["call", "s", "t"]);
    let run = refused.args(["--answer", "name=Ada", "--answer", "nam=Eve"]).status(4).run();
    assert!(run.stderr.starts_with("error: ") && !run.stderr.contains("not used"), "{}", run.stderr);
    let schema = json!({"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]});
    let server = Fake::new().tool("t").on_call([ask("ask-1", &schema), replied("ask-1"), Step::Reply(text("done"))]);
    let run = call(&server).args(["--answer", "age=old", "--answer", "nam=Eve"]).status(8).run();
    let (error, unused) = (run.stderr.find("old is not a whole number"), run.stderr.find("not used"));
    assert!(error.is_some() && unused.is_none_or(|unused| error < Some(unused)), "{}", run.stderr);
    // Nor for a link with a wrong answer.
    let link = Fake::new().tool("t").on_call([
        ask_link("ask-1", "https://a.example/"),
        replied("ask-1"),
        Step::Reply(text("done")),
    ]);
    let run = call(&link).args(["--answer", "age=1"]).status(8).run();
    assert!(run.stderr.starts_with("error: ") && !run.stderr.contains("not used"), "{}", run.stderr);
}

#[test]
fn commas_separate_only_choices() {
    let list = |items: Value| json!({"type": "object", "properties": {"tags": {"type": "array", "items": items}}, "required": ["tags"]});
    let texts = list(json!({"type": "string"}));
    let numbers = list(json!({"type": "integer"}));
    let choices = list(json!({"type": "string", "enum": ["a", "b", "c"]}));
    let titled = list(json!({"anyOf": [{"const": "a", "title": "A, first"}, {"const": "b", "title": "B"}]}));
    for (schema, words, sent) in [
        (&texts, &["tags=a,b"][..], json!(["a,b"])),
        (&texts, &["tags=a, b"], json!(["a, b"])),
        (&texts, &["tags=a", "tags=b,c"], json!(["a", "b,c"])),
        (&texts, &[r#"tags=["a","b"]"#], json!(["a", "b"])),
        (&texts, &[r#"tags:=["a"]"#, "tags=b"], json!(["a", "b"])),
        (&numbers, &["tags=1", "tags=2"], json!([1, 2])),
        (&numbers, &["tags=1"], json!([1])),
        (&numbers, &["tags=[1,2]"], json!([1, 2])),
        (&choices, &["tags=a,b"], json!(["a", "b"])),
        (&choices, &["tags=a", "tags=b, c"], json!(["a", "b", "c"])),
        (&titled, &["tags=A, first"], json!(["a"])),
    ] {
        let server = Fake::new().tool("t").on_call([ask("ask-1", schema), replied("ask-1"), Step::Reply(text("done"))]);
        let words = words.iter().flat_map(|word| ["--answer", word]);
        let run = call(&server).args(words.clone()).stdout("done\n").stderr("").run();
        assert_eq!(reply(&run)["content"]["tags"], sent, "{:?}", words.collect::<Vec<_>>());
    }
    let server =
        |schema| Fake::new().tool("t").on_call([ask("ask-1", schema), replied("ask-1"), Step::Reply(text("done"))]);
    let run = call(&server(&numbers)).args(["--answer", "tags=1,2"]).status(8).run();
    assert!(
        run.stderr.contains("1,2 is not a number; for several, repeat tags=… or write a JSON list"),
        "{}",
        run.stderr
    );
    let run = call(&server(&texts)).status(8).stderr_contains("required, list of text values").run();
    assert!(!run.stderr.contains("comma"), "{}", run.stderr);
}
