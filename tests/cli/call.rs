//! `call`, against servers that follow a script.

use serde_json::{Value, json};

use super::harness::{Fake, Run, Step, Test};

/// A call of tool `t` of server `s`.
fn call(server: &Fake) -> Test {
    Test::new().server("s", server).args(["call", "s", "t"])
}

fn tool() -> Fake {
    Fake::new().tool("t")
}

fn text(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}]})
}

#[test]
fn the_text_of_a_result_is_printed() {
    let run = call(&tool()).stdout("done\n").stderr("").run();
    assert_eq!(run.params("s", "tools/call", 0)["name"], "t");
}

#[test]
fn a_modern_server_is_called_without_a_handshake() {
    let run = call(&tool().modern()).stdout("done\n").stderr("").run();
    let meta = &run.params("s", "tools/call", 0)["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert!(run.received("s").iter().all(|message| message["method"] != "initialize"));
}

#[test]
fn a_command_after_two_dashes_is_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let entry = tool().entry(folder.path(), "s");
    let words: Vec<&str> = entry["args"].as_array().expect("args").iter().filter_map(Value::as_str).collect();
    let test = Test::new().args(["call", "t", "a=1", "--", "sh"]).args(words);
    test.env("FAKE_SERVER_SCRIPT", entry["env"]["FAKE_SERVER_SCRIPT"].as_str().expect("a path")).stdout("done\n").run();
}

#[test]
fn what_is_no_result_is_printed_and_an_error() {
    for (json, kind) in [("null", "null"), ("\"done\"", "text"), ("[1]", "a list"), ("true", "true or false")] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{json}}}"#);
        let server = tool().on_call([Step::RawReply(line)]);
        let run = call(&server).args(["-o", "json"]).status(6).stdout(&format!("{json}\n")).run();
        assert_eq!(run.error()["code"], "invalid-answer");
        assert!(
            run.error()["message"].as_str().is_some_and(|message| message.contains(&format!("the result is {kind}")))
        );
    }
    let server = tool().result(json!({"content": [], "isError": "true"}));
    call(&server).status(1).stderr_contains("warning: s: isError is \"true\"").run();
}

#[test]
fn json_is_the_result_in_the_servers_own_bytes() {
    let odd = r#"{"content":[{"type":"text","text":"a\u0062\ud83d"}], "n":1.50,"big":123456789012345678901234567890}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{odd}}}"#);
    let server = tool().on_call([Step::RawReply(line)]);
    call(&server).args(["-o", "json"]).stdout(&format!("{odd}\n")).stderr("").run();
    call(&server).stdout("ab\u{fffd}\n").stderr("").run();
}

#[test]
fn structured_content_is_held_against_the_output_schema() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let given = |result: &Value| call(&Fake::new().tool_giving("t", &schema).result(result.clone()));
    let structured = |content: Value| json!({"content": [], "structuredContent": content});
    given(&structured(json!({"n": 7}))).stderr("").run();
    let words =
        "warning: s: structuredContent does not fit the tool's outputSchema: /n: \"x\" is text, not a whole number\n";
    given(&structured(json!({"n": "x"}))).stderr(words).run();
    given(&text("done")).stdout("done\n").stderr_contains("no structuredContent").run();
    given(&json!({"content": [], "isError": true}))
        .args(["--elicit", "off"])
        .status(1)
        .stderr("error: s: the tool \"t\" reported an error\n")
        .run();
    let events = given(&structured(json!({}))).args(["-o", "events"]).run().events();
    assert_eq!(events.iter().map(|event| &event["event"]).collect::<Vec<_>>(), ["warning", "result"]);
}

