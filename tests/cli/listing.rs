//! `tools` and `servers`.

use serde_json::json;

use super::harness::{Fake, Step, Test};

fn two() -> Test {
    let broken = json!({"command": "sh", "args": ["-c", "exit 3"]});
    Test::new().server("a", &Fake::new().tool("t")).entry("broken", broken)
}

#[test]
fn one_broken_server_does_not_hide_the_others() {
    let run = two().args(["tools", "--config", "mcp.json", "-o", "json"]).run();
    assert_eq!(run.json()["servers"]["a"]["tools"][0]["name"], "t");
    assert_eq!(run.json()["servers"]["broken"]["error"]["exit"], 4);
    two().args(["tools", "--config", "mcp.json"]).stdout_contains("a\n  t()\nbroken\n  error: ").run();
    two().args(["tools", "broken"]).status(4).run();
}

#[test]
fn a_listing_is_that_of_a_call_which_can_be_asked() {
    let run = Test::new().server("s", &Fake::new().tool("t")).args(["tools", "s"]).stdout("t()\n").run();
    assert_eq!(run.params("s", "initialize", 0)["capabilities"]["elicitation"], json!({"form": {}, "url": {}}));
}

#[test]
fn one_tool_is_shown_with_its_arguments() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string", "description": "What to find"}}});
    let server = Fake::new().tool_with("find", &schema);
    let test = || Test::new().server("s", &server);
    test().args(["tools", "s", "find"]).stdout_contains("  q  optional, text  What to find\n").run();
    test().args(["tools", "s", "fnd"]).status(6).stderr_contains("did you mean find?").run();
}

#[test]
fn a_found_file_starts_nothing_until_that_was_agreed() {
    let mark = || Test::new().entry("s", json!({"command": "touch", "args": ["started"]}));
    let run = mark().args(["tools"]).status(2).stderr_contains("--trust").run();
    assert!(!run.path("started").exists());
    let run = mark().args(["tools", "--trust"]).status(4).run();
    assert!(run.path("started").exists());
}

#[test]
fn servers_are_listed_without_starting_them() {
    let test = Test::new()
        .entry("off", json!({"command": "touch", "args": ["started"], "disabled": true}))
        .entry("web", json!({"url": "https://mcp.example/mcp", "headers": {"Authorization": "Bearer hidden"}}))
        .entry("bad", json!({"command": 7}));
    let run = test.args(["servers"]).stdout_contains("web  http").stdout_contains("disabled").run();
    assert!(run.stdout.contains("bad") && !run.stdout.contains("hidden"), "{}", run.stdout);
    assert!(!run.path("started").exists());
}

#[test]
fn servers_are_checked() {
    let run = Test::new().demo().args(["servers", "--check", "--trust", "-o", "json"]).run();
    assert_eq!(run.json()["servers"]["forms"]["protocol"], "2026-07-28");
    two().args(["servers", "--check", "--trust"]).status(4).stdout_contains("2025-11-25, legacy").run();
}

#[test]
fn what_servers_say_of_themselves_is_made_safe() {
    let tools = json!({"tools": [{"name": "x\u{1b}[2J", "description": "a\u{202e}b\nerror: forged"}]});
    let server = Fake::new().on("tools/list", [Step::Reply(tools)]);
    let run = Test::new().server("s", &server).args(["tools", "s"]).run();
    assert_eq!(run.stdout, "x\\u{1b}[2J()  a\\u{202e}b error: forged\n");
}

#[test]
fn what_passes_is_traced() {
    let run = Test::new().demo().args(["call", "forms", "fail", "--trace", "t.jsonl"]).status(1).run();
    let trace = std::fs::read_to_string(run.path("t.jsonl")).expect("a trace");
    assert!(trace.contains("tools/call") && trace.lines().all(|line| line.starts_with('{')), "{trace}");
}

fn shop() -> Fake {
    let schema = json!({"type": "object", "required": ["items", "to"], "properties": {
        "items": {"type": "array", "items": {"type": "object", "required": ["sku"], "properties": {
            "sku": {"type": "string"}, "qty": {"type": "integer", "default": 1}}}},
        "to": {"type": "string", "enum": ["home", "work"]},
        "limit": {"type": "integer", "default": 10}}});
    let about = format!("Orders {}. And then more.", "very ".repeat(60).trim_end());
    let tool = json!({"name": "order", "description": about, "inputSchema": schema,
        "annotations": {"destructiveHint": true}});
    Fake::new().on("tools/list", [Step::Reply(json!({"tools": [tool.clone(), {"name": "order"}]}))])
}

#[test]
fn tools_are_listed_as_signatures_and_whole_in_a_pipe() {
    let run = Test::new().server("s", &shop()).args(["tools", "s"]).run();
    let first = run.stdout.lines().next().expect("a line");
    let signature = "order(items: [{sku: text, qty?: whole number = 1}], to: home|work, limit?=10)  Orders very very";
    assert!(first.starts_with(signature), "{first}");
    assert!(first.ends_with("very. [destructive]"), "{first}");
}

