//! Links that a server needs first: the error -32042.

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

const ENTER: &str = "\r";
const CTRL_C: &str = "\x03";

/// The error -32042 with these links.
fn required(links: &[(&str, &str)]) -> Step {
    let links: Vec<Value> = links
        .iter()
        .map(|(id, url)| json!({"mode": "url", "elicitationId": id, "url": url, "message": "Link the account"}))
        .collect();
    Step::Fail(json!({"code": -32042, "message": "More is needed", "data": {"elicitations": links}}))
}

fn done() -> Step {
    Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}))
}

fn complete(id: &str) -> Step {
    Step::Send(json!({"method": "notifications/elicitation/complete", "params": {"elicitationId": id}}))
}

const IDP: &str = "https://idp.example/go?x=1&y=2";
const OTHER: &str = "https://other.example/";

/// A server that first needs these links, with one call for each of the rounds.
fn needs(rounds: impl IntoIterator<Item = Vec<Step>>) -> Test {
    let fake = rounds.into_iter().fold(Fake::new().tool("t"), Fake::on_call);
    Test::new().server("s", &fake).args(["call", "s", "t", "--no-browser"])
}

fn calls(received: &[Value]) -> usize {
    received.iter().filter(|message| message["method"] == "tools/call").count()
}

fn accepting(test: Test) -> Test {
    let entries = r#"[{"when": {"mode": "url"}, "action": "accept", "repeat": true}]"#;
    test.file("a.json", entries).args(["--answers", "a.json", "--url-wait", "1"])
}

#[test]
fn links_that_are_needed_first_are_opened_and_the_call_is_made_again() {
    let rounds = || [vec![required(&[("e7", IDP), ("e8", OTHER)])], vec![done()]];
    let run = accepting(needs(rounds())).stdout("done\n").stderr_contains(IDP).stderr_contains(OTHER).run();
    assert_eq!(calls(&run.received("s")), 2);

    // No notification arrives: the person continues.
    let person = needs(rounds()).at_terminal(24, 100);
    person
        .see("Link the account")
        .see(IDP)
        .see("host    idp.example")
        .see("  I'll open it myself")
        .send("1")
        .send(ENTER);
    person.see(OTHER).see("host    other.example").see("  I'll open it myself").send("1").send(ENTER);
    person.see("Continue now").send(ENTER).see("done");
    assert_eq!(calls(&person.end(0).received("s")), 2);
}

#[test]
fn notices_of_unknown_and_finished_links_are_ignored() {
    let rounds = || {
        let first = vec![
            required(&[("e7", IDP)]),
            complete("unknown"),
            Step::ExpectFile("finish".into()),
            complete("e7"),
            complete("e7"),
        ];
        [first, vec![complete("e7"), complete("unknown"), done()]]
    };
    let person = needs(rounds()).at_terminal(24, 100);
    person.see("  I'll open it myself").send("1").send(ENTER).see("Continue now").write_file("finish").see("done");
    assert_eq!(calls(&person.end(0).received("s")), 2);
}

#[test]
fn a_needed_link_can_be_declined_and_cancelled() {
    let rounds = || [vec![required(&[("e7", IDP)])], vec![done()]];
    for action in ["decline", "cancel"] {
        let entries = json!([{"when": {"mode": "url"}, "action": action}]).to_string();
        let test = needs(rounds()).file("a.json", entries).args(["--answers", "a.json"]);
        let run = test.status(6).stderr_contains("More is needed").run();
        assert_eq!(calls(&run.received("s")), 1);
    }
    for keys in [CTRL_C, "\x1b[B\x1b[B\r"] {
        let person = needs(rounds()).at_terminal(24, 100);
        person.see("  I'll open it myself").send(keys);
        assert_eq!(calls(&person.end(6).received("s")), 1);
    }
}

#[test]
fn a_link_that_is_needed_again_and_again_is_asked_about_each_time_and_not_for_ever() {
    let run = accepting(needs([vec![required(&[("e7", IDP)])]])).status(6).run();
    assert_eq!(calls(&run.received("s")), 6);
    let person =
        needs([vec![required(&[("e7", IDP)])], vec![required(&[("e7", IDP)])], vec![done()]]).at_terminal(30, 100);
    for _ in 0..2 {
        person.see("  I'll open it myself").send("1").send(ENTER).see("Continue now").send(ENTER).gone("Continue now");
    }
    person.see("done");
    assert_eq!(calls(&person.end(0).received("s")), 3);
}

/// The entry that the error suggests.
fn entry(stderr: &str) -> Value {
    let line = stderr.lines().find(|line| line.trim_start().starts_with('{'));
    serde_json::from_str(line.unwrap_or_else(|| panic!("no entry in {stderr}"))).expect("JSON")
}

#[test]
fn a_needed_link_that_nobody_answers_exits_8_with_an_entry_that_answers_it() {
    for (url, when) in [
        (IDP, json!({"server": "s", "tool": "t", "url": "https://idp.example/go*"})),
        // Such a port is another one the next time.
        ("http://127.0.0.1:44201/", json!({"server": "s", "tool": "t", "mode": "url"})),
        ("http://localhost:44201/a?b=c", json!({"server": "s", "tool": "t", "mode": "url"})),
    ] {
        let run = needs([vec![required(&[("e7", url)])]]).status(8).stderr_contains("nobody answered it").run();
        let entry = entry(&run.stderr);
        assert_eq!((&entry["when"], &entry["action"]), (&when, &json!("accept")), "{url}");
        assert_eq!(calls(&run.received("s")), 1);
        let answered = needs([vec![required(&[("e7", url)])], vec![done()]]).file("a.json", json!([entry]).to_string());
        answered.args(["--answers", "a.json", "--url-wait", "1"]).stdout("done\n").run();
    }
}
