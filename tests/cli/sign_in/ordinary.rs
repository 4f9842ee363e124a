//! What people do.

use std::fs;

use serde_json::json;

use super::{Link, World};
use crate::harness::AtTerminal;

const DOWN: &str = "\x1b[B";
const ENTER: &str = "\r";

/// The complete address on a screen: it is written without a line end in it.
pub(super) fn shown(written: &str) -> Link {
    let start = written.rfind("http://127.0.0.1:").filter(|at| written[*at..].contains("/authorize?"));
    let start = start.or_else(|| written.find("/authorize?").and_then(|at| written[..at].rfind("http://")));
    let rest = &written[start.unwrap_or_else(|| panic!("no address in {written}"))..];
    let end = rest.find(|c: char| c.is_whitespace() || c.is_control()).unwrap_or(rest.len());
    Link(rest[..end].parse().expect("an address"))
}

fn at_terminal(world: &World, words: &[&str]) -> AtTerminal {
    let person = world.test(words).at_terminal(30, 100);
    person.see("asks you to sign in").see("│ Sign in at 127.0.0.1.").see("│ It will allow this program: read");
    person
}

#[test]
fn a_person_signs_in_in_the_browser() {
    let world = World::new();
    let person = at_terminal(&world, &["login", "URL"]);
    person.see("  Open it in the browser").send(DOWN).send(ENTER).see("opening it in the browser");
    let page = world.opened().visit();
    assert!(page.contains("Signed in to 127.0.0.1") && page.contains("cache-control: no-store"), "{page}");
    person.see("signed in to 127.0.0.1").see("renewed automatically");
    let ended = person.end(0);
    assert!(!ended.screen.contains("s3cret"), "{}", ended.screen);
    world.test(&["call", "URL", "read"]).stdout("read is done\n").stderr("").run();
    // It is asked for only once.
    world.test(&["login", "URL"]).stdout_contains("already signed in").run();
    assert_eq!((world.count("/authorize"), world.count("/token")), (1, 1));
}

#[test]
fn a_call_at_a_terminal_goes_on_after_the_sign_in() {
    let world = World::new();
    let person = at_terminal(&world, &["call", "URL", "read", "--timeout", "5"]);
    person.send(DOWN).send(ENTER);
    world.opened().visit();
    person.see("read is done");
    person.end(0);
}

#[test]
fn a_held_enter_signs_nobody_in_during_a_call() {
    let world = World::new();
    let person = world.test(&["call", "URL", "read"]).at_terminal(30, 100);
    person.hold(ENTER, 100).see("asks you to sign in").hold(ENTER, 100).see("  Open it in the browser");
    assert!(!person.screen().contains("› "), "{}", person.screen());
    person.send("\x03").see("you did not sign in");
    person.end(5);
    assert_eq!(world.count("/authorize") + world.count("/token"), 0);
    assert!(!world.home().join("opened").exists());
}

#[test]
fn declining_a_sign_in_tells_nobody() {
    let world = World::new();
    let person = at_terminal(&world, &["login", "URL"]);
    person.see("  I'll open it myself").send(&DOWN.repeat(3)).send(ENTER).see("you did not sign in");
    let ended = person.end(5);
    assert!(!ended.screen.contains("is told"), "{}", ended.screen);
    assert_eq!(world.count("/authorize") + world.count("/token"), 0);
    assert!(!world.home().join("opened").exists());
    let world = World::new();
    let person = at_terminal(&world, &["login", "URL"]);
    person.send("\x1b").see("Leave this question?");
    assert!(!person.screen().contains("is told"), "{}", person.screen());
    person.send(DOWN).send(ENTER).see("you did not sign in");
    person.end(5);
}

#[test]
fn without_a_browser_the_address_is_shown() {
    let world = World::new();
    let person = at_terminal(&world, &["login", "URL", "--no-browser"]);
    assert!(!person.screen().contains("Open it in the browser"));
    person.see("  I'll open it myself").send(DOWN).send(ENTER).see("open the address above yourself");
    shown(&person.written()).visit();
    person.see("signed in to 127.0.0.1");
    person.end(0);
    assert!(!world.home().join("opened.args").exists());
}

#[test]
fn over_ssh_the_last_address_is_pasted_and_leaves_no_trace_on_the_screen() {
    let world = World::new();
    let person = at_terminal(&world, &["login", "URL", "--no-browser"]);
    person.send(DOWN).send(ENTER).see("Address");
    person.send(ENTER).see("nothing to do here");
    let link = shown(&person.written());
    let last = link.follow();
    // An address that does not belong here is refused, and nothing is lost.
    for wrong in ["nothing", "http://127.0.0.1:1/callback?code=x&state=y"] {
        person.send(&format!("\x1b[200~{wrong}\x1b[201~")).send(ENTER);
        person.see("That is not the right address");
    }
    person.send(&format!("\x1b[200~{last}\x1b[201~")).send(ENTER).see("signed in to 127.0.0.1");
    let written = person.all_written();
    person.end(0);
    let code = super::query(&last, "code").expect("a code");
    assert!(!written.contains(&code), "the code stays in the terminal");
}

