//! Everything except tools that servers offer: resources, prompts, completions, logs; and listings of many servers.

use std::{fs, time::Duration};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

fn demo(words: &[&str]) -> Test {
    Test::new().demo().args(words.iter().copied())
}

/// A legacy server that declares these capabilities.
fn offering(capabilities: &Value) -> Fake {
    let info = json!({"name": "fake", "version": "1"});
    let result = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info});
    Fake::new().on("initialize", [Step::Reply(result)])
}

fn page(key: &str, entry: &Value, next: &Value) -> [Step; 1] {
    [Step::Reply(json!({key: [entry], "nextCursor": next}))]
}

#[test]
fn resources_are_listed_with_their_templates() {
    for era in ["2025-06-18", "2026-07-28"] {
        let run = demo(&["resources", "forms", "--protocol", era]).run();
        assert!(run.stdout.starts_with("demo://readme       What you can try.\n"), "{}", run.stdout);
        assert!(run.stdout.ends_with("demo://notes/{day}  The notes for a day of the week.\n"), "{}", run.stdout);
    }
    let run = demo(&["resources", "forms", "-o", "json"]).run();
    assert_eq!(run.json()["servers"]["forms"]["resourceTemplates"][0]["name"], "notes");
}

#[test]
fn pages_are_followed_with_cursors_as_given_and_an_endless_list_is_cut() {
    let server = offering(&json!({"resources": {}}))
        .on("resources/list", page("resources", &json!({"uri": "a:1", "name": "one"}), &json!("c \u{e9}=")))
        .on("resources/list", page("resources", &json!({"uri": "a:2", "name": "two"}), &Value::Null))
        .on("resources/templates/list", page("resourceTemplates", &json!({"uriTemplate": "a:{n}"}), &json!("again")));
    let run = Test::new()
        .server("s", &server)
        .args(["resources", "s"])
        .stderr_contains("resources/templates/list does not end")
        .run();
    assert!(run.stdout.starts_with("a:1    one\na:2    two\na:{n}\n"), "{}", run.stdout);
    assert_eq!(run.params("s", "resources/list", 1)["cursor"], "c \u{e9}=");
    assert_eq!(run.params("s", "resources/templates/list", 1)["cursor"], "again");
}

#[test]
fn a_page_that_comes_again_is_listed_once() {
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    let same = |next: &str| Step::Reply(json!({"tools": [tool], "nextCursor": next, "resultType": "complete"}));
    let list = |server: &Fake| Test::new().server("s", server).args(["tools", "s"]).stdout("t()\n");
    // The server takes no cursors.
    let again = Fake::new().on("tools/list", [same("c")]);
    list(&again).stderr("warning: s: tools/list does not end; toolnexus stopped after 1 page\n").run();
    // Before 2026-07-28 an empty cursor is the end, as many servers mean it; since then it is one like any other.
    let run = list(&Fake::new().on("tools/list", [same("")])).stderr("").run();
    assert_eq!(run.received("s").iter().filter(|message| message["method"] == "tools/list").count(), 1);
    let last = Step::Reply(json!({"tools": [], "resultType": "complete"}));
    let modern = Fake::new().modern().on("tools/list", [same("")]).on("tools/list", [last]);
    let run = list(&modern).stderr("").run();
    assert_eq!(run.params("s", "tools/list", 1)["cursor"], "");
}

#[test]
fn a_server_without_resources_is_not_asked_for_them() {
    let run = Test::new().server("s", &Fake::new().tool("t")).args(["resources", "s"]).stdout("").run();
    assert!(run.received("s").iter().all(|message| message["method"] != "resources/list"));
}

#[test]
fn a_resource_is_read_byte_for_byte() {
    demo(&["read", "forms", "demo://readme"]).stdout_contains("# The demo server\n").run();
    let text = json!({"contents": [{"uri": "a:1", "text": "one\r\n\u{1b}[1mtwo"}]});
    let server = offering(&json!({"resources": {}})).on("resources/read", [Step::Reply(text)]);
    Test::new().server("s", &server).args(["read", "s", "a:1"]).stdout("one\r\n\u{1b}[1mtwo").run();
    let output = demo(&["read", "forms", "logo"]).command().output().expect("it runs");
    assert_eq!((&output.stdout[..8], output.stdout.len()), (&b"\x89PNG\r\n\x1a\n"[..], 75));
    let run = demo(&["read", "forms", "demo://logo.png", "--to", "logo.png"]).stdout("").run();
    assert_eq!(fs::read(run.path("logo.png")).expect("a file"), output.stdout);
}

