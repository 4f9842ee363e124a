use std::{
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Map, Value, json};

use crate::harness::{Fake, Step, Test, received, wait};

/// Memory for a test build of the program, and for a scripted server.
const MEMORY: u64 = 400;
/// The most memory that may be used, in KiB: 64 MiB, plus the code of a test build.
const PEAK: u64 = if cfg!(debug_assertions) { 80 << 10 } else { 64 << 10 };

/// How long a run may take, in seconds: the machine may be busy with other tests.
const LONG: u64 = if cfg!(debug_assertions) { 25 } else { 2 };
/// How quickly a signal ends the program.
const SOON: Duration = Duration::from_secs(1);

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!([]), |inner, _| json!([inner]))
}

fn nested_objects(depth: usize, key: &str) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({key: inner}))
}

/// A schema with a definition `n`, in which `#/$defs/n` stands for what is inside the value.
fn recursive(n: &Value) -> Value {
    json!({"$ref": "#/$defs/n", "$defs": {"n": n}})
}

/// Schemas that cost far more than their length, each with a value to check.
fn costly() -> Vec<(&'static str, Value, Value)> {
    let n = || json!({"$ref": "#/$defs/n"});
    let list = |items: Value| json!({"type": "array", "items": items});
    let object = |part: Value| json!({"type": "object", "properties": {"a": part}});
    let many = |count: usize| (0..count).map(|i| Value::from(i as u64)).collect::<Vec<Value>>();
    let twice = |key: &str, part: fn(Value) -> Value| recursive(&json!({(key): [part(n()), part(n()), part(n())]}));
    let as_list: fn(Value) -> Value = |part| json!({"type": "array", "items": part});
    let mut chain = Map::new();
    for level in 0..150 {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        chain.insert(format!("l{level}"), json!({"anyOf": [{"items": next}, {"items": {"anyOf": [next, next]}}]}));
    }
    chain.insert("l150".into(), json!(true));
    let names =
        |count: usize| -> Map<String, Value> { (0..count).map(|i| (format!("name{i}"), json!({"a": [i]}))).collect() };
    let patterns: Map<String, Value> = (0..500).map(|i| (format!("(a|b|ab)*c{i}$"), json!({"minLength": 1}))).collect();
    vec![
        (
            "alternatives that lead back",
            recursive(&json!({"anyOf": [list(n()), {"type": "array", "items": {"anyOf": [n(), n()]}}]})),
            nested(14),
        ),
        ("anyOf", twice("anyOf", as_list), nested(60)),
        ("allOf", twice("allOf", as_list), nested(60)),
        ("oneOf", twice("oneOf", as_list), nested(60)),
        ("not", recursive(&json!({"not": list(n()), "allOf": [{"not": list(json!({"not": n()}))}]})), nested(90)),
        ("if", recursive(&json!({"if": list(n()), "then": list(n()), "else": list(n())})), nested(60)),
        (
            "dependentSchemas",
            recursive(&json!({"dependentSchemas": {"a": object(n())}, "properties": {"a": n()}})),
            nested_objects(60, "a"),
        ),
        (
            "patternProperties",
            recursive(&json!({"patternProperties": {"^a": n(), "a$": n(), "^a$": n(), "(?=a)": n()}})),
            nested_objects(60, "a"),
        ),
        (
            "additionalProperties",
            recursive(
                &json!({"additionalProperties": n(), "properties": {"a": n()}, "allOf": [{"additionalProperties": n()}]}),
            ),
            nested_objects(60, "b"),
        ),
        (
            "unevaluatedProperties",
            recursive(&json!({"anyOf": [object(n()), {"unevaluatedProperties": n()}], "unevaluatedProperties": n()})),
            nested_objects(60, "a"),
        ),
        (
            "unevaluatedItems",
            recursive(&json!({"anyOf": [list(n()), {"prefixItems": [n()]}], "unevaluatedItems": n()})),
            nested(60),
        ),
        ("contains", recursive(&json!({"contains": n(), "items": n()})), nested(90)),
        (
            "dynamicRef",
            json!({"$dynamicAnchor": "n", "oneOf": [list(json!({"$dynamicRef": "#n"})), list(json!({"$dynamicRef": "#n"}))]}),
            nested(60),
        ),
        (
            "a resource of its own",
            json!({"$ref": "https://a.example/n", "$defs": {"n": true, "x": {"$id": "https://a.example/n",
                "$ref": "#/$defs/n", "$defs": {"n": {"oneOf": [list(n()), list(n()), {"const": 1}]}}}}}),
            nested(60),
        ),
        ("a chain of references", json!({"$ref": "#/$defs/l0", "$defs": chain}), nested(60)),
        ("uniqueItems", json!({"type": "array", "uniqueItems": true, "contains": {"const": -1}}), many(30_000).into()),
        (
            "a large enum for each of many",
            json!({"type": "array", "items": {"enum": (0..5_000).map(|i| json!([i, i])).collect::<Vec<_>>()}}),
            (0..5_000).map(|i| json!([i, i + 1])).collect::<Vec<_>>().into(),
        ),
        (
            "a pattern that goes back and forth",
            json!({"type": "array", "items": {"pattern": r"^(?=(a+)+$)(a|aa)+\1$"}}),
            vec![json!("a".repeat(2_000)); 300].into(),
        ),
        (
            "a pattern with many states",
            json!({"type": "array", "items": {"pattern": "[01]*1[01]{20000}$"}}),
            vec![json!("01".repeat(20_000)); 10].into(),
        ),
        ("many patterns for many names", json!({"patternProperties": patterns}), names(3_000).into()),
        ("names", json!({"propertyNames": {"pattern": r"^(\w+\s?)*\1$"}}), names(3_000).into()),
    ]
}

