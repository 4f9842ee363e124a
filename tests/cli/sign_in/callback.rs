//! Who may return to the page at the end of a sign-in.

use super::{World, person::visit, world::Bent};
use crate::harness::pages;

/// Signs in with a changed answer from the authorization server; it must fail, and no code may be used.
fn refused(edit: impl Fn(&str, &mut Vec<(String, String)>) + Send + Sync + 'static, why: &str) {
    let world = Bent::default().back(edit).start();
    let running = world.start(&["login", "URL"]);
    let page = running.visit();
    assert!(page.contains("Not signed in to 127.0.0.1"), "{page}");
    let run = running.end(5);
    assert!(run.stderr.contains(why), "{}", run.stderr);
    assert_eq!(world.count("/token"), 0);
    assert!(!world.sign_ins().exists() || !std::fs::read_to_string(world.sign_ins()).expect("read").contains("s3cret"));
}

fn set(pairs: &mut Vec<(String, String)>, key: &str, value: Option<&str>) {
    pairs.retain(|(name, _)| name != key);
    pairs.extend(value.map(|value| (key.to_owned(), value.to_owned())));
}

const ANOTHER: &str = "comes from a different authorization server";

#[test]
fn an_answer_names_the_very_authorization_server_that_was_asked() {
    refused(|_, back| set(back, "iss", None), ANOTHER);
    refused(|_, back| set(back, "iss", Some("https://evil.example")), ANOTHER);
    refused(|base, back| set(back, "iss", Some(&format!("{base}/"))), ANOTHER);
    // Once right and once wrong, in either order.
    refused(|_, back| back.push(("iss".to_owned(), "https://evil.example".to_owned())), ANOTHER);
    refused(|_, back| back.insert(0, ("iss".to_owned(), "https://evil.example".to_owned())), ANOTHER);
    refused(|base, back| back.push(("iss".to_owned(), base.to_owned())), ANOTHER);
    // An error is not trusted more than a code.
    refused(
        |_, back| {
            set(back, "iss", Some("https://evil.example"));
            set(back, "error", Some("access_denied"));
        },
        ANOTHER,
    );
}

#[test]
fn one_that_announces_no_name_may_leave_it_out_and_may_not_send_another() {
    let silent = |_: &str, metadata: &mut serde_json::Value| {
        metadata.as_object_mut().expect("an object").remove("authorization_response_iss_parameter_supported");
    };
    let world = Bent::default().metadata(silent).back(|_, back| set(back, "iss", None)).start();
    world.sign_in(&["login", "URL"]);
    let world = Bent::default().metadata(silent).start();
    world.sign_in(&["login", "URL"]);
    let world = Bent::default().metadata(silent).back(|_, back| set(back, "iss", Some("https://evil.example"))).start();
    let running = world.start(&["login", "URL"]);
    running.visit();
    assert!(running.end(5).stderr.contains(ANOTHER));
    assert_eq!(world.count("/token"), 0);
}

#[test]
fn a_refusal_and_a_lack_of_a_code_are_told() {
    refused(
        |_, back| {
            set(back, "code", None);
            set(back, "error", Some("access_denied"));
            set(back, "error_description", Some("ada said no\u{1b}[31m"));
        },
        "the authorization server refused the sign-in: access_denied (ada said no[31m)",
    );
    refused(|_, back| set(back, "code", None), "returned without a code");
    refused(|_, back| set(back, "code", Some("")), "returned without a code");
}

#[test]
fn strangers_are_turned_away_and_the_sign_in_goes_on() {
    let world = World::new();
    let running = world.start(&["login", "URL"]);
    let link = world.opened();
    let last = link.follow();
    let back = link.of("redirect_uri");
    let state = link.of("state");
    let not_expected = |url: &str, headers: &[(&str, &str)], method: &str, status: &str| {
        let (head, body) = pages::request(url, method, headers, "");
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{method} {url}: {head}");
        assert!(!body.contains("Signed in to") && !body.contains(&state), "{body}");
    };
    let root = back.strip_suffix("/callback").expect("the path");
    not_expected(&format!("{root}/"), &[], "GET", "404");
    not_expected(&format!("{root}/callback/x"), &[], "GET", "404");
    not_expected(&format!("{root}/favicon.ico"), &[], "GET", "404");
    // The right path with no parameters, or wrong ones.
    for query in ["", "?code=x", "?code=x&state=", "?code=x&state=wrong", "?error=access_denied&state=wrong"] {
        not_expected(&format!("{back}{query}"), &[], "GET", "4");
    }
    // The right state, and a wrong one with it.
    not_expected(&format!("{back}?code=x&state={state}&state=wrong"), &[], "GET", "4");
    not_expected(&format!("{back}?code=x&state=wrong&state={state}"), &[], "GET", "4");
    // All of it right, but from a site whose name points here, from its script, and with other methods.
    not_expected(last.as_str(), &[("Host", "evil.example")], "GET", "403");
    not_expected(last.as_str(), &[("Origin", "https://evil.example")], "GET", "403");
    not_expected(last.as_str(), &[("Content-Type", "application/x-www-form-urlencoded")], "POST", "403");
    not_expected(last.as_str(), &[], "PUT", "403");
    assert_eq!(world.count("/token"), 0);
    assert!(visit(&last).contains("Signed in to"));
    running.end(0);
    assert_eq!(world.count("/token"), 1);
}

#[test]
fn an_answer_counts_once() {
    let world = World::new();
    let running = world.start(&["login", "URL"]);
    let last = world.opened().follow();
    assert!(visit(&last).contains("Signed in to"));
    running.end(0);
    assert!(std::net::TcpStream::connect((last.host_str().expect("a host"), last.port().expect("a port"))).is_err());
}

#[test]
fn a_busy_port_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let world = World::new();
    let config = serde_json::json!({"mcpServers": {"s": {"url": world.mcp(), "oauth": {"redirectPort": port}}}});
    let run = world.test(&["login", "s"]).config(&config.to_string()).status(5).run();
    assert!(run.stderr.contains(&format!("port {port}")), "{}", run.stderr);
}

#[test]
fn a_malicious_authorization_server_gets_no_code_of_an_honest_one() {
    let honest = World::new();
    let authorize = honest.server.url("/authorize");
    // It redirects the browser to the honest one, with all parameters.
    let evil = Bent::default()
        .special(move |request, reply| {
            let Some((_, query)) = request.path.split_once("/authorize?") else { return false };
            reply.respond(302, &format!("Location: {authorize}?{query}\r\n"), b"");
            true
        })
        .start();
    let running = evil.start(&["login", "URL"]);
    let there = evil.opened().follow();
    let back = super::Link(there).follow();
    assert!(super::query(&back, "code").is_some());
    assert!(visit(&back).contains("Not signed in"));
    assert!(running.end(5).stderr.contains(ANOTHER));
    assert_eq!((evil.count("/token"), honest.count("/token")), (0, 0));
}
