//! What a person does on the pages, and its effect.

use serde_json::{Value, json};

use super::{asks, call};
use crate::harness::Run;

/// What the server received.
fn content(run: &Run) -> Value {
    run.reply("s", &json!(1))["content"].clone()
}

#[test]
fn a_form_is_filled_reviewed_and_sent() {
    let run = call("greet").at_browser();
    let (tab, page) = run.asked();
    page.see("forms asks").see("Welcome! Tell us a little about you.").see("Server forms").see("Tool greet");
    page.see("Name").see("As on your passport").see("required, 2 to 20 characters").see("Started by");
    page.see("optional, whole number, 18 to 99empty leaves it out").see("Free planno card needed").see("choose 1 to 2");
    page.see("forms is told that you said no").see("closed without an answer");
    let review = tab.send(&page, "review", &[("f0", "Ada"), ("f1", "36"), ("f2", "1"), ("f3", "0"), ("f3", "2")]);
    assert_eq!(review.path, "1-review");
    review
        .see("What forms will receive")
        .see("Name Ada")
        .see("Age 36")
        .see("Plan Pro plan")
        .see("Topics Releases, Events");
    tab.send(&review, "send", &[]).see("Sent to forms");
    let run = run.end(0);
    assert_eq!(
        run.stdout,
        "Hello, Ada! You are 36. You are on the pro plan. You will hear about releases and events.\n"
    );
}

#[test]
fn errors_are_next_to_their_fields_and_can_be_corrected() {
    let run = call("greet").at_browser();
    let (tab, page) = run.asked();
    let page = tab.send(&page, "review", &[("f0", "A"), ("f1", "17"), ("f2", "out")]);
    assert_eq!(page.path, "1");
    page.see("2 things are not right yet")
        .see("Name: A is too short: 2 to 20 characters")
        .see("Age: 17 is below the minimum, 18");
    assert!(page.body.contains(r##"href="#f0""##) && page.body.contains(r#"aria-invalid="true""#));
    assert!(page.body.contains(r#"value="17""#), "what was typed is still there");
    let review = tab.send(&page, "review", &[("f0", "Ada"), ("f1", ""), ("f2", "out")]);
    review.see("Name Ada").see("Age left out").see("Plan left out").see("Topics left out");
    // Back to the form, with what was typed.
    let page = tab.get("1");
    assert!(page.body.contains(r#"value="Ada""#) && !page.body.contains(r#"aria-invalid="true""#));
    let review = tab.send(&page, "review", &[("f0", "Bob")]);
    tab.send(&review, "send", &[]);
    assert_eq!(run.end(0).stdout, "Hello, Bob!\n");
}

#[test]
fn no_and_no_answer_are_different() {
    for (act, words, said) in
        [("decline", "Declined", "rather not say"), ("cancel", "Cancelled", "closed the question")]
    {
        let run = call("greet").at_browser();
        let (tab, page) = run.asked();
        // The typed text is not sent.
        tab.send(&page, act, &[("f0", "Ada")]).see(words);
        assert!(run.end(0).stdout.contains(said), "{act}");
    }
}

#[test]
fn every_kind_of_field_is_sent_as_its_type() {
    let run = call("survey").args(["-o", "json"]).at_browser();
    let (tab, page) = run.asked();
    assert!(page.body.len() < 60_000, "{} bytes", page.body.len());
    page.see("date and time").see("Default: Prague").see("No default").see("green default").see("Los Angeles");
    let fields = [
        ("f0", "ada1"),
        ("f1", "Brno"),
        ("f2", "ada@example.com"),
        ("f3", "https://example.com/"),
        ("f4", "1815-12-10"),
        ("f5", "2026-12-01T10:00"),
        ("f5-zone", "+01:00"),
        ("f6", "3"),
        ("f7", "1.68"),
        ("f8", "yes"),
        ("f9", "yes"),
        ("f10", "2"),
        ("f11", "1"),
        ("f12", "1"),
        ("f13", "0"),
        ("f13", "3"),
        ("f14", "1"),
    ];
    let review = tab.send(&page, "review", &fields);
    review.see("2026-12-01T10:00:00+01:00").see("Newsletter").see("Los Angeles");
    tab.send(&review, "send", &[]);
    let expected = json!({
        "nickname": "ada1", "city": "Brno", "email": "ada@example.com", "homepage": "https://example.com/",
        "birthday": "1815-12-10", "meeting": "2026-12-01T10:00:00+01:00", "children": 3, "height": 1.68, "news": true,
        "rules": true, "color": "blue", "airport": "lax", "size": "m", "languages": ["cs", "fr"], "codecs": ["zst"]
    });
    assert_eq!(run.end(0).json()["structuredContent"]["content"], expected);
}

#[test]
fn defaults_stand_ready_and_nothing_is_marked_that_has_none() {
    let run = asks(
        &json!({"city": {"type": "string", "default": "Brno"}, "agreed": {"type": "boolean"}, "plan": {"enum": ["a", "b"]}}),
        &json!(["agreed", "plan"]),
    );
    let run = run.at_browser();
    let (tab, page) = run.asked();
    assert!(page.body.contains(r#"value="Brno""#) && !page.body.contains(" checked"), "{}", page.body);
    let page = tab.send(&page, "review", &[("f0", "")]);
    page.see("choose yes or no").see("choose one");
    // The default can be restored.
    let page = tab.send(&page, "default:f0", &[("f0", ""), ("f1", "no"), ("f2", "0")]);
    assert!(page.body.contains(r#"value="Brno""#));
    let review = tab.send(&page, "review", &[("f0", "Brno"), ("f1", "no"), ("f2", "0")]);
    tab.send(&review, "send", &[]);
    assert_eq!(content(&run.end(0)), json!({"city": "Brno", "agreed": false, "plan": "a"}));
}
