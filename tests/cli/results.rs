//! What is shown, saved, and selected of a result.

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
fn structured_content_is_shown_below_a_text_that_says_less() {
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
    select("items[7]").status(1).stdout("").stderr_contains("items has 2 entries, [0] to [1]; there is no [7]").run();
    let run = select("item").status(1).args(["-o", "json"]).run();
    assert_eq!(run.error()["code"], "no-part");
    let hostile = json!({"content": [], "structuredContent": {"a": "x\u{1b}[2J"}});
    call(hostile).args(["--select", "a"]).stdout("x\\u{1b}[2J\n").run();
    let failed = json!({"content": [{"type": "text", "text": "no such file"}], "isError": true});
    call(failed).args(["--select", "items"]).status(1).stdout("").stderr_contains("no such file").run();
}

#[test]
fn what_is_no_text_is_saved_and_nothing_is_replaced() {
    let test = call(found()).file("out/image.png", "mine").args(["--save", "out"]);
    let run = test.stdout_contains("[image saved: out/image-2.png]\n[resource saved: out/notes.md]\n").run();
    assert_eq!(fs::read(run.path("out/image.png")).expect("a file"), b"mine");
    assert_eq!(fs::read(run.path("out/image-2.png")).expect("a file"), b"\x89PNG\r\n\x1a\n");
    assert_eq!(fs::read(run.path("out/notes.md")).expect("a file"), b"# Notes");
    let run =
        call(found()).args(["--save", "new/folder", "-o", "json"]).stderr_contains("saved new/folder/notes.md").run();
    assert_eq!(run.json(), found());
    call(found())
        .file("taken", "")
        .args(["--save", "taken"])
        .status(2)
        .stderr_contains("nothing can be saved in taken")
        .run();
}

#[test]
fn an_image_says_how_it_is_saved() {
    call(found()).stdout_contains("[image: image/png, 8 bytes; --save DIR saves it]\n").run();
}

#[test]
fn long_text_is_shown_in_a_pager_at_a_terminal() {
    let words = |lines: u32| (1..=lines).map(|line| format!("line {line}\n")).collect::<String>();
    let test = |lines: u32| {
        let result = json!({"content": [{"type": "text", "text": words(lines)}]});
        let test = Test::new().server("s", &Fake::new().tool("t").result(result)).args(["call", "s", "t"]);
        test.env("PAGER", "sed s/^/paged:$LESS/")
    };
    let person = test(60).at_terminal(24, 80);
    person.see("paged:$LESSline 60");
    person.end(0);
    let person = test(60).env("PAGER", "sh -c 'echo LESS is $LESS; cat > /dev/null'").at_terminal(24, 80);
    person.see("LESS is FRX");
    person.end(0);
    for (test, lines) in [(test(20), 20), (test(60).args(["--no-pager"]), 60), (test(60).env("TERM", "dumb"), 60)] {
        let person = test.at_terminal(24, 80);
        person.see(&format!("line {lines}"));
        assert!(!person.all_written().contains("paged"));
        person.end(0);
    }
    // A missing pager, and one that exits immediately, do no harm.
    let person = test(60).env("PAGER", "no-such-pager").at_terminal(24, 80);
    person.see("line 60");
    person.end(0);
    test(100_000).env("PAGER", "true").at_terminal(24, 80).end(0);
    assert_eq!(test(60).run().stdout, words(60));
}

#[test]
fn images_are_shown_by_terminals_that_can_and_refused_by_others() {
    let image =
        json!({"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"}]});
    let test =
        || Test::new().server("s", &Fake::new().tool("t").result(image.clone())).args(["call", "s", "t", "--images"]);
    let person = test().env("TERM", "xterm-kitty").at_terminal(24, 80);
    let written = person.all_written();
    assert!(written.contains("\x1b_Ga=T,f=100,q=2,m=0;iVBORw0KGgo"), "{written:?}");
    person.end(0);
    let person = test().env("TERM_PROGRAM", "iTerm.app").at_terminal(24, 80);
    assert!(person.all_written().contains("\x1b]1337;File=inline=1;size=24;width=auto:iVBORw0KGgo"));
    person.end(0);
    let person = test().at_terminal(24, 120);
    person.see("warning: no image is shown: this terminal is not known to show images");
    person.see("[image: image/png, 24 bytes; --save DIR saves it]");
    person.end(0);
    test().stdout("[image: image/png, 24 bytes; --save DIR saves it]\n").stderr_contains("no image is shown").run();
}

#[test]
fn links_to_resources_say_how_they_are_read() {
    let link = json!({"content": [{"type": "resource_link", "uri": "demo://a", "name": "a"}]});
    let test = || Test::new().server("s", &Fake::new().tool("t").result(link.clone())).args(["call", "s", "t"]);
    let person = test().at_terminal(24, 80);
    person.see("[`toolnexus read s demo://a` reads it]");
    person.end(0);
    test().stdout("a: demo://a\n").run();
}
