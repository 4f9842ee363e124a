//! Text from a server never reaches the terminal unchanged, wherever it appears.

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

/// Control characters, escape sequences, overrides, invisible characters, and a line that looks like one of ours.
const HOSTILE: &str = "H\u{1b}[7;7H\u{1b}]0;owned\u{7}\u{9b}31m\u{90}\u{8}\u{7f}\rover\u{202e}\u{2066}\u{200b}\u{200f}\u{2028}\
                       \u{feff}\u{85}\u{ad}\u{61c}\u{e0041}\nerror: forged";

/// What must never be written unchanged, in addition to each character of [`HOSTILE`] that is not ASCII. The program's
/// own drawing has escape sequences and carriage returns, but not these.
const NEVER: [&str; 6] = ["\u{1b}[7;7H", "\u{1b}]0;owned", "owned\u{7}", "\u{8}", "\u{7f}", "\rover"];
/// Allowed only in a result, which has its own lines.
const FORGED: &str = "\nerror: forged";

#[track_caller]
fn check(place: &str, written: &str) {
    for never in NEVER {
        assert!(!written.contains(never), "{place}: {never:?} was written:\n{written:?}");
    }
    for never in HOSTILE.chars().filter(|c| !c.is_ascii()) {
        assert!(!written.contains(never), "{place}: {never:?} was written:\n{written:?}");
    }
    assert!(place.starts_with("a result") || !written.contains(FORGED), "{place}: a line was forged:\n{written}");
}

/// The name and the description of anything that has both.
fn text(extra: &Value) -> Value {
    let mut object = json!({"title": HOSTILE, "description": HOSTILE});
    object.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
    object
}

fn schema() -> Value {
    let properties = json!({
        (HOSTILE): text(&json!({"type": "string", "default": HOSTILE})),
        "pick": text(&json!({"oneOf": [{"const": HOSTILE, "title": HOSTILE, "description": HOSTILE}]})),
        "named": text(&json!({"enum": [HOSTILE, "b"], "enumNames": [HOSTILE, HOSTILE]})),
        "many": text(&json!({"type": "array", "items": {"anyOf": [{"const": HOSTILE, "title": HOSTILE}]},
            "default": [HOSTILE]})),
        "format": text(&json!({"type": "string", "format": HOSTILE, "pattern": HOSTILE})),
        "odd": text(&json!({"type": HOSTILE})),
    });
    json!({"title": HOSTILE, "type": "object", "properties": properties, "required": ["pick", HOSTILE]})
}

