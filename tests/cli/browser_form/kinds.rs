//! The rarer kinds of fields.

use serde_json::{Value, json};

use super::asks;
use crate::harness::{Run, Test};

/// Fills in a form with these properties, all optional, and returns what the server received.
fn filled(properties: &Value, fields: &[(&str, &str)]) -> Value {
    let run = asks(properties, &json!([])).at_browser();
    let (tab, page) = run.asked();
    let review = tab.send(&page, "review", fields);
    assert_eq!(review.path, "1-review", "{}", review.text());
    tab.send(&review, "send", &[]).see("Sent to s");
    content(&run.end(0))
}

fn content(run: &Run) -> Value {
    run.reply("s", &json!(1))["content"].clone()
}

#[test]
fn a_secret_is_masked_asked_for_twice_and_never_sent_back() {
    let test = asks(
        &json!({"password": {"type": "string", "minLength": 4}, "age": {"type": "integer"}}),
        &json!(["password"]),
    );
    let run = test.args(["--record", "record.json"]).at_browser();
    let (tab, page) = run.asked();
    page.see("Secrets do not belong in forms: s will be able to read it.");
    assert_eq!(page.body.matches(r#"type="password""#).count(), 2);
    let page = tab.send(&page, "review", &[("f0", "hush-hush"), ("f0-again", "hush"), ("f1", "1")]);
    page.see("the two do not match").not_see("hush");
    let page = tab.send(&page, "review", &[("f0", "sh"), ("f0-again", "sh"), ("f1", "1")]);
    page.see("this is too short").not_see(r#"value="sh""#);
    let page = tab.send(&page, "review", &[("f0", "hush-hush"), ("f0-again", "hush-hush"), ("f1", "x")]);
    page.see("x is not a whole number").see("You have already entered it").not_see("hush");
    let review = tab.send(&page, "review", &[("f0", ""), ("f0-again", ""), ("f1", "1")]);
    review.see("••••••").not_see("hush");
    tab.send(&review, "send", &[]).not_see("hush");
    let run = run.end(0);
    assert_eq!(content(&run), json!({"password": "hush-hush", "age": 1}));
    let record = std::fs::read_to_string(run.folder().join("record.json")).expect("a record");
    assert!(!record.contains("hush") && !run.stderr.contains("hush"), "{record}");
}

#[test]
fn objects_are_filled_key_by_key_or_left_out() {
    let inner =
        json!({"type": "object", "title": "At", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}});
    let home = json!({"type": "object", "required": ["street"], "properties": {
        "street": {"type": "string"}, "kind": {"enum": ["flat", "house"], "default": "flat"}, "at": inner}});
    let properties = json!({"home": home, "name": {"type": "string"}});
    let fields =
        [("f0-on", "on"), ("f0.0", "Long Lane"), ("f0.1", "1"), ("f0.2-on", "on"), ("f0.2.0", "1.50"), ("f1", "A")];
    let told = filled(&properties, &fields);
    assert_eq!(told.to_string(), r#"{"home":{"street":"Long Lane","kind":"house","at":{"lat":1.5}},"name":"A"}"#);
    // Text typed into an object that is left out is not sent.
    assert_eq!(filled(&properties, &[("f0.0", "Long Lane"), ("f1", "A")]), json!({"name": "A"}));

    let run = asks(&properties, &json!(["home"])).at_browser();
    let (tab, page) = run.asked();
    let page = tab.send(&page, "review", &[("f0.2-on", "on"), ("f0.2.0", "1")]);
    page.see("street: an answer is required");
    assert!(page.body.contains(r##"href="#f0.0""##));
    tab.send(&page, "cancel", &[]);
    run.end(0);
}

#[test]
fn lists_grow_and_shrink_without_a_script() {
    let item =
        json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}}});
    let properties = json!({
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3, "default": ["a"]},
        "pets": {"type": "array", "items": item, "minItems": 1},
        "marks": {"type": "array", "items": {"type": "integer"}},
    });
    let run = asks(&properties, &json!(["pets"])).at_browser();
    let (tab, page) = run.asked();
    page.see("tags 1").see("Add an entry").see("pets 1");
    let tags =
        [("f0-count", "1"), ("f0.0", "red"), ("f1-count", "1"), ("f1.0.0", "Rex"), ("f2-count", "1"), ("f2.0", "")];
    let page = tab.send(&page, "add:f0", &tags);
    let more = [
        ("f0-count", "2"),
        ("f0.0", "red"),
        ("f0.1", "green"),
        ("f1-count", "1"),
        ("f1.0.0", "Rex"),
        ("f2-count", "1"),
    ];
    let page = tab.send(&page, "add:f0", &more);
    page.see("There is no room for more entries.");
    let three = [("f0-count", "3"), ("f0.0", "red"), ("f0.1", "greenish"), ("f0.2", "blue")];
    let page =
        tab.send(&page, "review", &[&three[..], &[("f1-count", "1"), ("f2-count", "1"), ("f2.0", "x")]].concat());
    page.see("tags 2: greenish is too long").see("pets: an answer is required").see("marks 1: x is not a whole number");
    let page = tab.send(
        &page,
        "remove:f0.1",
        &[&three[..], &[("f1-count", "1"), ("f1.0.0", "Rex"), ("f2-count", "0")]].concat(),
    );
    assert!(page.body.contains(r#"value="blue""#) && !page.body.contains("greenish"), "{}", page.text());
    let fields =
        [("f0-count", "2"), ("f0.0", "red"), ("f0.1", "blue"), ("f1-count", "1"), ("f1.0.0", "Rex"), ("f1.0.1", "3")];
    let review = tab.send(&page, "review", &fields);
    review.see("red").see("marks left out");
    tab.send(&review, "send", &[]);
    assert_eq!(content(&run.end(0)), json!({"tags": ["red", "blue"], "pets": [{"name": "Rex", "age": 3}]}));
}

#[test]
fn what_cannot_be_drawn_is_json() {
    let properties = json!({"any": {"type": "object"}, "mixed": {"type": ["integer", "string", "null"]}});
    let told = filled(&properties, &[("f0", "{\r\n  \"a\": [1.50, 9007199254740993]\r\n}"), ("f1", "12")]);
    assert_eq!(told.to_string(), r#"{"any":{"a":[1.50,9007199254740993]},"mixed":12}"#);
    let run = asks(&properties, &json!([])).at_browser();
    let (tab, page) = run.asked();
    tab.send(&page, "review", &[("f0", "{")]).see("{ is not JSON");
    tab.send(&tab.get("1"), "decline", &[]);
    run.end(0);
}

#[test]
fn texts_keep_their_lines_and_their_space() {
    let properties = json!({"notes": {"type": "string", "default": "\nfirst\nsecond"}, "name": {"type": "string"}});
    let run = asks(&properties, &json!([])).at_browser();
    let (tab, page) = run.asked();
    assert!(page.body.contains(">\n\nfirst\nsecond</textarea>"), "{}", page.body);
    let review = tab.send(&page, "review", &[("f0", "a\r\n\r\n b "), ("f1", "  ")]);
    review.see("only spaces");
    tab.send(&review, "send", &[]);
    assert_eq!(content(&run.end(0)), json!({"notes": "a\n\n b ", "name": "  "}));
}

#[test]
fn long_lists_are_selects_with_a_filter() {
    let names: Vec<String> = (0..300).map(|number| format!("Country {number}")).collect();
    let run =
        asks(&json!({"one": {"enum": names}, "some": {"type": "array", "items": {"enum": names}}}), &json!(["one"]));
    let run = run.at_browser();
    let (tab, page) = run.asked();
    assert!(page.body.contains("<select id=\"f0\"") && page.body.contains(r#"data-filter="f0""#));
    let review = tab.send(&page, "review", &[("f0", "271"), ("f1", "3"), ("f1", "299")]);
    tab.send(&review, "send", &[]);
    assert_eq!(content(&run.end(0)), json!({"one": "Country 271", "some": ["Country 3", "Country 299"]}));
}

#[test]
fn null_and_fixed_values_are_what_the_schema_says() {
    let properties = json!({
        "maybe": {"type": ["string", "null"]}, "agreed": {"type": ["boolean", "null"]}, "kind": {"const": "x"},
        "when": {"type": "string", "format": "date-time", "default": "2026-01-31T09:30:00.123456+01:00"},
    });
    let run = asks(&properties, &json!(["maybe", "agreed", "kind"])).at_browser();
    let (tab, page) = run.asked();
    page.see("empty sends null").see("Null, no value").see("always x");
    assert!(page.body.contains(r#"value="2026-01-31T09:30:00.123456+01:00""#));
    let review = tab.send(
        &page,
        "review",
        &[("f0", ""), ("f1", "null"), ("f3", "2026-01-31T09:30:00.123456+01:00"), ("f3-zone", "")],
    );
    tab.send(&review, "send", &[]);
    let told = content(&run.end(0));
    assert_eq!(told, json!({"maybe": null, "agreed": null, "kind": "x", "when": "2026-01-31T09:30:00.123456+01:00"}));
}

#[test]
fn an_offset_that_is_missing_is_that_of_the_clock() {
    let run = asks(&json!({"when": {"type": "string", "format": "date-time"}}), &json!([]));
    let run: Test = run.env("TZ", "UTC");
    let run = run.at_browser();
    let (tab, page) = run.asked();
    let review = tab.send(&page, "review", &[("f0", "2026-01-31T09:30"), ("f0-zone", "")]);
    review.see("2026-01-31T09:30:00Z");
    tab.send(&review, "send", &[]);
    assert_eq!(content(&run.end(0)), json!({"when": "2026-01-31T09:30:00Z"}));
}
