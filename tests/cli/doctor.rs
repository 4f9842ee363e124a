//! `doctor`: what is wrong with servers.

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
fn the_surroundings_of_a_server_are_reported() {
    let refused = json!({"url": "http://127.0.0.1:9/mcp"});
    let test = |entry: serde_json::Value| Test::new().entry("web", entry).args(["doctor", "web"]).status(4);
    test(refused).stdout_contains("sign-in: you are not signed in").stdout_contains("mcp.json:1)").run();
    let header = json!({"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer hidden-token"}});
    let run = test(header).stdout_contains("sign-in: the Authorization header").run();
    assert!(!run.stdout.contains("hidden-token") && !run.stderr.contains("hidden-token"));
    let far = json!({"url": "http://mcp.invalid/mcp"});
    let proxied = Test::new().entry("far", far.clone()).env("HTTP_PROXY", "http://u:secret-word@127.0.0.1:9");
    let run = proxied.env("http_proxy", "http://u:secret-word@127.0.0.1:9").args(["doctor", "far"]).status(4).run();
    assert!(run.stdout.contains("proxy: through the proxy 127.0.0.1:9 (http_proxy)"), "{}", run.stdout);
    assert!(run.stdout.contains("the address is plain http") && !run.stdout.contains("secret-word"), "{}", run.stdout);
}

#[test]
fn two_names_of_one_server_are_told() {
    let test = Test::new().demo().entry("again", json!({"command": "toolnexus", "args": ["demo-server"]}));
    let run = test.args(["doctor", "forms", "--strict"]).status(6).run();
    assert!(run.stdout.contains("it is the same server as again"), "{}", run.stdout);
}

#[test]
fn a_schema_that_checks_nothing_is_reported() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": "one"}}});
    let server = Fake::new().tool_giving("count", &schema);
    let run = Test::new().server("s", &server).args(["doctor", "s", "-o", "json", "--strict"]).status(6).run();
    let findings = run.json()["servers"]["s"]["findings"].to_string();
    assert!(findings.contains("its outputSchema cannot be used to check anything"), "{findings}");
}

#[test]
fn a_failed_start_is_reported_with_what_to_do() {
    let npx = json!({"command": "/nowhere/npx", "args": ["-y", "x"], "env": {"KEY": "hidden"}});
    let test = || Test::new().demo().entry("node", npx.clone()).entry("bad", json!({"command": 7}));
    let run = test().args(["doctor", "--trust"]).status(4).stdout_contains("install Node.js").run();
    assert!(
        run.stdout.contains("FAILED  entry\n") && run.stdout.contains("ok      start: toolnexus-demo"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("hidden"), "{}", run.stdout);
    let typo = Test::new().demo().entry("typo", json!({"comand": "node"})).args(["doctor", "--trust"]).status(3).run();
    assert_eq!(typo.stdout.matches("did you mean `command`?").count(), 1, "{}", typo.stdout);
    let crash = json!({"command": "sh", "args": ["-c", "echo no licence >&2; exit 3"]});
    let run = Test::new().entry("s", crash).args(["doctor", "s", "-o", "json"]).status(4).run();
    assert_eq!(run.json()["servers"]["s"]["error"]["stderr"], json!(["no licence"]));
}
