//! Arguments as they are sent, with types from schemas that do not make it easy.

use serde_json::{Value, json};

use super::harness::{Fake, Test};

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "two": {"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}, "b": {"type": "boolean"}}},
            {"type": "object", "properties": {"q": {"type": "number"}}}]},
        "shape": {"oneOf": [
            {"type": "object", "required": ["kind", "size"],
                "properties": {"kind": {"const": "circle"}, "size": {"type": "number"}}},
            {"type": "object", "required": ["kind", "size"],
                "properties": {"kind": {"const": "label"}, "size": {"type": "string"}}}]},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}]},
        "paths": {"type": "array", "items": {"type": "string"}},
        "nums": {"type": "array", "items": {"type": "integer"}},
        "order": {"type": "object", "properties": {"items": {"type": "array",
            "items": {"type": "object", "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}}}}}},
        "ends:": {"type": "integer"}}})
}

fn call(words: &[&str]) -> Test {
    let server = Fake::new().tool_with("t", &schema());
    Test::new().server("s", &server).args(["call", "s", "t"]).args(words.iter().copied())
}

#[test]
fn what_is_written_is_sent_as_the_schema_has_it() {
    for (words, wanted) in [
        (&["two.n=2", "two.b=true"][..], json!({"two": {"n": 2, "b": true}})),
        (&["shape.kind=circle", "shape.size=2"], json!({"shape": {"kind": "circle", "size": 2}})),
        (&["shape.kind=label", "shape.size=2"], json!({"shape": {"kind": "label", "size": "2"}})),
        (&["pair.0=1", "pair.1=true"], json!({"pair": [1, true]})),
        (&["paths=a,b"], json!({"paths": ["a,b"]})),
        (&["paths=a", "paths=b"], json!({"paths": ["a", "b"]})),
        (&["nums=1", "nums=2"], json!({"nums": [1, 2]})),
        (&["nums=[1,2]"], json!({"nums": [1, 2]})),
        (&["order.items.0.sku=A", "order.items.0.qty=2"], json!({"order": {"items": [{"sku": "A", "qty": 2}]}})),
        (&[r"ends\:=1"], json!({"ends:": 1})),
    ] {
        assert_eq!(call(words).run().params("s", "tools/call", 0)["arguments"], wanted, "{words:?}");
    }
}

#[test]
fn what_cannot_be_meant_says_what_to_write() {
    call(&["nums=1,2"]).status(2).stderr_contains("for several values repeat nums=…, or write nums:=[…]").run();
    call(&["shape.size=2"]).status(2).stderr_contains("shape.size:=JSON").run();
    call(&["order.items.3.sku=A"]).status(2).stderr_contains("the next is order.items.0").run();
}

#[test]
fn an_unreadable_part_of_a_schema_is_reported_once_and_the_rest_is_checked() {
    for (bad, place) in [
        (json!({"type": "strin"}), "/properties/b/type: "),
        (json!({"type": "string", "minLength": "two"}), "/properties/b/minLength: "),
        (json!({"$ref": "#/$defs/nowhere"}), "/properties/b/$ref: it refers to \"#/$defs/nowhere\""),
        (json!({"$ref": "https://a.example/s.json"}), "/properties/b/$ref: "),
    ] {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}, "b": bad}});
        let call = |words: &[&str]| {
            let fake = Fake::new().tool_with("t", &schema);
            Test::new().server("s", &fake).args(["call", "s", "t"]).args(words.iter().copied())
        };
        let run = call(&["a=3", "b=x"]).stdout("done\n").stderr_contains(place).run();
        assert_eq!(run.stderr.matches("cannot be read").count(), 1, "{}", run.stderr);
        assert_eq!(run.params("s", "tools/call", 0)["arguments"]["a"], 3);
        let run = call(&["a=2", "b=x"]).status(2).run();
        assert!(
            run.stderr.contains("2 is below the minimum, 3")
                && run.received("s").iter().all(|message| message["method"] != "tools/call"),
            "{}",
            run.stderr
        );
    }
    let nothing =
        json!({"type": "object", "required": null, "properties": null, "additionalProperties": null, "anyOf": null});
    let fake = Fake::new().tool_with("t", &nothing);
    Test::new().server("s", &fake).args(["call", "s", "t", "a=1"]).stdout("done\n").stderr("").run();
}