#[test]
fn nothing_but_a_regular_file_is_written() {
    let test = demo(&["read", "forms", "logo", "--to", "pipe"]);
    nix::unistd::mkfifo(&test.folder().join("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
    test.status(2).stderr_contains("not a regular file").run();
}

#[test]
fn a_terminal_gets_text_made_safe_and_no_bytes() {
    let person = demo(&["read", "forms", "logo"]).at_terminal(24, 80);
    person.see("is binary (image/png, 75 bytes) and is not written to a terminal").see("--to FILE");
    person.end(2);
    let text = json!({"contents": [{"uri": "a:1", "text": "one\u{1b}[2Jtwo"}]});
    let server = offering(&json!({"resources": {}})).on("resources/read", [Step::Reply(text)]);
    let person = Test::new().server("s", &server).args(["read", "s", "a:1"]).at_terminal(24, 80);
    person.see("one\\u{1b}[2Jtwo");
    person.end(0);
}

#[test]
fn templates_take_their_variables_as_arguments() {
    demo(&["read", "forms", "demo://notes/{day}", "day=friday"]).stdout("Nothing is planned for friday.\n").run();
    demo(&["read", "forms", "notes", "day=friday"]).stdout("Nothing is planned for friday.\n").run();
    demo(&["read", "forms", "notes"]).status(2).stderr_contains("needs day").run();
    demo(&["read", "forms", "notes", "dya=x"]).status(2).stderr_contains("has no variable \"dya\"").run();
    demo(&["read", "forms", "noets"]).status(2).stderr_contains("did you mean notes?").run();
    demo(&["read", "forms", "demo://nope"]).status(6).stderr_contains("Resource not found").run();
}

#[test]
fn a_watched_resource_is_read_again_whenever_it_changes() {
    for era in ["2025-11-25", "2026-07-28"] {
        let person = demo(&["read", "forms", "clock", "--watch", "--protocol", era]).at_terminal(24, 80);
        person.see_times("UTC", 2).signal(Signal::SIGINT);
        person.end(130);
    }
}

#[test]
fn prompts_are_listed_and_filled_in() {
    demo(&["prompts", "forms"]).stdout("introduce(name, tone?)  Asks a model to introduce somebody.\n").run();
    for era in ["2025-11-25", "2026-07-28"] {
        demo(&["prompt", "forms", "introduce", "name=Ada", "tone=brief", "--protocol", era])
            .stdout("Introduce Ada to the team, in a brief tone.\n")
            .run();
    }
    let run = demo(&["prompt", "forms", "introduce", "name=7", "-o", "json"]).run();
    assert_eq!(run.json()["messages"][0]["role"], "user");
    demo(&["prompt", "forms", "introduce"]).status(2).stderr_contains("introduce needs name").run();
    demo(&["prompt", "forms", "introduce", "nam=x"]).status(2).stderr_contains("did you mean name?").run();
    demo(&["prompt", "forms", "introduec", "name=x"]).status(6).stderr_contains("did you mean introduce?").run();
}

#[test]
fn a_prompts_missing_arguments_are_asked_for() {
    let person = demo(&["prompt", "forms", "introduce"]).at_terminal(24, 80);
    person.see("introduce needs").see("Who to introduce").send("Ada").see("Ada").send("\r");
    person.see("Introduce Ada to the team");
    person.end(0);
}

#[test]
fn arguments_are_completed_by_the_server() {
    demo(&["complete", "forms", "introduce", "tone=f"]).stdout("formal\nfriendly\nfunny\n").run();
    demo(&["complete", "forms", "demo://notes/{day}", "day=t"]).stdout("tuesday\nthursday\n").run();
    let values = json!({"completion": {"values": ["x\u{1b}"], "total": 9, "hasMore": true}});
    let server = Fake::new().on("completion/complete", [Step::Reply(values)]);
    let test = Test::new().server("s", &server).args(["complete", "s", "p", "a=x", "b=y"]);
    let run = test.stdout("x\\u{1b}\n").stderr_contains("these are 1 of 9; the server has more").run();
    let params = run.params("s", "completion/complete", 0);
    assert_eq!(params["argument"], json!({"name": "a", "value": "x"}));
    assert_eq!(params["context"], json!({"arguments": {"b": "y"}}));
}

#[test]
fn servers_are_pinged_in_both_eras() {
    demo(&["ping", "forms", "--protocol", "2025-06-18"]).stdout_contains("answered ping in ").run();
    demo(&["ping", "forms"]).stdout_contains("answered server/discover in ").run();
    Test::new().server("s", &Fake::new().on("ping", [Step::Exit(3)])).args(["ping", "s"]).status(4).run();
}

#[test]
fn instructions_are_shown_with_who_gives_them() {
    let run = demo(&["instructions", "forms"]).stdout_contains("toolnexus demo server 0").run();
    assert!(run.stdout.contains("\noffers tools, resources, prompts"), "{}", run.stdout);
    assert!(run.stdout.ends_with("Each tool asks in a different way.\n"), "{}", run.stdout);
    Test::new().server("s", &Fake::new()).args(["instructions", "s"]).stdout_contains("(no instructions)").run();
}

#[test]
fn a_log_is_watched_from_a_level_on() {
    let say = |level: &str, words: &str| {
        Step::Send(json!({"method": "notifications/message", "params": {"level": level, "data": words}}))
    };
    let told = [
        Step::Reply(json!({})),
        say("info", "quiet"),
        say("error", "lou\u{1b}d"),
        Step::Send(json!({"method": "notifications/tools/list_changed"})),
        Step::Pause(300),
        Step::Exit(0),
    ];
    let server = offering(&json!({"logging": {}})).on("logging/setLevel", told);
    let test = Test::new().server("s", &server).args(["watch", "s", "--level", "warning"]);
    let run = test.status(4).stdout("s error │ lou\\u{1b}d\ns: tools/list_changed\n").run();
    assert_eq!(run.params("s", "logging/setLevel", 0)["level"], "warning");
}

#[test]
fn changes_are_watched_in_both_eras_until_ctrl_c() {
    for era in ["2025-11-25", "2026-07-28"] {
        let words = ["watch", "forms", "--resource", "demo://clock", "--protocol", era];
        let person = demo(&words).at_terminal(24, 80);
        person.see_times("forms: resources/updated demo://clock", 2).signal(Signal::SIGINT);
        person.end(130);
    }
}

#[test]
fn seven_servers_are_listed_while_others_hang_crash_and_lag() {
    let mut test = Test::new();
    for n in 0..7 {
        test = test.server(&format!("ok{n}"), &Fake::new().tool("t"));
    }
    let tools = Step::Reply(json!({"tools": [{"name": "late"}]}));
    let slow = Fake::new().on("tools/list", [Step::Pause(5000), tools]);
    let mut hanging = Fake::new().on("tools/list", [Step::ExpectEnd]).entry(test.folder(), "hanging");
    hanging["timeout"] = json!(12000);
    let test = test.entry("hanging", hanging).server("slow", &slow);
    let test = test.entry("crashing", json!({"command": "sh", "args": ["-c", "exit 3"]}));
    let run = test.args(["tools", "--trust"]).run();
    let at = |text: &str| run.stdout.find(text).unwrap_or_else(|| panic!("no {text} in {}", run.stdout));
    assert!(at("slow\n  late") < at("hanging\n"), "{}", run.stdout);
    assert!((0..7).all(|n| at(&format!("ok{n}\n  t")) < at("slow\n")));
    assert!(at("exited with status 3") < at("slow\n") && at("did not answer tools/list") > 0);
    assert!(run.took < Duration::from_secs(20), "{:?}", run.took);
}

#[test]
fn a_word_is_found_in_names_and_descriptions_of_all_servers() {
    let words = ["--config", "mcp.json"];
    let server = Fake::new().on("tools/list", [Step::Reply(json!({"tools": [{"name": "Count_all"}, {"name": "x"}]}))]);
    let test = || Test::new().demo().server("s", &server).args(words);
    let expected = "forms countdown  Counts down, and reports each step.\ns Count_all\n";
    test().args(["tools", "--grep", "count"]).stdout(expected).run();
    test().args(["resources", "--grep", "NOTES"]).stdout_contains("forms demo://notes/{day}  The notes").run();
    test().args(["prompts", "--grep", "model"]).stdout_contains("forms introduce(name, tone?)  Asks").run();
    // A word that the first sentence does not have is shown where it stands.
    let about = "Places an order. It is checked, and the warehouse is told.";
    let tools = json!({"tools": [{"name": "place", "description": about}]});
    let test_of = Test::new().server("shop", &Fake::new().on("tools/list", [Step::Reply(tools)])).args(words);
    let shown = "shop place  Places an order. It is checked, and the warehouse is told.\n";
    test_of.args(["tools", "--grep", "Warehouse"]).stdout(shown).run();
    let run = test().args(["tools", "--grep", "count", "-o", "json"]).run();
    assert_eq!(run.json()["servers"]["s"]["tools"], json!([{"name": "Count_all"}]));
}

#[test]
fn failures_count_as_they_should() {
    let broken = json!({"command": "sh", "args": ["-c", "exit 3"]});
    let one = || Test::new().demo().entry("broken", broken.clone()).args(["--config", "mcp.json"]);
    for command in ["tools", "resources", "prompts", "ping", "instructions"] {
        one().args([command]).stdout_contains("exited with status 3").run();
        one().args([command, "--strict"]).status(4).run();
        one().args([command, "broken"]).status(4).stdout("").run();
    }
    Test::new().entry("broken", broken.clone()).args(["ping", "--trust"]).status(4).run();
}

#[test]
fn a_silence_is_bounded_for_reading_and_prompts_too() {
    for (method, args) in [("resources/read", ["read", "s", "a:1"]), ("prompts/get", ["prompt", "s", "p"])] {
        let server = offering(&json!({"resources": {}, "prompts": {}})).on(method, [Step::ExpectEnd]);
        let server = server.on("prompts/list", page("prompts", &json!({"name": "p"}), &Value::Null));
        let test = Test::new().server("s", &server).args(args).args(["--timeout", "1"]).status(7);
        let run = test.stderr_contains(&format!("the server did not answer {method} within 1 s")).run();
        assert!(run.took.as_secs() < 15, "{:?}", run.took);
    }
}
