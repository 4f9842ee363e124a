//! `call --each`: one call for each line.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use super::harness::{Fake, Step, Test, wait};

fn counting() -> Fake {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "tag": {"type": "string"}}, "required": ["n"]});
    Fake::new().tool_with("t", &schema)
}

fn said(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}]})
}

fn call(n: u32) -> Value {
    json!({"method": "tools/call", "params": {"arguments": {"n": n}}})
}

/// A line in short: the text of its result, or its error.
fn told(line: &Value) -> (u64, bool, String) {
    let words = line["result"]["content"][0]["text"].as_str().or(line["error"]["message"].as_str());
    (line["index"].as_u64().expect("an index"), line["ok"] == true, words.unwrap_or_default().to_owned())
}

fn line(index: u64, ok: bool, words: &str) -> (u64, bool, String) {
    (index, ok, words.to_owned())
}

#[test]
fn each_line_is_a_call_over_one_connection_and_arguments_are_laid_over_all() {
    for fake in [counting(), counting().modern()] {
        let test =
            Test::new().server("s", &fake).file("in.jsonl", "{\"n\": 1, \"tag\": \"old\"}\n\n{\"n\": 2}\n{\"n\":3}");
        let run = test.args(["call", "s", "t", "tag=new", "--each", "in.jsonl"]).run();
        let lines: Vec<_> = run.events().iter().map(told).collect();
        assert_eq!(lines, [line(0, true, "done"), line(1, true, "done"), line(2, true, "done")]);
        let received = run.received("s");
        let count = |method: &str| received.iter().filter(|message| message["method"] == method).count();
        assert_eq!((count("tools/list"), count("tools/call")), (1, 3));
        for n in 0..3 {
            assert_eq!(run.params("s", "tools/call", n)["arguments"], json!({"n": n + 1, "tag": "new"}));
        }
    }
}

#[test]
fn several_are_under_way_and_their_results_stay_in_order() {
    // The first call is answered after the second has arrived and was answered itself.
    let second = json!({"id": 7, "result": said("second")});
    let fake =
        counting().on_call([Step::Expect(call(2)), Step::Send(second), Step::Pause(50), Step::Reply(said("first"))]);
    let test = Test::new().server("s", &fake).stdin("{\"n\":1}\n{\"n\":2}\n");
    let run = test.args(["call", "s", "t", "--each", "-", "-j", "2"]).run();
    let lines: Vec<_> = run.events().iter().map(told).collect();
    assert_eq!(lines, [line(0, true, "first"), line(1, true, "second")]);
}

#[test]
fn the_first_line_that_fails_ends_it_and_is_named() {
    let test = || {
        let fake = counting().result(said("one")).on_call([Step::Fail(json!({"code": -32000, "message": "no"}))]);
        let fake =
            fake.result(json!({"content": [{"type": "text", "text": "bad"}], "isError": true})).result(said("four"));
        Test::new().server("s", &fake).args(["call", "s", "t", "--each", "-"])
    };
    let run = test().stdin("{\"n\":1}\n\n{\"n\":2}\n{\"n\":3}\n").status(6);
    let run = run.stderr_contains("error: line 3: s: the server answered tools/call with error -32000\n│ no").run();
    let lines: Vec<_> = run.events().iter().map(told).collect();
    assert_eq!(
        lines,
        [line(0, true, "one"), line(1, false, "line 3: s: the server answered tools/call with error -32000\nno")]
    );
    let text = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n[4]\n{\"n\":\n{\"n\":\"x\"}\n{\"n\":7}\n";
    let run = test().args(["--keep-going"]).stdin(text).status(6).stderr_contains("error: 5 lines failed").run();
    let lines: Vec<_> = run.events().iter().map(told).collect();
    assert_eq!(lines.iter().map(|(_, ok, _)| *ok).collect::<Vec<_>>(), [true, false, false, false, false, false, true]);
    assert_eq!(lines[2].2, "bad");
    assert_eq!(run.events()[2]["error"]["code"], "tool-failed");
    assert_eq!(lines[3].2, "line 4: it is not a JSON object of arguments");
    assert_eq!(lines[4].2, "line 5: it is not JSON: column 5");
    assert!(lines[5].2.starts_with("line 6: the arguments do not fit the tool: n: "), "{}", lines[5].2);
    assert_eq!(lines[6].2, "four");
}

#[test]
fn results_are_narrowed_and_saved_as_for_one_call() {
    let image = json!({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}], "structuredContent": {"id": 7}});
    let test = || Test::new().server("s", &counting().result(image.clone())).stdin("{\"n\":1}\n{\"n\":2}\n");
    let run = test().args(["call", "s", "t", "--each", "-", "--select", "id", "--save", "out"]).run();
    let lines = run.events();
    assert_eq!(lines[0], json!({"index": 0, "ok": true, "result": 7, "saved": ["out/image.png"]}));
    assert_eq!(lines[1]["saved"], json!(["out/image-2.png"]));
    assert!(run.path("out/image-2.png").is_file());
    let run = test().args(["call", "s", "t", "--each", "-", "-o", "data"]).run();
    assert_eq!(
        run.stdout,
        "{\"index\":0,\"ok\":true,\"result\":{\"id\":7}}\n{\"index\":1,\"ok\":true,\"result\":{\"id\":7}}\n"
    );
    let run = test().args(["call", "s", "t", "--each", "-", "--dry-run"]).run();
    assert_eq!(run.events()[1]["request"]["params"]["arguments"], json!({"n": 2}));
    assert!(run.received("s").iter().all(|message| message["method"] != "tools/call"));
}

