//! Tokens and headers that another program prints.

use std::fs;

use serde_json::json;

use super::World;
use crate::harness::Test;

/// A program that prints the next line of `tokens` each time it is run, the last one repeatedly, and counts.
fn printing(test: Test, tokens: &[&str]) -> Test {
    let script = "#!/bin/sh\necho x >> ran\nn=$(wc -l < ran)\nsed -n \"${n}p\" tokens | grep . || tail -n 1 tokens\n";
    test.file("print", script).file("tokens", tokens.join("\n") + "\n")
}

fn ran(run: &crate::harness::Run) -> usize {
    fs::read_to_string(run.path("ran")).unwrap_or_default().lines().count()
}

fn call(world: &World, tokens: &[&str]) -> Test {
    printing(world.test(&["call", "URL", "read", "--bearer-command", "sh print 'with words'"]), tokens)
}

#[test]
fn a_token_is_fetched_when_it_is_needed_and_once() {
    let world = World::new();
    let token = world.ledger().token("read");
    let run = call(&world, &[&token]).stdout("read is done\n").stderr("").run();
    assert_eq!(ran(&run), 1);
}

#[test]
fn a_token_that_was_refused_is_fetched_again_and_no_more_than_that() {
    let world = World::new();
    let token = world.ledger().token("read");
    let run = call(&world, &["old", &token]).stdout("read is done\n").run();
    assert_eq!(ran(&run), 2);
    let run = call(&world, &["old"]).status(5).run();
    assert_eq!(ran(&run), 2);
    assert!(!run.stderr.contains("old"), "{}", run.stderr);
    let run = call(&world, &["a-1", "a-2", "a-3", "a-4", "a-5", "a-6", "a-7"]).status(5).run();
    assert!(ran(&run) < 7, "{}", ran(&run));
    assert_eq!(world.count("/register") + world.count("/token"), 0, "nobody is asked to sign in beside it");
}

#[test]
fn errors_of_the_program_are_reported_without_its_output() {
    let world = World::new();
    for (script, why) in [
        ("echo token-s3cret; exit 3", "failed (exit status: 3)"),
        ("", "printed nothing"),
        ("echo 'token-s3cret two'", "printed more than a token"),
        ("printf '\\377\\376'", "cannot be read"),
    ] {
        let test = world.test(&["call", "URL", "read", "--bearer-command", "sh print"]).file("print", script);
        let run = test.status(5).run();
        assert!(run.stderr.contains(why), "not {why:?}: {}", run.stderr);
        assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
    }
    let run = world.test(&["call", "URL", "read", "--bearer-command", "no-such-program"]).status(5).run();
    assert!(run.stderr.contains("\"no-such-program\", which prints the credentials, did not start"), "{}", run.stderr);
    world.test(&["call", "URL", "read", "--bearer-command", "'unclosed"]).status(2).run();
    world.test(&["call", "URL", "read", "--bearer-command", " "]).status(2).run();
}

#[test]
fn no_shell_sees_the_words_of_a_command() {
    let world = World::new();
    let token = world.ledger().token("read");
    let script = "[ \"$1\" = '$(touch broken); x' ] && cat tokens\n";
    let words = ["call", "URL", "read", "--bearer-command", "sh print '$(touch broken); x'"];
    let run = world.test(&words).file("print", script).file("tokens", token).stdout("read is done\n").run();
    assert!(!run.path("broken").exists());
}

#[test]
fn a_program_that_prints_headers_is_run_where_its_configuration_stands() {
    let world = World::new();
    let token = world.ledger().token("read");
    let headers = json!({"Authorization": format!("Bearer {token}"), "X-Team": "blue"}).to_string();
    let config = json!({"mcpServers": {"s": {"url": world.mcp(), "headersHelper": "sh print"}}}).to_string();
    let test = |headers: &str| {
        let test = printing(world.test(&["call", "s", "read"]), &[headers]);
        test.config(&config)
    };
    let run = test(&headers).stdout("read is done\n").run();
    assert_eq!(ran(&run), 1);
    let last = world.server.seen().pop().expect("a request");
    assert_eq!(last.header("x-team"), Some("blue"));
    for (headers, why) in [
        ("token", "did not print a JSON object of headers"),
        ("{\"A\": 1}", "whose value is not a string"),
        ("{\"A B\": \"x\"}", "printed a header that cannot be sent"),
        ("{\"A\": \"x\\r\\nB: y\"}", "printed a header that cannot be sent"),
    ] {
        test(headers).status(5).stderr_contains(why).run();
    }
}
