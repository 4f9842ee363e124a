//! What is shown of a result, saved of it, and taken out of it.

use std::fs;

use serde_json::{Value, json};

use super::harness::{Fake, Test};

/// A PNG's first bytes.
const IMAGE: &str = "iVBORw0KGgo=";

fn found() -> Value {
    json!({"content": [
        {"type": "text", "text": "Found 2 items."},
        {"type": "image", "mimeType": "image/png", "data": IMAGE},
        {"type": "resource", "resource": {"uri": "file:///x/../../notes.md", "text": "# Notes"}},
    ], "structuredContent": {"items": [{"name": "a"}, {"name": "two\nlines"}], "total": 2}})
}

fn call(result: Value) -> Test {
    Test::new().server("s", &Fake::new().tool("t").result(result)).args(["call", "s", "t"])
}

#[test]
fn structured_content_is_shown_beside_a_text_that_says_less() {
    call(found()).stdout_contains("Found 2 items.\n").stdout_contains("\"total\": 2\n}\n").run();
    let same = json!({"content": [{"type": "text", "text": "{\"total\": 2.0}"}], "structuredContent": {"total": 2}});
    call(same).stdout("{\"total\": 2.0}\n").run();
    let wrapped = json!({"content": [{"type": "text", "text": "Hello"}], "structuredContent": {"result": "Hello"}});
    call(wrapped).stdout("Hello\n").run();
}

#[test]
fn data_is_the_structured_content_or_the_text() {
    let run = call(found()).args(["-o", "data"]).run();
    assert_eq!(run.json(), found()["structuredContent"]);
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    call(text("[1, 2]")).args(["-o", "data"]).stdout("[1, 2]\n").run();
    call(text("just words")).args(["-o", "data"]).stdout("\"just words\"\n").run();
    call(json!({"content": []})).args(["-o", "data"]).stdout("null\n").run();
    let failed = json!({"content": [{"type": "text", "text": "no such file"}], "isError": true});
    call(failed).args(["-o", "data"]).status(1).stdout("").stderr_contains("no such file").run();
}

#[test]
fn one_part_is_printed_without_quotes() {
    let select = |path| call(found()).args(["--select", path]);
    select("content[0].text").stdout("Found 2 items.\n").run();
    select("/structuredContent/items/0/name").stdout("a\n").run();
    select("items[-1].name").stdout("two\nlines\n").run();
    select("total").stdout("2\n").run();
    select("items[0]").stdout("{\"name\":\"a\"}\n").run();
    select("items[0].name").args(["-o", "json"]).stdout("\"a\"\n").run();
    select("items[7]").status(1).stdout("").stderr_contains("items is a list, [0] to [1]; there is no [7]").run();
    let run = select("item").status(1).args(["-o", "json"]).run();
    assert_eq!(run.error()["code"], "no-part");
    let hostile = json!({"content": [], "structuredContent": {"a": "x\u{1b}[2J"}});
    call(hostile).args(["--select", "a"]).stdout("x\\u{1b}[2J\n").run();
    let failed = json!({"content": [{"type": "text", "text": "no such file"}], "isError": true});
    call(failed).args(["--select", "items"]).status(1).stdout("").stderr_contains("no such file").run();
}

#[test]
fn what_is_no_text_is_saved_and_nothing_is_replaced() {
    let test = call(found()).file("out/image-2.png", "mine").args(["--save", "out"]);
    let run = test.stdout_contains("[image saved: out/image-2-2.png]\n[resource saved: out/notes.md]\n").run();
    assert_eq!(fs::read(run.path("out/image-2.png")).expect("a file"), b"mine");
    assert_eq!(fs::read(run.path("out/image-2-2.png")).expect("a file"), b"\x89PNG\r\n\x1a\n");
    assert_eq!(fs::read(run.path("out/notes.md")).expect("a file"), b"# Notes");
    let run =
        call(found()).args(["--save", "new/folder", "-o", "json"]).stderr_contains("saved new/folder/notes.md").run();
    assert_eq!(run.json(), found());
    call(found()).file("taken", "").args(["--save", "taken"]).status(1).stderr_contains("the folder taken").run();
}

#[test]
fn an_image_says_how_it_is_saved() {
    call(found()).stdout_contains("[image: image/png, 8 bytes; --save DIR saves it]\n").run();
}
