//! Links on a page.

use serde_json::{Value, json};

use super::{ask, does, done};
use crate::harness::{Fake, Step, Test};

fn link(url: &str) -> Value {
    json!({"mode": "url", "elicitationId": "e1", "url": url, "message": "Sign in, please"})
}

#[test]
fn a_link_is_shown_whole_and_opened_by_its_person() {
    let url = "http://user@b\u{fc}cher.example/a?x=1&y=<b>";
    let run = does([ask(&link(url)), Step::Expect(json!({"id": 1})), done()]).at_browser();
    let (tab, page) = run.asked();
    let full = "http://user@xn--bcher-kva.example/a?x=1&y=%3Cb%3E";
    page.see("asks you to open a link").see("Leads to xn--bcher-kva.example").see(full);
    page.see("user name before the host").see("punycode").see("not encrypted");
    let written = full.replace('&', "&amp;");
    assert!(
        page.body.contains(&format!(r#"href="{written}" target="_blank" rel="noopener noreferrer""#)),
        "{}",
        page.body
    );
    tab.send(&page, "opened", &[]);
    assert_eq!(run.end(0).reply("s", &json!(1)), json!({"action": "accept"}));
}

#[test]
fn a_link_may_be_declined_and_cancelled() {
    for (act, action) in [("decline", "decline"), ("cancel", "cancel")] {
        let run = does([ask(&link("https://a.example/")), Step::Expect(json!({"id": 1})), done()]).at_browser();
        let (tab, page) = run.asked();
        // Only the link and its button agree.
        let page = tab.send(&page, "send", &[]);
        tab.send(&page, act, &[]);
        assert_eq!(run.end(0).reply("s", &json!(1)), json!({"action": action}));
    }
}

#[test]
fn harmful_links_are_never_offered() {
    for url in ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "file:///etc/passwd"] {
        let test = does([ask(&link(url)), Step::Expect(json!({"id": 1})), done()]);
        let run = test.status(8).stderr_contains("only http and https").run();
        assert!(!run.stderr.contains("asks in the browser"), "{}", run.stderr);
        assert_eq!(run.reply("s", &json!(1)), json!({"action": "cancel"}));
    }
}

#[test]
fn a_link_that_is_needed_first_is_waited_for() {
    let needed =
        json!({"code": -32042, "message": "More is needed", "data": {"elicitations": [link("https://a.example/")]}});
    for (act, words) in [("done", "Done"), ("leave", "No longer waiting")] {
        let fake = Fake::new().tool("t").on_call([Step::Fail(needed.clone())]).on_call([done()]);
        let test = Test::new().server("s", &fake).args(["call", "s", "t", "--elicit", "browser", "--no-browser"]);
        let run = test.at_browser();
        let (tab, page) = run.asked();
        let mut page = tab.send(&page, "opened", &[]);
        for _ in 0..500 {
            if page.text().contains("Waiting for a.example") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            page = tab.get("1");
        }
        page.see("Waiting for a.example").see("https://a.example/").see("stop waiting for it");
        tab.send(&page, act, &[]).see(words);
        run.end_any();
    }
}