#[test]
fn a_page_draws_what_is_nested_and_ends_with_a_call_that_works() {
    let test = || Test::new().server("s", &shop());
    let run = test().args(["tools", "s", "order"]).run();
    assert!(
        run.stdout.contains("  items  required, [{sku: text, qty?: whole number = 1}], may be repeated\n"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("Schema:"), "{}", run.stdout);
    let last = run.stdout.lines().last().expect("a line").trim();
    assert_eq!(last, r#"toolnexus call s order items:='[{"sku":"TEXT"}]' to=home"#);
    let words = [r#"items:=[{"sku":"TEXT"}]"#, "to=home"];
    let run = test().args(["call", "s", "order"]).args(words).run();
    assert_eq!(run.params("s", "tools/call", 0)["arguments"], json!({"items": [{"sku": "TEXT"}], "to": "home"}));
    test().args(["tools", "s", "order", "--schema"]).stdout_contains("Schema:\n{\n  \"type\": \"object\"").run();
    test().args(["tools", "s", "--schema"]).status(2).stderr_contains("--schema needs TOOL").run();
}

#[test]
fn a_name_that_is_listed_twice_is_warned_of_once() {
    let run = Test::new().server("s", &shop()).args(["tools", "s"]).run();
    assert_eq!(run.stderr.matches("it lists the tool \"order\" more than once").count(), 1, "{}", run.stderr);
}

#[test]
fn of_ten_servers_seven_are_listed_while_three_fail_and_each_failure_is_reported() {
    let ready = |number: usize| Fake::new().tool(&format!("tool{number}"));
    let crash = json!({"command": "sh", "args": ["-c", "echo no licence >&2; exit 3"]});
    let hanging = json!({"command": "sleep", "args": ["600"], "timeout": 2500});
    // It starts slowly, but in time.
    let slow = Fake::new().tool("tool-slow").on("start", [Step::Pause(1500)]);
    let test = || {
        let mut test =
            Test::new().entry("hanging", hanging.clone()).entry("crashing", crash.clone()).server("slow", &slow);
        for number in 1..=7 {
            test = test.server(&format!("s{number}"), &ready(number));
        }
        test.args(["tools", "--trust"])
    };
    let run = test().run();
    for number in 1..=7 {
        assert!(run.stdout.contains(&format!("s{number}\n  tool{number}()")), "{}", run.stdout);
    }
    assert!(run.stdout.contains("slow\n  tool-slow()"), "{}", run.stdout);
    let after = |name: &str| run.stdout.split(&format!("{name}\n  ")).nth(1).unwrap_or_default().to_owned();
    assert!(after("crashing").starts_with("error: ") && after("crashing").contains("no licence"), "{}", run.stdout);
    assert!(after("hanging").starts_with("error: ") && after("hanging").contains("2.5 s"), "{}", run.stdout);
    // The servers that answer come before those that keep everybody waiting.
    let at = |text: &str| run.stdout.find(text).unwrap_or(usize::MAX);
    assert!((1..=7).all(|number| at(&format!("tool{number}()")) < at("hanging\n")), "{}", run.stdout);

    let run = test().args(["-o", "json"]).run();
    let failed = |name: &str| run.json()["servers"][name]["error"]["exit"].clone();
    assert_eq!((failed("hanging"), failed("crashing"), failed("s1")), (json!(7), json!(4), json!(null)));
    test().args(["--strict"]).status(4).run();
    // A named server that failed gives its own exit code.
    let named = |name: &str, status: i32| {
        let test =
            Test::new().entry("hanging", hanging.clone()).entry("crashing", crash.clone()).server("s", &ready(1));
        test.args(["tools", name]).status(status).run();
    };
    named("crashing", 4);
    named("hanging", 7);
    named("s", 0);
    // If none answers, the run fails.
    Test::new().entry("a", crash.clone()).entry("b", crash.clone()).args(["tools", "--trust"]).status(4).run();
}

#[test]
fn that_nothing_is_found_is_said() {
    let none = "note: no tools have \"zzz\" in their name or description\n";
    Test::new().server("s", &shop()).args(["tools", "s", "--grep", "zzz"]).stdout("").stderr_contains(none).run();
    let bare = || Test::new().server("s", &Fake::new());
    bare().args(["prompts", "s"]).stdout("").stderr("note: s offers no prompts\n").run();
    let both = bare().server("t", &Fake::new()).args(["resources", "--trust"]);
    both.stdout("s\n  no resources\nt\n  no resources\n").stderr("").run();
}

#[test]
fn a_server_without_tools_is_not_asked_for_them() {
    for (capabilities, words) in [
        (json!({"resources": {}, "prompts": {}}), "note: s offers no tools (it has resources and prompts)\n"),
        (json!({"prompts": {}}), "note: s offers no tools (it has prompts)\n"),
        (json!({"logging": {}}), "note: s offers no tools\n"),
    ] {
        let initialized = json!({"protocolVersion": "$version", "capabilities": capabilities, "serverInfo": {}});
        // Without the check, the request would wait forever.
        let fake = Fake::new().on("initialize", [Step::Reply(initialized)]).on("tools/list", [Step::ExpectEnd]);
        let run = Test::new().server("s", &fake).args(["tools", "s"]).stderr(words).run();
        assert!(run.received("s").iter().all(|message| message["method"] != "tools/list"));
    }
    // A server that declares nothing at all may still have some.
    let bare = json!({"protocolVersion": "$version", "capabilities": {}, "serverInfo": {}});
    let fake = Fake::new().on("initialize", [Step::Reply(bare.clone())]).tool("t");
    Test::new().server("s", &fake).args(["tools", "s"]).stdout_contains("t").run();
    let none = Step::Fail(json!({"code": -32601, "message": "Method not found"}));
    let fake = Fake::new().on("initialize", [Step::Reply(bare)]).on("tools/list", [none]);
    Test::new().server("s", &fake).args(["tools", "s"]).stderr("note: s offers no tools\n").run();
}