/// A server that says it in everything before a call.
fn server() -> Fake {
    let named = text(&json!({"name": HOSTILE, "version": HOSTILE, "websiteUrl": HOSTILE}));
    let capabilities = json!({"tools": {}, "logging": {}});
    let tool = text(&json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": {"title": HOSTILE}}));
    let other = text(&json!({"name": HOSTILE, "inputSchema": schema()}));
    Fake::new()
        .on("start", [Step::Stderr(HOSTILE.replace('\n', " ")), Step::Raw(HOSTILE.replace('\n', " "))])
        .on(
            "initialize",
            [Step::Reply(json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": named, "instructions": HOSTILE}))],
        )
        .on(
            "tools/list",
            [Step::Reply(json!({"tools": [tool, other, HOSTILE, {"name": HOSTILE, "inputSchema": HOSTILE}]}))],
        )
}

fn said() -> [Step; 3] {
    let progress = json!({"progressToken": "$token", "progress": 1, "total": 3, "message": HOSTILE});
    [
        Step::Send(json!({"method": "notifications/progress", "params": progress})),
        Step::Send(json!({"method": "notifications/message",
            "params": {"level": HOSTILE, "logger": HOSTILE, "data": {(HOSTILE): HOSTILE}}})),
        Step::Send(json!({"method": HOSTILE, "params": {"a": HOSTILE}})),
    ]
}

fn ask(params: &Value) -> [Step; 2] {
    let ask = json!({"id": "q", "method": "elicitation/create", "params": params});
    [Step::Send(ask), Step::Expect(json!({"id": "q"}))]
}

/// Starts the program at a terminal, and checks all its output after the end.
fn ends(place: &str, test: Test, keys: &str, seen: &str) {
    let person = test.at_terminal(24, 100);
    if !seen.is_empty() {
        person.see(seen);
    }
    for (index, key) in keys.chars().enumerate() {
        if index == 0 || key == '\r' {
            person.send(&key.to_string())
        } else {
            person.send_at_once(&key.to_string())
        };
    }
    check(place, &person.all_written());
}

#[test]
fn what_is_listed() {
    for words in [
        &["tools", "s"][..],
        &["tools", "s", "t"],
        &["servers", "--check", "--trust"],
        &["call", "s", "nothing"],
        &["-v", "tools", "s"],
    ] {
        let test = Test::new().server("s", &server()).args(words.iter().copied());
        ends(&words.join(" "), test, "", "");
    }
}

#[test]
fn what_a_call_brings() {
    let blocks = json!([
        {"type": "text", "text": HOSTILE},
        {"type": "resource_link", "uri": HOSTILE, "name": HOSTILE, "title": HOSTILE, "description": HOSTILE},
        {"type": "image", "mimeType": HOSTILE, "data": HOSTILE},
        {"type": "audio", "mimeType": HOSTILE, "data": ""},
        {"type": "resource", "resource": {"uri": HOSTILE, "mimeType": HOSTILE, "text": HOSTILE}},
        {"type": "resource", "resource": {"uri": HOSTILE, "mimeType": HOSTILE, "blob": "AA=="}},
        {"type": HOSTILE},
        HOSTILE,
    ]);
    for (place, end) in [
        ("a result", Step::Reply(json!({"content": blocks}))),
        ("a result that failed", Step::Reply(json!({"content": blocks, "isError": true}))),
        ("structured", Step::Reply(json!({"content": [], "structuredContent": {(HOSTILE): HOSTILE}}))),
        ("unusual", Step::Reply(json!({(HOSTILE): HOSTILE}))),
        ("an error", Step::Fail(json!({"code": -32000, "message": HOSTILE, "data": {(HOSTILE): HOSTILE}}))),
        ("a strange error", Step::Fail(json!({"code": HOSTILE, "message": {"a": HOSTILE}}))),
        ("a death", Step::Exit(3)),
    ] {
        for mode in ["text", "json", "events"] {
            let fake = server().on_call(said().into_iter().chain([end.clone()]));
            let test = Test::new().server("s", &fake).args(["-v", "call", "s", "t", "-o", mode]);
            ends(&format!("{place} as {mode}"), test, "", "");
        }
    }
}

#[test]
fn what_is_asked() {
    let form = json!({"message": HOSTILE, "requestedSchema": schema()});
    let done = || Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}));
    let test = |params: &Value| {
        let fake = server().on_call(ask(params).into_iter().chain([done()]));
        Test::new().server("s", &fake).args(["call", "s", "t"])
    };
    // The whole form, and its review.
    let person = test(&form).at_terminal(40, 100);
    person.see("1 of 6").send("\r").see("2 of 6").send("\r").see("3 of 6").send("\x1b[B\r").see("4 of 6").send(" \r");
    person.see("5 of 6").send("\x15\r").see("6 of 6").send("\x15\r").see("What s will receive");
    check("a form", &person.written());
    person.send("\x03").see("done");
    check("a form", &person.all_written());
    ends("a plain terminal", test(&form).env("TERM", "dumb"), "\r\x03", "> ");
    let empty = json!({"message": HOSTILE, "requestedSchema": {"type": "object", "title": HOSTILE}});
    ends("a confirmation", test(&empty), "y\r", "  Accept");
    let link = |url: &str| json!({"mode": "url", "message": HOSTILE, "elicitationId": HOSTILE, "url": url});
    ends("a link", test(&link("https://a.example/")).args(["--no-browser"]), "\x03", "host    a.example");
    for url in [HOSTILE.to_owned(), format!("https://a.example/{HOSTILE}"), format!("javascript:{HOSTILE}")] {
        let person = test(&link(&url)).at_terminal(24, 100);
        person.see("s asked a question that could not be answered (call t): the link cannot be opened: ");
        check(&format!("the link {url:?}"), &person.all_written());
        assert_eq!(person.end(8).reply("s", "q"), json!({"action": "cancel"}));
    }
    ends("a report", test(&form).args(["--elicit", "fail"]), "", "");
    let wrong = r#"[{"content": {"pick": "x", "many": ["y"]}}]"#;
    ends("a wrong answer", test(&form).file("a.json", wrong).args(["--answers", "a.json"]), "", "");
    let odd = json!({"mode": HOSTILE, "message": HOSTILE, "requestedSchema": HOSTILE});
    ends("an odd mode", test(&odd), "\x03", "");
}

#[test]
fn what_a_modern_server_says() {
    let question = json!({"method": "elicitation/create", "params": {"message": HOSTILE, "requestedSchema": schema()}});
    let handle = |status: &str| json!({"resultType": "task", "taskId": HOSTILE, "status": status, "statusMessage": HOSTILE, "pollIntervalMs": 20});
    for (place, reply, later) in [
        ("an unknown type", json!({"resultType": HOSTILE}), json!({})),
        (
            "an unknown input",
            json!({"resultType": "input_required", "inputRequests": {(HOSTILE): {"method": HOSTILE}}}),
            json!({}),
        ),
        ("a question", json!({"resultType": "input_required", "inputRequests": {(HOSTILE): question}}), json!({})),
        ("a task", handle("working"), json!({"status": HOSTILE, "statusMessage": HOSTILE})),
        ("a failed task", handle(HOSTILE), json!({"status": "failed", "error": {"code": 1, "message": HOSTILE}})),
    ] {
        let fake = Fake::new()
            .modern()
            .tool("t")
            .result(reply)
            .on("tasks/get", [Step::Reply(later)])
            .on("tasks/get", [Step::Fail(json!({"code": 1, "message": HOSTILE}))]);
        for options in [&["-v", "--elicit", "fail"][..], &["--defer", "call.json"]] {
            let test = Test::new().server("s", &fake).args(["call", "s", "t"]).args(options.iter().copied());
            ends(place, test, "", "");
        }
    }
    let links = json!([{"mode": "url", "message": HOSTILE, "url": "https://a.example/", "elicitationId": HOSTILE}]);
    let error = json!({"code": -32042, "message": HOSTILE, "data": {"elicitations": links}});
    let test = Test::new().server("s", &server().on_call([Step::Fail(error)])).args(["call", "s", "t"]);
    ends("a required link", test, "\x03", "  Open");
}
