//! The answers of people and files go only to the server.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

const SECRET: &str = "hunter2-\u{e9}";

fn params() -> Value {
    let schema = json!({"type": "object", "properties": {"password": {"type": "string"}, "name": {"type": "string"}},
        "required": ["password"]});
    json!({"message": "Log in", "requestedSchema": schema})
}

fn server(modern: bool) -> Fake {
    let done = json!({"content": [{"type": "text", "text": "done"}], "resultType": "complete"});
    if modern {
        let asking = json!({"resultType": "input_required",
            "inputRequests": {"q": {"method": "elicitation/create", "params": params()}}});
        return Fake::new().modern().tool("t").result(asking).result(done);
    }
    let ask = json!({"id": "q", "method": "elicitation/create", "params": params()});
    Fake::new().tool("t").on_call([Step::Send(ask), Step::Expect(json!({"id": "q"})), Step::Reply(done)])
}

fn call(modern: bool) -> Test {
    Test::new().server("s", &server(modern)).args([
        "call",
        "s",
        "t",
        "--trace",
        "trace.jsonl",
        "--record",
        "record.json",
    ])
}

/// All files below `folder` that contain the secret, except the server's log of messages and `answers`.
fn leaks(folder: &Path) -> Vec<String> {
    let mut leaks = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            leaks.extend(self::leaks(&path));
        } else if name != "answers.json" && name != "s.received" {
            let text = fs::read(&path).expect("a file");
            if String::from_utf8_lossy(&text).contains("hunter2") {
                leaks.push(name);
            }
        }
    }
    leaks
}

fn received(messages: &[Value]) -> bool {
    messages.iter().any(|message| message.to_string().contains(SECRET))
}

#[test]
fn a_secret_reaches_only_the_server() {
    let answers = json!([{"content": {"password": SECRET, "name": "Ada"}, "secret": true}]).to_string();
    for modern in [false, true] {
        for mode in ["text", "json", "events"] {
            let test = call(modern).file("answers.json", &answers);
            let run = test.args(["--answers", "answers.json", "-v", "-o", mode]).run();
            assert!(received(&run.received("s")));
            assert!(!run.stdout.contains("hunter2") && !run.stderr.contains("hunter2"), "{mode}: {}", run.stderr);
            assert_eq!(leaks(run.folder()), Vec::<String>::new(), "{mode}, modern: {modern}");
            let record = fs::read_to_string(run.path("record.json")).expect("a record");
            assert!(record.contains("Ada"), "{record}");
        }
    }
}

#[test]
fn a_script_fills_a_secret_only_when_it_says_so() {
    let plain = json!({"password": SECRET}).to_string();
    let entry = json!([{"content": {"password": SECRET}}]).to_string();
    for modern in [false, true] {
        for answers in [&plain, &entry] {
            let test = call(modern).file("answers.json", answers).args(["--answers", "answers.json"]);
            let run = test.status(8).stderr_contains("it looks like a secret").run();
            assert!(!received(&run.received("s")) && !run.stderr.contains("hunter2"), "{}", run.stderr);
        }
        let run = call(modern).args(["--answer", &format!("password={SECRET}")]).status(8).run();
        assert!(!received(&run.received("s")) && !run.stderr.contains("hunter2"), "{}", run.stderr);
    }
}

#[test]
#[cfg(unix)]
fn a_secret_that_is_typed_is_neither_shown_nor_kept() {
    for modern in [false, true] {
        let test = call(modern);
        let folder = test.folder().to_owned();
        let person = test.args(["-v"]).at_terminal(24, 100);
        person.see("! secrets do not belong in forms").send(SECRET).send("\r").see("password, again");
        person.send(SECRET).send("\r").see("2 of 2").send("\r").see("  Send").send("1\r").see("done");
        assert!(!person.all_written().contains("hunter"), "it was shown");
        assert_eq!(leaks(&folder), Vec::<String>::new());
        assert!(received(&person.end(0).received("s")));
    }
}