#[test]
fn content_that_is_no_list_is_printed() {
    for content in [json!("hi"), json!({"type": "text", "text": "hi"}), json!(["hi"]), json!([{"text": "hi"}])] {
        call(&tool().result(json!({"content": content}))).stdout("hi\n").run();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let test = call(&tool());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let output = test.command().stdin(std::process::Stdio::null()).stdout(full).output().expect("a run");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error: the output cannot be written: "), "{stderr}");
}

#[test]
fn responses_may_have_our_ids_as_strings() {
    let hello = r#"{"id":"$id","result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;
    let line = r#"{"id":"$id","result":{"content":[{"type":"text","text":"spelled"}]}}"#;
    let server = tool().on("initialize", [Step::RawReply(hello.into())]).on_call([Step::RawReply(line.into())]);
    call(&server).stdout("spelled\n").stderr("").run();
}

#[test]
fn links_that_a_call_requires_are_told_where_nobody_is_asked() {
    let elicitations = json!([
        {"mode": "url", "elicitationId": "e7", "url": "https://bank.example@evil.example/go?x=1", "message": "Link it"},
        {"mode": "url", "elicitationId": "e8", "url": "javascript:alert(1)", "message": "\u{1b}[2J"},
    ]);
    let error = json!({"code": -32042, "message": "More is needed", "data": {"elicitations": elicitations}});
    let run = call(&tool().on_call([Step::Fail(error.clone())])).status(8).stdout("").run();
    let link = "│ Link it\n│ https://bank.example@evil.example/go?x=1\n  host  evil.example\n  ! there is a user name";
    assert!(run.stderr.contains(link), "{}", run.stderr);
    assert!(run.stderr.contains(r#""when": {"server": "s", "tool": "t", "url": "#), "{}", run.stderr);

    // If the server may not ask, its own error is shown.
    let run = call(&tool().on_call([Step::Fail(error)])).args(["--elicit", "off"]).status(6).stdout("").run();
    assert!(run.stderr.contains("│ More is needed\n│ Link it\n│ https"), "{}", run.stderr);
    assert!(run.stderr.contains("│ javascript:alert(1)\n") && !run.stderr.contains('\u{1b}'), "{}", run.stderr);
}

#[test]
fn a_question_without_an_id_is_reported() {
    let server = tool().on_call([
        Step::Send(json!({"id": null, "method": "elicitation/create", "params": {"message": "Name?"}})),
        Step::Reply(text("done")),
    ]);
    let test = call(&server).args(["--answer", "a=b"]).stdout("done\n");
    test.stderr_contains("a request without a usable id; the request is ignored: elicitation/create").run();
}

#[test]
fn no_arguments_are_an_empty_object_and_what_is_left_out_is_absent() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let run = call(&Fake::new().tool_with("t", &schema)).run();
    assert_eq!(run.params("s", "tools/call", 0)["arguments"], json!({}));
}

fn arguments(schema: &Value, words: &[&str]) -> Value {
    let run = call(&Fake::new().tool_with("t", schema)).args(words.iter().copied()).run();
    run.params("s", "tools/call", 0)["arguments"].clone()
}

#[test]
fn the_schema_decides_what_an_argument_is() {
    let schema = json!({"type": "object", "properties": {
        "code": {"type": "string"}, "qty": {"type": "integer"}, "to": {"type": "array", "items": {"type": "string"}}
    }});
    assert_eq!(arguments(&schema, &["code=00817", "qty=2"]), json!({"code": "00817", "qty": 2}));
    assert_eq!(arguments(&schema, &["code=true"]), json!({"code": "true"}));
    assert_eq!(arguments(&schema, &["code=1e3"]), json!({"code": "1e3"}));
    assert_eq!(arguments(&schema, &[r#"to=["a@x.test","b@x.test"]"#]), json!({"to": ["a@x.test", "b@x.test"]}));
    assert_eq!(arguments(&schema, &["to=a", "to=b"]), json!({"to": ["a", "b"]}));
    let run = call(&Fake::new().tool_with("t", &schema)).args(["qty=two"]).status(2).stderr_contains("qty").run();
    assert!(run.received("s").iter().all(|message| message["method"] != "tools/call"), "refused before the call");
}

#[test]
fn whole_arguments_come_from_a_text_a_file_or_stdin() {
    let object = r#"{"a": 1, "b": "x", "c": [true], "d": null}"#;
    let expected: Value = serde_json::from_str(object).expect("JSON");
    let sent = |run: Run| run.params("s", "tools/call", 0)["arguments"].clone();
    assert_eq!(sent(call(&tool()).args(["--args", object]).run()), expected);
    assert_eq!(sent(call(&tool()).file("a.json", object).args(["--args", "@a.json"]).run()), expected);
    assert_eq!(sent(call(&tool()).args(["--args", "-"]).stdin(object).run()), expected);
    let run = call(&tool()).args(["--args", object, "a:=2"]).run();
    assert_eq!(run.params("s", "tools/call", 0)["arguments"]["a"], 2);
    call(&tool()).args(["--args", "[1]"]).status(2).stderr_contains("--args").run();
    call(&tool()).args(["a=@nowhere"]).status(2).stderr_contains("nowhere").run();
}

#[test]
fn a_missing_argument_is_named_where_nobody_can_be_asked() {
    let schema = json!({"type": "object", "properties": {"a": {}, "b": {"type": "string"}}, "required": ["a", "b"]});
    call(&Fake::new().tool_with("t", &schema)).args(["a=1"]).status(2).stderr_contains("t needs b").run();
}

#[test]
fn without_a_tool_list_the_call_is_made_all_the_same() {
    let server = Fake::new().on("tools/list", [Step::Fail(json!({"code": -32603, "message": "broken"}))]);
    let run = call(&server).args(["n=2", "s=x"]).stdout("done\n").stderr_contains("warning:").run();
    assert_eq!(run.params("s", "tools/call", 0)["arguments"], json!({"n": 2, "s": "x"}));
}

#[test]
fn a_tool_that_failed_shows_its_words_and_exits_1() {
    let server = tool().result(json!({"content": [{"type": "text", "text": "quota used up"}], "isError": true}));
    call(&server)
        .status(1)
        .stdout("quota used up\n")
        .stderr_contains("error: s: the tool \"t\" reported an error")
        .run();
    let run = call(&server).args(["-o", "json"]).status(1).run();
    assert_eq!((&run.json()["isError"], &run.error()["exit"]), (&json!(true), &json!(1)));
}

#[test]
fn an_unknown_tool_exits_6_and_near_misses_are_named() {
    let server = Fake::new().tool("search").tool("publish");
    let run = Test::new().server("s", &server).args(["call", "s", "serch", "-o", "json"]).status(6).run();
    assert_eq!(run.error()["code"], "unknown-tool");
    assert_eq!(run.error()["hint"], "did you mean search?");
}

#[test]
fn a_protocol_error_is_reported_with_the_servers_message() {
    let error = json!({"code": -32602, "message": "no\u{1b}[2J\u{1b}]0;x\u{7}", "data": {"why": [1]}});
    let server = tool().on_call([Step::Fail(error.clone())]);
    let run = call(&server).status(6).stdout("").stderr_contains("│ no\\u{1b}[2J\\u{1b}]0;x\\u{7}").run();
    assert!(!run.stderr.contains('\u{1b}'));
    let run = call(&server).args(["-o", "json"]).status(6).run();
    assert_eq!(run.error()["rpc"], error);
}

#[test]
fn structured_content_without_blocks_is_printed() {
    let server = tool().result(json!({"content": [], "structuredContent": {"rows": [7]}}));
    call(&server).stdout("{\n  \"rows\": [\n    7\n  ]\n}\n").run();
    call(&tool().result(json!({"structuredContent": {"rows": []}}))).stdout("{\n  \"rows\": []\n}\n").run();
}

#[test]
fn every_block_is_shown_or_noted() {
    let server = tool().result(json!({"content": [
        {"type": "text", "text": "done"},
        {"type": "resource_link", "uri": "https://cdn.example/a.png", "name": "a.png"},
        {"type": "hologram", "x": 1},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    ]}));
    let expected = "done\na.png: https://cdn.example/a.png\n[a block of type hologram; -o json shows it]\n\
                    [image: image/png, 3 bytes; --save DIR saves it]\n";
    call(&server).stdout(expected).run();
}

#[test]
fn events_are_one_object_a_line() {
    let progress = json!({"method": "notifications/progress", "params": {
        "progressToken": "$token", "progress": 1, "total": 2, "message": "half"}});
    let log = json!({"method": "notifications/message", "params": {"level": "warning", "data": {"a": 1}}});
    let server = tool().on_call([Step::Send(progress), Step::Send(log), Step::Reply(text("done"))]);
    let run = call(&server).args(["-o", "events"]).run();
    let events = run.events();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(kinds, ["progress", "log", "result"]);
    assert_eq!(events[0]["message"], "half");
    assert_eq!(events[2]["result"]["content"][0]["text"], "done");
}

#[test]
fn noise_on_stdout_is_skipped_with_one_warning() {
    let changed = json!({"method": "notifications/tools/list_changed"});
    let server = tool()
        .on("start", [Step::Raw("Ready on stdio".into()), Step::Raw("[debug] x".into()), Step::Send(changed)])
        .on_call([Step::Raw("{\"half\":".into()), Step::Reply(text("done"))]);
    let run = call(&server).stdout("done\n").run();
    assert_eq!(run.stderr.matches("warning:").count(), 1, "{}", run.stderr);
}

#[test]
fn a_server_that_exits_is_reported_with_its_last_words() {
    let entry = json!({"command": "sh", "args": ["-c", "echo licence missing >&2; exit 3"]});
    let test = Test::new().entry("s", entry).args(["call", "s", "t"]).status(4);
    test.stderr_contains("│ licence missing").stderr_contains("3").run();
    let during = tool().on_call([Step::Stderr("out of paper".into()), Step::Exit(9)]);
    let run = call(&during).status(4).stderr_contains("│ out of paper").stderr_contains("tools/call").run();
    let calls = run.received("s").iter().filter(|message| message["method"] == "tools/call").count();
    assert_eq!(calls, 1, "a lost call was repeated");
}

#[test]
fn what_cannot_be_started_is_named() {
    let nowhere = json!({"command": "/bin/cat", "cwd": "/nowhere/at/all"});
    Test::new().entry("s", nowhere).args(["call", "s", "t"]).status(4).stderr_contains("/nowhere/at/all").run();
    let missing = json!({"command": "no-such-program-here"});
    Test::new().entry("s", missing).args(["call", "s", "t"]).status(4).stderr_contains("no-such-program-here").run();
    Test::new().config("{}").args(["call", "forms", "t"]).status(3).run();
    Test::new()
        .config("{\"mcpServers\": {\n  \"a\": }")
        .args(["call", "a", "t"])
        .status(3)
        .stderr_contains(":2:8")
        .run();
    Test::new().args(["call", "--config", "gone.json", "a", "t"]).status(3).stderr_contains("gone.json").run();
    let run = Test::new().demo().args(["call", "form", "greet"]).status(3).stderr_contains("did you mean forms?").run();
    assert!(run.stdout.is_empty());
}

#[test]
fn a_silent_server_times_out() {
    let server = tool().on_call([Step::Expect(json!({"method": "notifications/cancelled"}))]);
    let run = call(&server).args(["--timeout", "0.3"]).status(7).stderr_contains("did not answer tools/call").run();
    let cancelled = run.params("s", "notifications/cancelled", 0);
    let called = run.received("s").into_iter().find(|message| message["method"] == "tools/call").expect("a call");
    assert_eq!(cancelled["requestId"], called["id"]);
}

#[test]
fn an_answer_under_a_wrong_id_is_not_taken() {
    let wrong = json!({"id": "nobody", "result": {"content": [{"type": "text", "text": "wrong"}]}});
    let server = tool().on_call([Step::Send(wrong), Step::Reply(text("right"))]);
    call(&server).stdout("right\n").run();
}

#[test]
fn a_flood_of_notifications_is_no_problem() {
    let log = json!({"method": "notifications/message", "params": {"level": "debug", "data": "x".repeat(200)}});
    let mut steps = vec![Step::Send(log); 5_000];
    steps.push(Step::Reply(text("done")));
    call(&tool().on_call(steps)).stdout("done\n").stderr("").run();
}

#[test]
fn a_result_of_20_mb_is_printed_whole() {
    let run = call(&tool().on_call([Step::ReplyBytes(20_000_000)])).run();
    assert_eq!(run.stdout.len(), 20_000_001);
}

#[test]
fn a_deep_result_is_printed() {
    let deep = format!("{}7{}", "[".repeat(10_000), "]".repeat(10_000));
    let line = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{{"content":[],"structuredContent":{deep}}}}}"#);
    let server = tool().on_call([Step::RawReply(line)]);
    assert!(call(&server).run().stdout.contains('7'));
    assert!(call(&server).args(["-o", "json"]).run().stdout.contains(&deep));
}

#[test]
fn bad_entries_harm_no_other() {
    let server = tool();
    let test = Test::new().server("ok", &server).entry("bad", json!({"command": "x", "args": true}));
    let test = test.entry("off", json!({"command": "touch", "args": ["oops"], "disabled": true}));
    let run = test.args(["call", "ok", "t"]).stdout("done\n").run();
    assert!(!run.path("oops").exists());
}

#[test]
fn the_last_words_of_a_server_are_told_without_its_banner() {
    let banner = (0..12).map(|line| format!("│  Welcome {line:<4} │\n")).collect::<String>();
    let script = format!(
        "cat >&2 <<'E'\n╭────────────────╮\n{banner}│                │\n╰────────────────╯\nTraceback:\n  no key\nKeyError: 'TOKEN'\n\nE\nexit 3"
    );
    let test = || Test::new().entry("s", json!({"command": "sh", "args": ["-c", script]})).args(["call", "s", "t"]);
    let run = test().status(4).stderr_contains("│ Traceback:\n│   no key\n│ KeyError: 'TOKEN'\n").run();
    assert!(
        !run.stderr.contains('╭') && !run.stderr.contains('╰') && !run.stderr.contains("Welcome 0 "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.matches("│ ").count() <= 6, "{}", run.stderr);
    let run = test().args(["-o", "json"]).status(4).run();
    let error = run.error();
    let lines = error["stderr"].as_array().expect("lines");
    assert_eq!(&lines[lines.len() - 3..], [json!("Traceback:"), json!("  no key"), json!("KeyError: 'TOKEN'")]);
    assert!(!error["message"].as_str().expect("text").contains("KeyError"), "{error}");
}