#[test]
fn without_a_terminal_a_call_starts_no_sign_in() {
    let world = World::new();
    let run = world.test(&["call", "URL", "read"]).status(5).stdout("").run();
    assert!(run.stderr.contains(&format!("toolnexus login {}", world.mcp())), "{}", run.stderr);
    assert!(!world.home().join("opened.args").exists());
    assert_eq!(world.count("/register"), 0);
}

#[test]
fn login_without_a_terminal_starts_the_browser_and_shows_the_address() {
    for (words, is_started) in
        [(&["login", "URL"][..], true), (&["login", "URL", "--no-browser"], false), (&["login", "URL", "-q"], true)]
    {
        let world = World::new();
        let mut running = world.start(words);
        if is_started {
            running.visit();
        } else {
            // The address is on standard error, which ends with the run: the request shows its content.
            running.shown().visit();
        }
        let run = running.end(0);
        assert!(run.stdout.starts_with("signed in to 127.0.0.1"), "{}", run.stdout);
        assert_eq!(world.home().join("opened.args").exists(), is_started);
    }
}

#[test]
fn events_carry_the_address_of_a_sign_in() {
    let world = World::new();
    let mut running = world.start(&["login", "URL", "--no-browser", "-o", "events"]);
    let line = running.line();
    assert_eq!((&line["event"], &line["server"]), (&json!("sign-in"), &json!("127.0.0.1")), "{line}");
    Link(line["url"].as_str().expect("an address").parse().expect("one")).visit();
    assert_eq!(running.end(0).events().last().expect("an event")["signedIn"], json!(true));
}

#[test]
fn two_processes_renew_once() {
    let world = World::new();
    world.sign_in(&["login", "URL"]);
    world.ledger().expire();
    let calls = [(); 2].map(|()| world.start(&["call", "URL", "read"]));
    for call in calls {
        assert_eq!(call.end(0).stdout, "read is done\n");
    }
    assert_eq!(world.ledger().renewed, 1);
}

#[test]
fn a_token_near_its_end_is_renewed_before_it_is_refused() {
    let world = World::new();
    world.ledger().life = Some(3600);
    world.sign_in(&["login", "URL"]);
    let mut kept: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(world.sign_ins()).expect("kept")).expect("JSON");
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    kept["servers"][0]["renewAt"] = json!(now - 1);
    kept["servers"][0]["expiresAt"] = json!(now + 9);
    fs::write(world.sign_ins(), kept.to_string()).expect("written");
    let refusals = world.count("/.well-known/oauth-protected-resource/mcp");
    world.test(&["call", "URL", "read"]).stdout("read is done\n").run();
    assert_eq!(world.ledger().renewed, 1);
    assert_eq!(world.count("/.well-known/oauth-protected-resource/mcp"), refusals);
    world.test(&["call", "URL", "read"]).stdout("read is done\n").run();
    assert_eq!(world.ledger().renewed, 1, "the new one is fresh");
}

#[test]
fn a_refused_renewal_asks_to_sign_in_again() {
    let world = World::new();
    world.sign_in(&["login", "URL"]);
    world.ledger().revoke_all();
    world.test(&["call", "URL", "read"]).status(5).stderr_contains("toolnexus login").run();
    world.test(&["login", "URL", "--status"]).status(0).run_any();
    world.sign_in(&["login", "URL"]);
    world.test(&["call", "URL", "read"]).stdout("read is done\n").run();
}

#[test]
fn who_is_signed_in_can_be_seen_and_signed_out() {
    let world = World::new();
    let config = json!({"mcpServers": {"cal": {"url": world.mcp()}}}).to_string();
    let test = |words: &[&str]| world.test(words).config(&config);
    test(&["login", "cal", "--status"]).status(5).stderr_contains("toolnexus login cal").run();
    let running = world.start_test(test(&["login", "cal"]));
    running.visit();
    running.end(0);
    test(&["login", "cal", "--status"]).stdout_contains("signed in to cal: read, offline_access").run();
    test(&["servers"]).stdout_contains("signed in: read").run();
    let servers = test(&["servers", "-o", "json"]).run().json();
    let signed_in = &servers["servers"]["cal"]["signedIn"];
    assert_eq!(signed_in["scopes"], json!(["read", "offline_access"]));
    assert_eq!(signed_in["renewable"], json!(true));
    assert!(!signed_in.to_string().contains("s3cret"));

    test(&["logout", "cal"]).stdout_contains("and its tokens are revoked").run();
    let kinds: Vec<String> =
        world.ledger().revoked.iter().map(|token| token.split('-').next().unwrap_or_default().to_owned()).collect();
    assert_eq!(kinds, ["refresh", "access"]);
    assert!(!fs::read_to_string(world.sign_ins()).expect("the file").contains("s3cret"));
    test(&["login", "cal", "--status"]).status(5).run();
    test(&["logout", "cal"]).stdout("you were not signed in\n").run();
}

#[test]
fn signing_out_everywhere_needs_no_configuration() {
    let (one, other) = (World::new(), World::new());
    let home = one.home().to_str().expect("a path").to_owned();
    one.sign_in(&["login", "URL"]);
    let running = one.start_test(one.test(&["login", &other.mcp()]));
    running.visit();
    running.end(0);
    let run = other.test(&["logout"]).env("HOME", &home).run();
    assert_eq!(run.stdout.lines().count(), 2, "{}", run.stdout);
    assert_eq!((one.ledger().revoked.len(), other.ledger().revoked.len()), (2, 2));
}
