//! Output that cannot be written does no further harm, and nothing continues for a reader that is gone.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Stdio,
    time::Duration,
};

use nix::{sys::stat::Mode, unistd::mkfifo};
use serde_json::{Value, json};

use crate::harness::{Fake, Step, Test, received, wait};

fn resource(uri: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "text": "words"}})
}

fn saving(blocks: Vec<Value>, folder: &str) -> Test {
    let fake = Fake::new().tool("t").result(json!({"content": blocks}));
    Test::new().server("s", &fake).args(["call", "s", "t", "--save", folder])
}

#[test]
fn blocks_of_one_name_are_saved_in_a_straight_line() {
    let run = saving(vec![resource("file:///a.txt"); 3_000], "out").run();
    assert_eq!(fs::read_dir(run.path("out")).expect("a folder").count(), 3_000);
    assert!(run.path("out/a.txt").is_file() && run.path("out/a-3000.txt").is_file());
}

#[test]
fn a_file_in_place_of_the_folder_is_refused_before_the_call() {
    let test = saving(vec![resource("a:b")], "out").file("out", "mine");
    let run = test.status(2).stdout("").stderr_contains("nothing can be saved in out: it is not a folder").run();
    assert!(run.received("s").is_empty());
    let test = saving(vec![resource("a:b")], "out");
    std::os::unix::fs::symlink("nowhere", test.folder().join("out")).expect("a link");
    test.status(2).stderr_contains("it is a broken link").run();
}

#[test]
fn the_result_is_printed_where_its_files_cannot_be_saved() {
    let text = json!({"type": "text", "text": "what it came to"});
    let test = saving(vec![text, resource("a:b")], "file/out").file("file", "mine");
    test.status(1).stdout_contains("what it came to\n").stderr_contains("the folder file/out cannot be created").run();
}

fn reading() -> Fake {
    let capabilities = json!({"resources": {}});
    let initialized =
        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "s"}});
    let contents = json!([{"uri": "a:b", "text": "words"}, {"uri": "a:c", "other": 1}]);
    Fake::new()
        .on("initialize", [Step::Reply(initialized)])
        .on("resources/read", [Step::Reply(json!({"contents": contents}))])
}

#[test]
fn a_resource_replaces_nothing_but_a_file_and_is_not_read_before_that_is_clear() {
    let test = Test::new().server("s", &reading()).args(["read", "s", "a:b", "--to", "out"]);
    mkfifo(&test.folder().join("out"), Mode::S_IRWXU).expect("a pipe");
    let run = test.status(2).stderr_contains("out cannot be written: it is not a regular file").run();
    assert!(run.received("s").is_empty());
    let test = Test::new().server("s", &reading()).args(["read", "s", "a:b", "--to", "no/out"]);
    test.status(2).stderr_contains("there is no folder no").run();
}

#[test]
fn programs_get_a_resource_as_it_was_sent() {
    let run = Test::new().server("s", &reading()).args(["read", "s", "a:b", "-o", "json"]).run();
    assert_eq!(run.json()["contents"][0]["text"], "words");
    let test = Test::new().server("s", &reading()).args(["read", "s", "a:b", "--to", "out"]).status(6);
    let run = test.stderr_contains("an entry of its contents has neither text nor blob").run();
    assert!(!run.path("out").exists(), "a part of the resource was written");
}

#[test]
fn one_entry_that_cannot_be_read_hides_no_other() {
    let test = Test::new().server("s", &reading()).args(["read", "s", "a:b"]).stdout("words");
    test.stderr("warning: s: an entry of its contents has neither text nor blob; -o json shows all that was sent\n")
        .run();
    let odd = [json!(7), json!(null), json!({"title": "none"}), json!({"name": 5, "uri": 5, "uriTemplate": 5})];
    let listed = |good: Value| odd.iter().cloned().chain([good]).collect::<Vec<_>>();
    let initialized = json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "s"},
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}}});
    let fake = Fake::new()
        .on("initialize", [Step::Reply(initialized)])
        .on("tools/list", [Step::Reply(json!({"tools": listed(json!({"name": "t"}))}))])
        .on("resources/list", [Step::Reply(json!({"resources": listed(json!({"uri": "a:b", "name": "r"}))}))])
        .on("resources/templates/list", [Step::Reply(json!({"resourceTemplates": [{"uriTemplate": "a:{b}"}]}))])
        .on("prompts/list", [Step::Reply(json!({"prompts": listed(json!({"name": "p"}))}))]);
    for (command, method, key, shown) in [
        ("tools", "tools/list", "name", "t()\n"),
        ("resources", "resources/list", "uri", "a:b    r\na:{b}\n"),
        ("prompts", "prompts/list", "name", "p\n"),
    ] {
        let told = format!("warning: s: 4 entries of its {method} have no {key} and are left out\n");
        Test::new().server("s", &fake).args([command, "s"]).stdout(shown).stderr(&told).run();
    }
}

#[test]
fn no_entry_that_can_be_read_is_an_error() {
    let capabilities = json!({"resources": {}});
    let initialized =
        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "s"}});
    let fake = Fake::new()
        .on("initialize", [Step::Reply(initialized)])
        .on("resources/read", [Step::Reply(json!({"contents": [7, {"blob": "%"}]}))]);
    let test = Test::new().server("s", &fake).args(["read", "s", "a:b"]).status(6).stdout("");
    test.stderr_contains("the answer to resources/read is not valid").run();
}

#[test]
fn no_more_calls_are_made_for_a_reader_who_has_gone() {
    const LINES: usize = 3_000;
    let fake = Fake::new().tool("t");
    let test = Test::new().server("s", &fake).file("lines", "{}\n".repeat(LINES));
    let test = test.args(["call", "s", "t", "--each", "lines"]);
    let mut program =
        test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(program.stdout.take().expect("its stdout")).read_line(&mut line).expect("a line");
    assert!(line.contains("\"ok\":true"), "{line}");
    let run = wait(program, Duration::from_secs(60));
    assert_eq!(run.status, Some(0));
    let calls = received(test.folder(), "s").iter().filter(|message| message["method"] == "tools/call").count();
    assert!(calls < LINES / 2, "{calls} calls");
}

#[test]
fn nothing_is_watched_for_a_reader_who_has_gone() {
    let capabilities = json!({"logging": {}, "resources": {"subscribe": true}});
    let initialized =
        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "s"}});
    let log =
        |data: &str| Step::Send(json!({"method": "notifications/message", "params": {"level": "error", "data": data}}));
    let fake =
        Fake::new().on("initialize", [Step::Reply(initialized)]).on("logging/setLevel", [Step::Reply(json!({}))]).on(
            "notifications/initialized",
            [log("one"), Step::ExpectFile("closed".to_owned()), log("two"), log("three"), log("four"), Step::ExpectEnd],
        );
    let test = Test::new().server("s", &fake).args(["watch", "s"]);
    let mut program =
        test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(program.stdout.take().expect("its stdout")).read_line(&mut line).expect("a line");
    assert!(line.contains("one"), "{line}");
    fs::write(test.folder().join("closed"), "").expect("written");
    assert_eq!(wait(program, Duration::from_secs(20)).status, Some(0));
}
