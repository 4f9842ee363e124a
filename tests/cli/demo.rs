//! The demo server, called as a user would, in both eras.

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
    thread,
};

use serde_json::json;

use super::harness::{Test, pages};

const ERAS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

fn call(era: &str, tool: &str) -> Test {
    Test::new().demo().args(["call", "forms", tool, "--protocol", era])
}

#[test]
fn greet_asks_and_goes_on_without() {
    for era in ERAS {
        call(era, "greet").args(["--answer", "name=Ada"]).stdout("Hello, Ada!\n").stderr("").run();
        call(era, "greet").args(["--elicit", "off"]).stdout_contains("stranger").run();
        call(era, "greet").status(8).stdout_contains("closed the question").run();
        call(era, "greet").args(["--elicit", "decline"]).stdout_contains("rather not say").run();
        call(era, "greet").args(["--elicit", "cancel"]).stdout_contains("closed the question").run();
    }
}

#[test]
fn survey_takes_every_kind_of_field() {
    let answers = json!({
        "nickname": "ada1", "city": "Brno", "email": "ada@example.com", "homepage": "https://example.com/",
        "birthday": "1815-12-10", "meeting": "2026-12-01T10:00:00Z", "children": 3, "height": 1.68, "news": true,
        "rules": true, "color": "blue", "airport": "lax", "size": "m", "languages": ["cs", "fr"], "codecs": ["zst"]
    });
    for era in ERAS {
        let test = call(era, "survey").file("a.json", answers.to_string()).args(["--answers", "a.json", "-o", "json"]);
        let content = test.run().json()["structuredContent"].clone();
        assert_eq!(content, json!({"action": "accept", "content": answers}), "{era}");
    }
}

#[test]
fn countdown_reports_each_step() {
    for era in ERAS {
        let run = call(era, "countdown").args(["from=3", "-o", "events"]).run();
        let kinds: Vec<_> = run.events().iter().map(|event| event["event"].clone()).collect();
        assert_eq!(kinds, ["progress", "progress", "progress", "result"], "{era}");
    }
    call("2025-11-25", "countdown").args(["from=0"]).status(2).run();
    call("2025-11-25", "countdown").args(["to=1"]).status(2).run();
}

#[test]
fn fail_fails_and_an_unknown_tool_is_an_error() {
    for era in ERAS {
        call(era, "fail").status(1).stdout_contains("always fails").run();
        call(era, "nothing").status(6).run();
    }
}

const LINKS: &str = r#"[{"when": {"mode": "url"}, "action": "accept"}]"#;

/// Presses *Approve* on the page at `url`.
fn approve(url: &str) {
    let (head, page) = pages::get(url);
    assert!(head.starts_with("HTTP/1.1 200") && page.contains("Approve"), "{head}{page}");
    let (head, page) = pages::send_form(url, &head, &page, &[]);
    assert!(head.starts_with("HTTP/1.1 200") && page.contains("Approved"), "{head}{page}");
}

#[test]
fn connect_waits_for_the_page() {
    for era in ["2025-11-25", "2026-07-28"] {
        let test = call(era, "connect").file("links.json", LINKS).args(["--answers", "links.json"]);
        let mut program =
            test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let mut stderr = std::io::BufReader::new(program.stderr.take().expect("stderr"));
        let mut url = String::new();
        while !url.starts_with("http://127.0.0.1:") {
            url.clear();
            assert_ne!(std::io::BufRead::read_line(&mut stderr, &mut url).expect("a line"), 0, "no link ({era})");
        }
        let rest = thread::spawn(move || stderr.read_to_string(&mut String::new()));
        approve(url.trim());
        let run = super::harness::wait(program, std::time::Duration::from_secs(20));
        assert_eq!((run.status, run.stdout.as_str()), (Some(0), "Connected: you approved it on the page.\n"), "{era}");
        rest.join().expect("read").expect("stderr");
    }
}

/// A request from somebody else, and the status that it gets: address, method, headers, body, status.
type Stranger<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

#[test]
fn the_page_is_only_for_its_own_reader() {
    let test = call("2025-11-25", "connect").file("links.json", LINKS).args(["--answers", "links.json"]);
    let mut program =
        test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut stderr = std::io::BufReader::new(program.stderr.take().expect("stderr"));
    let mut line = String::new();
    while !line.starts_with("http://127.0.0.1:") {
        line.clear();
        assert_ne!(std::io::BufRead::read_line(&mut stderr, &mut line).expect("a line"), 0, "no link");
    }
    let rest = thread::spawn(move || stderr.read_to_string(&mut String::new()));
    let url = line.trim();
    let (head, page) = pages::get(url);
    for header in ["cache-control: no-store", "content-security-policy: default-src 'none'", "samesite=strict"] {
        assert!(head.to_lowercase().contains(header), "{head}");
    }
    let (cookie, body) = (pages::cookie(&head), format!("_token={}", pages::token(&page)));
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let own = ("Cookie", cookie.as_str());
    let long = "x".repeat(2 << 20);
    let root = url.match_indices('/').nth(2).map_or(url, |(end, _)| &url[..=end]);
    let strangers: [Stranger<'_>; 8] = [
        (url, "GET", &[("Host", "evil.example")], "", "403"),
        (url, "GET", &[("Origin", "http://evil.example")], "", "403"),
        (url, "DELETE", &[], "", "403"),
        (root, "GET", &[], "", "404"),
        (url, "POST", &[form, own], "", "403"),
        (url, "POST", &[form], &body, "403"),
        (url, "POST", &[form, own, ("Origin", "null")], &body, "403"),
        (url, "POST", &[form, own], &long, "413"),
    ];
    for (url, method, headers, body, status) in strangers {
        let (head, _) = pages::request(url, method, headers, body);
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{method} {headers:?}: {head}");
    }
    let (head, _) = pages::request(url, "POST", &[form, own], &body);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(super::harness::wait(program, std::time::Duration::from_secs(20)).status, Some(0));
    rest.join().expect("read").expect("stderr");
}

#[test]
fn connect_can_be_refused_and_does_without() {
    for era in ERAS {
        call(era, "connect").args(["--elicit", "off"]).stdout_contains("does not open links").run();
    }
    call("2026-07-28", "connect").args(["--elicit", "decline"]).stdout_contains("declined").run();
}

#[test]
fn the_server_ends_with_its_input_and_skips_noise() {
    let test = Test::new().args(["demo-server"]);
    let mut command: Command = test.command();
    let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
    let mut stdin = program.stdin.take().expect("stdin");
    stdin.write_all(b"hello\n\n{}\n{\"id\":\"a\",\"method\":\"ping\"}\n").expect("written");
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(program.stdout.take().expect("stdout")), &mut line)
        .expect("a line");
    assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n");
    drop(stdin);
    assert_eq!(super::harness::wait(program, std::time::Duration::from_secs(10)).status, Some(0));
}
