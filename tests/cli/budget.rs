//! What a server's schema or value makes the program compute, hold and print is limited. Each test runs with little
//! memory.

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

/// How much memory may be mapped, in MiB: most of it is never used.
const MEMORY: u64 = 400;

/// `depth` nested lists.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!([]), |inner, _| json!([inner]))
}

/// Alternatives that double with each nested list.
fn doubling() -> Value {
    let again = json!({"type": "array", "items": {"$ref": "#/$defs/n"}});
    json!({"n": {"anyOf": [again, {"anyOf": [again]}]}})
}

fn asks(schema: &Value) -> Fake {
    let params = json!({"message": "Hi", "requestedSchema": schema});
    let done = json!({"content": [{"type": "text", "text": "done"}]});
    Fake::new().tool("t").on_call([
        Step::Send(json!({"id": "q", "method": "elicitation/create", "params": params})),
        Step::Expect(json!({"id": "q"})),
        Step::Reply(done),
    ])
}

fn limited(fake: &Fake) -> Test {
    Test::new().server("s", fake).memory(MEMORY)
}

#[test]
fn a_default_that_doubles_is_not_offered() {
    let field = json!({"$ref": "#/$defs/n", "default": nested(14)});
    let schema = json!({"type": "object", "properties": {"a": field}, "$defs": doubling()});
    let run = limited(&asks(&schema)).args(["call", "s", "t"]).status(8).stdout("done\n").run();
    assert!(!run.stderr.contains("default"), "{}", run.stderr);
    // A person, or a file, may still give a value; the server decides whether it fits.
    let answer = format!("a={}", nested(14));
    let run = limited(&asks(&schema)).args(["call", "s", "t", "--answer", &answer]).stdout("done\n").run();
    assert_eq!(run.reply("s", &json!("q"))["content"]["a"], nested(14));
}

#[test]
fn an_argument_that_doubles_is_sent_with_a_warning() {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": doubling()});
    let fake = Fake::new().tool_with("t", &schema);
    let argument = format!("a:={}", nested(14));
    let run = limited(&fake).args(["call", "s", "t", &argument]).stdout("done\n").run();
    assert!(run.stderr.contains("the arguments are not checked"), "{}", run.stderr);
    for words in [&["tools"][..], &["tools", "s"], &["tools", "s", "t"]] {
        limited(&fake).args(words.iter().copied()).args(["--trust"]).run();
    }
}

#[test]
fn structured_content_that_doubles_is_printed_unchecked() {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": doubling()});
    let result = json!({"content": [], "structuredContent": {"a": nested(14)}});
    let fake = Fake::new().tool_giving("t", &schema).result(result);
    limited(&fake).args(["call", "s", "t"]).stderr_contains("is not checked").run();
}

#[test]
fn fields_that_share_a_large_definition_cost_no_more_than_its_size() {
    for (count, differs) in [(1000, false), (4000, false), (1000, true), (4000, true)] {
        let property = |n: usize| (format!("p{n}"), json!({"type": "string"}));
        let definition: serde_json::Map<String, Value> = (0..count).map(property).collect();
        let field = |n: usize| {
            let own =
                if differs { json!({"$ref": "#/$defs/d", "minProperties": n}) } else { json!({"$ref": "#/$defs/d"}) };
            (format!("f{n}"), own)
        };
        let fields: serde_json::Map<String, Value> = (0..count).map(field).collect();
        let definitions = json!({"d": {"type": "object", "properties": definition}});
        let schema = json!({"type": "object", "properties": fields, "$defs": definitions});
        let run = limited(&asks(&schema)).args(["call", "s", "t"]).status(8).stdout("done\n").run();
        assert!(run.took.as_secs() < 10, "{:?} for {count} fields", run.took);
    }
}

#[test]
fn a_log_costs_no_more_than_a_small_multiple_of_itself() {
    let params = json!({"level": "error", "logger": "L".repeat(1_000_000), "data": "x\n".repeat(2000)});
    let log = Step::Send(json!({"method": "notifications/message", "params": params}));
    let fake = Fake::new().tool("t").on_call([log, Step::Reply(json!({"content": []}))]);
    let run = limited(&fake).args(["call", "s", "t"]).run();
    assert!(run.stderr.len() < 100_000, "{} bytes", run.stderr.len());
    assert!(run.stderr.contains("more lines"), "{}", &run.stderr[..1000]);
}

#[test]
fn names_of_a_megabyte_are_cut_everywhere() {
    let long = "n".repeat(1_000_000);
    let marks = format!("e{}", "\u{301}".repeat(100_000));
    for name in [&long, &marks] {
        let blocks = json!([
            {"type": name}, {"type": "image", "mimeType": name, "data": ""},
            {"type": "resource_link", "uri": name, "name": name},
            {"type": "resource", "resource": {"uri": name, "mimeType": name, "blob": ""}},
            {"type": "resource", "resource": {"uri": name, "text": ""}},
        ]);
        let changed = Step::Send(json!({"method": format!("notifications/{name}/list_changed")}));
        let call = [changed, Step::Reply(json!({"content": blocks}))];
        let fake = Fake::new().tool("t").tool(name).on_call(call);
        let run = limited(&fake).args(["-v", "call", "s", "t"]).run();
        assert!(run.stdout.len() + run.stderr.len() < 50_000, "{} and {}", run.stdout.len(), run.stderr.len());
        let run = limited(&fake).args(["tools", "s"]).run();
        assert!(run.stdout.len() + run.stderr.len() < 10_000, "{} and {}", run.stdout.len(), run.stderr.len());
    }
}