#[track_caller]
fn is_small(about: &str, run: &crate::harness::Run) {
    assert!(run.peak < PEAK, "{about}: {} MiB were held", run.peak / 1024);
}

/// The program, whose call is never answered, interrupted when its work is done or in progress.
#[track_caller]
fn interrupted(about: &str, test: &Test) -> crate::harness::Run {
    let program = test.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let program = program.expect("the program starts");
    let end = Instant::now() + Duration::from_secs(20);
    while !received(test.folder(), "s").iter().any(|message| message["method"] == "tools/list") {
        assert!(Instant::now() < end, "{about}: the server was never asked");
        thread::sleep(Duration::from_millis(2));
    }
    thread::sleep(Duration::from_millis(300));
    let id = Pid::from_raw(i32::try_from(program.id()).expect("a process id"));
    let sent = Instant::now();
    kill(id, Signal::SIGINT).expect("the program is there");
    let run = wait(program, Duration::from_secs(20));
    assert_eq!(run.status, Some(130), "{about}: {}", run.stderr);
    assert!(sent.elapsed() < SOON, "{about}: it took {:?}", sent.elapsed());
    run
}

fn form(schema: &Value, default: &Value) -> Value {
    let mut part = schema.clone();
    let defs = part.as_object_mut().and_then(|part| part.shift_remove("$defs"));
    part["default"] = default.clone();
    let mut form = json!({"type": "object", "properties": {"a": part, "b": {"type": "string"}}});
    if let Some(defs) = defs {
        form["$defs"] = defs;
    }
    form
}

fn asking(schema: &Value) -> [Step; 2] {
    let params = json!({"message": "What?", "requestedSchema": schema});
    let ask = json!({"id": "q", "method": "elicitation/create", "params": params});
    [Step::Send(ask), Step::Expect(json!({"id": "q"}))]
}

#[test]
fn a_form_costs_no_more_than_its_budget() {
    for (about, schema, value) in costly() {
        let fake = || Fake::new().tool("t").on_call(asking(&form(&schema, &value)));
        let done = Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}));
        let answering = Fake::new().tool("t").on_call(asking(&form(&schema, &value)).into_iter().chain([done]));
        let run = Test::new()
            .server("s", &answering)
            .args(["call", "s", "t", "--answer", "b=x"])
            .memory(MEMORY)
            .stdout("done\n")
            .run();
        is_small(about, &run);
        assert!(run.took < Duration::from_secs(LONG), "{about}: it took {:?}", run.took);
        assert_eq!(run.reply("s", &json!("q"))["action"], "accept", "{about}");
        is_small(about, &interrupted(about, &Test::new().server("s", &fake()).args(["call", "s", "t"]).memory(MEMORY)));
    }
}

