//! `doctor`: whether servers are well.

use serde_json::json;

use super::harness::{Fake, Step, Test};

#[test]
fn a_server_that_is_well_is_said_to_be() {
    let run =
        Test::new().demo().args(["doctor", "forms", "--strict"]).stdout_contains("ok      start: toolnexus-demo").run();
    for step in ["ok      entry: stdio  ", "program: /", "tools: 5 listed", "prompts: 1 listed"] {
        assert!(run.stdout.contains(step), "{step}: {}", run.stdout);
    }
    let run = Test::new().demo().args(["doctor", "forms", "-o", "json"]).run();
    assert_eq!((&run.json()["well"], &run.json()["servers"]["forms"]["error"]), (&json!(true), &json!(null)));
}

#[test]
fn what_is_wrong_with_a_server_is_named_and_fails_where_that_is_wanted() {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}});
    let server = Fake::new().tool_with("a b\u{1b}", &schema).on(
        "initialize",
        [
            Step::Raw("Server is starting!".to_owned()),
            Step::Reply(
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "f"}}),
            ),
        ],
    );
    let test = || Test::new().server("s", &server).args(["doctor", "s"]);
    let run = test().stdout_contains("not a message").run();
    for part in ["some clients refuse it", "no description", "#/nowhere"] {
        assert!(run.stdout.contains(part) && !run.stdout.contains('\u{1b}'), "{part}: {}", run.stdout);
    }
    test().args(["--strict"]).status(6).stderr_contains("things look wrong").run();
}

#[test]
fn what_cannot_start_is_told_with_what_to_do() {
    let npx = json!({"command": "/nowhere/npx", "args": ["-y", "x"], "env": {"KEY": "hidden"}});
    let test = || Test::new().demo().entry("node", npx.clone()).entry("bad", json!({"command": 7}));
    let run = test().args(["doctor", "--trust"]).status(4).stdout_contains("install Node.js").run();
    assert!(
        run.stdout.contains("FAILED  entry") && run.stdout.contains("ok      start: toolnexus-demo"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("hidden"), "{}", run.stdout);
    let crash = json!({"command": "sh", "args": ["-c", "echo no licence >&2; exit 3"]});
    let run = Test::new().entry("s", crash).args(["doctor", "s", "-o", "json"]).status(4).run();
    assert_eq!(run.json()["servers"]["s"]["error"]["stderr"], json!(["no licence"]));
}
