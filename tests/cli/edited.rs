//! `call --edit`: the arguments in an editor.

use serde_json::json;

use super::harness::{Fake, Test};

const SCRIPT: &str = r#"
cp "$1" "seen.$(ls seen.* 2>/dev/null | wc -l)"
if grep -q '^// ! ' "$1"; then printf '// mine\n{"n": 7, /* all */ "tags": ["a"],}\n' > "$1"; else printf '{"n": "x"}' > "$1"; fi
"#;

fn test() -> Test {
    let schema = json!({"type": "object", "required": ["n"], "properties": {
        "n": {"type": "integer", "description": "How many"}, "tags": {"type": "array", "items": {"type": "string"}}}});
    let test = Test::new().server("s", &Fake::new().tool_with("t", &schema)).file("edit.sh", SCRIPT);
    test.args(["call", "s", "t", "--edit"])
}

#[test]
fn arguments_are_written_in_an_editor_which_opens_again_for_what_is_wrong() {
    let person = test().args(["tags=b"]).env("EDITOR", "sh edit.sh").at_terminal(24, 80);
    person.see("done");
    let folder = person.folder().to_owned();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a copy");
    let (first, second) = (read("seen.0"), read("seen.1"));
    assert!(first.contains("  // required, whole number\n  // How many\n  \"n\": null,\n"), "{first}");
    assert!(first.contains("  \"tags\": [\n    \"b\"\n  ],\n"), "{first}");
    assert!(second.starts_with("// ! the arguments do not fit the tool: n: "), "{second}");
    assert!(second.ends_with("\n{\"n\": \"x\"}\n"), "{second}");
    let ended = person.end(0);
    let call = ended.received("s").into_iter().find(|message| message["method"] == "tools/call").expect("a call");
    assert_eq!(call["params"]["arguments"], json!({"n": 7, "tags": ["a"]}));
}

#[test]
fn what_cannot_be_edited_makes_no_call() {
    for (editor, told) in [
        ("truncate -s 0", "the file was left empty, so no call was made"),
        ("true", "the arguments do not fit the tool: n: "),
        ("false", "no editor could be used: false: it ended with"),
        ("", "no editor could be used: VISUAL and EDITOR are not set"),
    ] {
        let person = test().env("EDITOR", editor).at_terminal(24, 100);
        person.see(told);
        let ended = person.end(2);
        assert!(ended.received("s").iter().all(|message| message["method"] != "tools/call"));
    }
    test().status(2).stderr_contains("--edit needs a terminal").run();
}