#[test]
fn arguments_cost_no_more_than_their_budget() {
    for (about, schema, value) in costly() {
        let schema = form(&schema, &Value::Null);
        let fake = Fake::new().tool_with("t", &schema);
        let given = json!({"a": value}).to_string();
        let test = |fake: &Fake| Test::new().server("s", fake).file("args.json", &given).memory(MEMORY);
        let run = test(&fake).args(["call", "s", "t", "--args", "@args.json"]).run_any();
        is_small(about, &run);
        assert!(matches!(run.status, Some(0 | 2)), "{about}: {}", run.stderr);
        assert!(run.took < Duration::from_secs(LONG), "{about}: it took {:?}", run.took);
        let silent = Fake::new().tool_with("t", &schema).on("tools/list", [Step::ExpectEnd]);
        is_small(about, &interrupted(about, &test(&silent).args(["call", "s", "t", "--args", "@args.json"])));
        let page = Test::new().server("s", &fake).args(["tools", "s", "t"]).memory(MEMORY).run();
        is_small(about, &page);
        assert!(page.stdout.contains("Arguments:"), "{about}");
    }
}

#[test]
fn what_is_not_checked_is_said() {
    let (_, schema, _) = costly().remove(0);
    let deep = json!({"a": nested(40)}).to_string();
    let fake = Fake::new().tool_with("t", &form(&schema, &Value::Null)).tool_giving("u", &form(&schema, &Value::Null));
    let test = Test::new().server("s", &fake).memory(MEMORY).args(["call", "s", "t", "--args", &deep]);
    test.stdout("done\n")
        .stderr_contains("warning: the arguments are not checked, because this schema would take too long")
        .run();
    let fake = Fake::new()
        .tool_giving("u", &form(&schema, &Value::Null))
        .result(json!({"content": [], "structuredContent": {"a": nested(40)}}));
    let run = Test::new().server("s", &fake).memory(MEMORY).args(["call", "s", "u"]);
    run.stderr_contains("structuredContent is not checked, because the tool's outputSchema would take too long").run();
    // What is cheap enough is still checked.
    let shallow = json!({"a": nested(3)}).to_string();
    let fake = Fake::new().tool_with("t", &form(&schema, &Value::Null));
    Test::new().server("s", &fake).args(["call", "s", "t", "--args", &shallow]).stdout("done\n").stderr("").run();
    let wrong = json!({"a": [[[7]]]}).to_string();
    let run = Test::new().server("s", &fake).args(["call", "s", "t", "--args", &wrong]).status(2);
    run.stderr_contains("does not fit any of the alternatives").run();
}

#[test]
fn structured_results_cost_no_more_than_their_budget() {
    for (about, schema, value) in costly() {
        let output = form(&schema, &Value::Null);
        let result = json!({"content": [{"type": "text", "text": "done"}], "structuredContent": {"a": value}});
        let fake = Fake::new().tool_giving("t", &output).result(result);
        let run =
            Test::new().server("s", &fake).args(["call", "s", "t"]).memory(MEMORY).stdout_contains("done\n").run();
        is_small(about, &run);
        assert!(run.took < Duration::from_secs(LONG), "{about}: it took {:?}", run.took);
    }
}

/// Forms whose parts refer to something as large as the whole.
fn wide(count: usize) -> Vec<(&'static str, Value)> {
    let names = |part: &dyn Fn(usize) -> Value| -> Map<String, Value> {
        (0..count).map(|i| (format!("field{i}"), part(i))).collect()
    };
    let refers = |title: bool| {
        names(&|i| {
            if title { json!({"$ref": "#/$defs/n", "title": format!("T{i}")}) } else { json!({"$ref": "#/$defs/n"}) }
        })
    };
    let object = |properties: Map<String, Value>, n: Value| json!({"type": "object", "properties": properties, "$defs": {"n": n}});
    let inner = || json!({"type": "object", "properties": names(&|_| json!({"type": "string"}))});
    let texts = || (0..count).map(|i| json!(format!("choice {i}"))).collect::<Vec<Value>>();
    let all_of = || names(&|_| json!({"allOf": vec![json!({"$ref": "#/$defs/n"}); 3]}));
    let patterns = || names(&|i| json!({"type": "string", "pattern": format!("^(a{{90}}b{{90}}){{50}}x{i}$")}));
    let back =
        |i| json!({"type": "string", "default": "a".repeat(40), "pattern": format!(r"^(?=(a+)+$)(a|aa)+\1x{i}$")});
    vec![
        ("objects", object(refers(false), inner())),
        ("objects with titles", object(refers(true), inner())),
        ("objects through allOf", object(all_of(), inner())),
        ("choices", object(refers(true), json!({"enum": texts()}))),
        ("lists of choices", object(refers(true), json!({"type": "array", "items": {"enum": texts()}}))),
        ("defaults", object(refers(true), json!({"default": texts(), "type": "array", "items": {"enum": texts()}}))),
        ("descriptions", object(refers(true), json!({"type": "string", "description": "x".repeat(count * 20)}))),
        ("patterns", object(patterns(), json!({}))),
        ("patterns that go back and forth, and defaults", object(names(&back), json!({}))),
        ("odd parts", object(names(&|i| json!({"anyOf": [{"type": "strin"}, {"const": i}], "not": {}})), json!({}))),
    ]
}

