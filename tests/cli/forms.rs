//! Forms from many kinds of servers, answered from a file: what is sent, and what is refused by name.

use serde_json::{Map, Value, json};

use super::harness::{Fake, Run, Step, Test};

/// A call during which the server asks with `schema`, answered with `content`.
fn asked(schema: &Value, content: &Value) -> Test {
    let params = json!({"message": "Well?", "requestedSchema": schema});
    let server = Fake::new().tool("t").on_call([
        Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params})),
        Step::Expect(json!({"id": "ask-1"})),
        Step::Reply(json!({"content": [{"type": "text", "text": "done"}]})),
    ]);
    Test::new().server("s", &server).file("a.json", content.to_string()).args(["call", "s", "t", "--answers", "a.json"])
}

fn reply(run: &Run) -> Value {
    run.reply("s", &json!("ask-1"))
}

fn sends(schema: &Value, content: &Value, sent: &Value) {
    let run = asked(schema, content).run();
    assert_eq!(reply(&run), json!({"action": "accept", "content": sent}), "{schema}");
}

fn refuses(schema: &Value, content: &Value, reason: &str) {
    let run = asked(schema, content).status(8).stderr_contains(reason).run();
    assert_eq!(reply(&run), json!({"action": "cancel"}), "{schema}");
}

fn one(part: &Value) -> Value {
    json!({"type": "object", "properties": {"x": part}, "required": ["x"]})
}

#[test]
fn a_pydantic_model_is_a_form() {
    let schema = json!({"title": "AnswerModel", "type": "object",
        "$defs": {"Status": {"title": "Status", "type": "string", "enum": ["todo", "doing", "done"]}},
        "properties": {"value": {"title": "Value", "type": "integer"}, "status": {"$ref": "#/$defs/Status"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "Note"}},
        "required": ["value", "status"]});
    sends(&schema, &json!({"value": 4, "status": "doing"}), &json!({"value": 4, "status": "doing"}));
    refuses(
        &schema,
        &json!({"value": 4, "status": "finished"}),
        r#"status: "finished" is not one of "todo", "doing", "done""#,
    );
    refuses(&schema, &json!({"value": "4", "status": "done"}), r#"value: "4" is text, not a whole number"#);
}

#[test]
fn titles_are_not_values() {
    let named = one(
        &json!({"type": "string", "enum": ["lax", "sfo"], "enumNames": ["Los Angeles", "San Francisco"], "default": "sfo"}),
    );
    refuses(&named, &json!({"x": "San Francisco"}), r#""San Francisco" is a title; write its value, "sfo""#);
    sends(&named, &json!({}), &json!({"x": "sfo"}));
    let many = one(&json!({"type": "array", "maxItems": 1, "items":
        {"anyOf": [{"const": "gz", "title": "Gzip"}, {"const": "zst", "title": "Zstandard"}]}}));
    sends(&many, &json!({"x": ["zst"]}), &json!({"x": ["zst"]}));
    refuses(&many, &json!({"x": ["gz", "zst"]}), "2 are chosen: choose at most 1");
}

#[test]
fn bounds_patterns_and_formats_are_kept() {
    for (part, wrong, reason) in [
        (json!({"type": "integer", "maximum": 120}), json!(130), "130 is above the maximum, 120"),
        (json!({"type": "string", "minLength": 2}), json!("x"), "x is too short: at least 2 characters"),
        (json!({"type": "string", "format": "email"}), json!("nobody"), "nobody is not an e-mail address"),
        (json!({"type": "boolean"}), json!("y"), r#""y" is text, not true or false"#),
        (json!({"type": "number", "multipleOf": 0.1}), json!(0.35), "0.35 is not a multiple of 0.1"),
        (json!({"type": "string", "pattern": r"^(?=.*\d)\w+$"}), json!("abc"), "abc does not match"),
        (json!({"type": "object", "properties": {"n": {"type": "integer"}}}), json!({"n": "1"}), "at /n, "),
    ] {
        refuses(&one(&part), &json!({"x": wrong}), reason);
    }
    let exact = one(&json!({"type": "integer"}));
    let run = asked(&exact, &json!({"x": 9_007_199_254_740_993_u64})).run();
    assert_eq!(reply(&run)["content"]["x"].to_string(), "9007199254740993");
    sends(&exact, &json!({"x": 3.0}), &json!({"x": 3}));
}

#[test]
fn what_cannot_be_checked_is_never_refused() {
    for part in [
        json!({"type": "string", "pattern": "("}),
        json!({"type": "string", "pattern": r"[\uD800-\uDBFF]"}),
        json!({"type": "string", "format": "color"}),
        json!({"$ref": "https://other.example/schema.json"}),
        json!({"$ref": "#/$defs/nowhere"}),
        json!({"type": "text"}),
        json!({}),
    ] {
        let value = format!("{}!", "a".repeat(200));
        sends(&one(&part), &json!({"x": value}), &json!({"x": value}));
    }
}

#[test]
fn an_empty_accept_is_sent_only_for_an_empty_form() {
    let entry = json!([{"when": {"mode": "form"}, "action": "accept"}]);
    for schema in [json!({"type": "object", "properties": {}}), json!({"type": "object"}), json!({})] {
        sends(&schema, &entry, &Value::Object(Map::new()));
    }
    let needed = one(&json!({"type": "string", "oneOf": [{"const": "eu", "title": "Europe"}]}));
    refuses(&needed, &entry, "x: required, but missing");
}