#[test]
fn questions_are_answered_in_every_call() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let params = json!({"message": "Who?", "requestedSchema": schema});
    let ask = |id: &str| {
        [
            Step::Send(json!({"id": id, "method": "elicitation/create", "params": params})),
            Step::Expect(json!({"id": id})),
            Step::Reply(said(id)),
        ]
    };
    let test = || {
        let fake = counting().on_call(ask("a")).on_call(ask("b"));
        Test::new().server("s", &fake).args(["call", "s", "t", "--each", "-"]).stdin("{\"n\":1}\n{\"n\":2}\n")
    };
    let run = test().args(["--answer", "name=Ada", "-j", "2"]).run();
    assert_eq!(run.reply("s", &json!("b"))["content"], json!({"name": "Ada"}));
    let run = test().args(["--keep-going"]).status(8).run();
    let lines = run.events();
    assert_eq!((&lines[0]["error"]["code"], &lines[1]["error"]["code"]), (&json!("unanswered"), &json!("unanswered")));
    assert_eq!(lines[1]["result"], said("b"));
    assert!(lines[1]["error"]["hint"].as_str().is_some_and(|hint| hint.contains("\"content\": {\"name\": null}")));
}

#[test]
fn a_line_is_called_as_soon_as_it_comes_and_ctrl_c_keeps_what_is_done() {
    let cancelled = Step::Expect(json!({"method": "notifications/cancelled"}));
    let test = Test::new().server("s", &counting().result(said("one")).on_call([cancelled]));
    let test = test.args(["call", "s", "t", "--each", "-"]);
    let mut command = test.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = command.spawn().expect("the program starts");
    let mut stdin = program.stdin.take().expect("stdin");
    stdin.write_all(b"{\"n\":1}\n").expect("written");
    let mut stdout = BufReader::new(program.stdout.take().expect("stdout"));
    let mut first = String::new();
    stdout.read_line(&mut first).expect("a line, while stdin is open");
    assert!(first.starts_with("{\"index\":0,\"ok\":true"), "{first}");
    stdin.write_all(b"{\"n\":2}\n").expect("written");
    while !super::harness::received(test.folder(), "s").iter().any(|message| message["params"]["arguments"]["n"] == 2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    kill(Pid::from_raw(program.id().cast_signed()), Signal::SIGINT).expect("the program is there");
    let mut second = String::new();
    stdout.read_line(&mut second).expect("a line");
    assert!(second.contains("\"index\":1,\"ok\":false") && second.contains("line 2: interrupted"), "{second}");
    let run = wait(program, Duration::from_secs(20));
    assert_eq!(run.status, Some(130));
    assert!(run.stderr.contains("note: the lines after line 2 were not called"), "{}", run.stderr);
}

#[test]
fn memory_does_not_grow_with_the_number_of_lines() {
    let input = |count: usize| "{\"n\":1}\n".repeat(count);
    let peak = |count: usize| {
        let fake = counting().on_call([Step::ReplyBytes(50_000)]);
        let run =
            Test::new().server("s", &fake).args(["call", "s", "t", "--each", "-", "-j", "4"]).stdin(input(count)).run();
        assert_eq!(run.stdout.lines().count(), count);
        run.peak
    };
    let (few, many) = (peak(40), peak(400));
    // Four hundred results are 20 MB.
    assert!(many < few + 10_000, "{few} KiB for 40 calls, {many} KiB for 400");
}

#[test]
fn what_cannot_be_read_is_said_before_anything_starts() {
    for (words, told) in [
        (vec!["--each", "nope"], "--each nope cannot be read"),
        (vec!["--each", "."], "it is a folder"),
        (vec!["--each", "-", "--answers", "-"], "--each - cannot be used here"),
        (vec!["--each", "-", "--args", "{}"], "cannot be used with"),
        (vec!["-j", "2"], "--each"),
    ] {
        let test = Test::new().server("s", &counting()).args(["call", "s", "t"]).args(words);
        let run = test.stdin("").status(2).stderr_contains(told).run();
        assert!(run.received("s").is_empty());
    }
}