/// How much memory a schema of `size` bytes may cause: a linear limit.
#[track_caller]
fn grows(about: &str, run: &crate::harness::Run, size: usize) {
    let most = PEAK - (50 << 10) + 300 * (size as u64 >> 10);
    assert!(run.peak < most, "{about}, {size} bytes: {} MiB were held", run.peak / 1024);
}

#[test]
fn a_form_grows_with_its_schema_and_not_with_the_square() {
    for (about, schema) in wide(4_000) {
        let fake = || Fake::new().tool("t").on_call(asking(&schema));
        let size = schema.to_string().len();
        let done = Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}));
        let answered = Fake::new().tool("t").on_call(asking(&schema).into_iter().chain([done]));
        let test = Test::new().server("s", &answered).memory(MEMORY);
        let run = test.args(["call", "s", "t", "--answer", "field0=x"]).run_any();
        grows(about, &run, size);
        assert!(run.took < Duration::from_secs(LONG), "{about}, {size} bytes: it took {:?}", run.took);
        let test = Test::new().server("s", &fake()).args(["call", "s", "t"]).memory(MEMORY);
        grows(about, &interrupted(about, &test), size);
        let listed = Fake::new().tool_with("t", &schema);
        let run = Test::new().server("s", &listed).args(["tools", "s", "t"]).memory(MEMORY).run();
        grows(about, &run, size);
        assert!(run.took < Duration::from_secs(LONG), "{about}: the page took {:?}", run.took);
    }
}

#[test]
fn a_long_default_is_not_searched_for_long() {
    let part = json!({"type": "string", "default": "01".repeat(2_000_000), "pattern": "[01]*1[01]{2000}$"});
    let schema = json!({"type": "object", "properties": {"a": part}});
    let done = Step::Reply(json!({"content": []}));
    let fake = Fake::new().tool("t").on_call(asking(&schema).into_iter().chain([done]));
    let run = Test::new().server("s", &fake).args(["call", "s", "t"]).status(8).run();
    assert!(run.took < Duration::from_secs(LONG), "it took {:?}", run.took);
    assert!(!run.stderr.contains("default"), "{}", run.stderr);
}

#[test]
fn a_schema_is_read_once_for_many_calls() {
    let schema = wide(2_000).into_iter().find(|(about, _)| *about == "objects through allOf").expect("it is there").1;
    let lines = (0..40).map(|i| json!({format!("field{i}"): {}}).to_string() + "\n").collect::<String>();
    let output = json!({"name": "t", "inputSchema": schema, "outputSchema": schema});
    let result = json!({"content": [], "structuredContent": {"field1": {}}});
    let fake = Fake::new().on("tools/list", [Step::Reply(json!({"tools": [output]}))]).result(result);
    let took = |lines: &str| {
        let run = Test::new().server("s", &fake).file("in", lines).args(["call", "s", "t", "--each", "in"]).run();
        assert_eq!(run.stdout.lines().count(), lines.lines().count());
        run.took
    };
    let (one, many) = (took(&lines[..=lines.find('\n').expect("a line")]), took(&lines));
    assert!(many < 15 * one, "it took {many:?}, and {one:?} for one");
}

#[test]
fn the_memory_limit_is_real() {
    let text = "x".repeat(1 << 20);
    let fake = Fake::new().tool("t").result(json!({"content": [{"type": "text", "text": text}]}));
    let run = Test::new().server("s", &fake).args(["call", "s", "t"]).run();
    assert!(run.peak == 0 || run.peak > 2 << 10, "{} KiB", run.peak);
    let run = Test::new().server("s", &fake).args(["call", "s", "t"]).memory(20).run_any();
    assert_ne!(run.status, Some(0), "twenty MiB are enough");
}
