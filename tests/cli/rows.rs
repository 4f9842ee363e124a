//! Questions as many kinds of servers ask them, each answered by a person and by a file: the same is sent.

use serde_json::{Value, json};

use super::harness::{AtTerminal, Fake, Step, Test};

const ENTER: &str = "\r";
const DOWN: &str = "\x1b[B";
const CTRL_C: &str = "\x03";

/// What a person sees, and then types.
type Seen = (&'static str, &'static str);

struct Row {
    /// What it demonstrates.
    about: &'static str,
    schema: Value,
    person: &'static [Seen],
    /// The entry of an answers file.
    entry: Value,
    /// What the server receives, either way.
    reply: Value,
}

fn one(key: &str, part: &Value, required: bool) -> Value {
    json!({"type": "object", "properties": {key: part}, "required": if required { vec![key] } else { vec![] }})
}

fn accept(content: &Value) -> Value {
    json!({"action": "accept", "content": content})
}

fn row(about: &'static str, schema: Value, person: &'static [Seen], entry: Value, reply: Value) -> Row {
    Row { about, schema, person, entry, reply }
}

fn choices() -> Vec<Row> {
    let airports = json!({"type": "string", "enum": ["lax", "sfo"], "enumNames": ["Los Angeles", "San Francisco"],
        "default": "sfo"});
    let codecs = json!({"type": "array", "title": "Codecs", "maxItems": 1, "items":
        {"anyOf": [{"const": "gz", "title": "Gzip"}, {"const": "zst", "title": "Zstandard"}]}});
    let status = json!({"type": "object", "properties": {"status": {"$ref": "#/$defs/Status"}}, "required": ["status"],
        "$defs": {"Status": {"type": "string", "enum": ["todo", "doing", "done"]}}});
    let choice = json!({"type": "string", "oneOf": [{"const": "go", "title": "Go on"},
        {"const": "why", "title": "Explain first"}]});
    vec![
        row(
            "names are shown, the default is chosen, and the value is sent",
            one("airport", &airports, true),
            &[("› San Francisco", ENTER)],
            json!({"action": "accept"}),
            accept(&json!({"airport": "sfo"})),
        ),
        row(
            "several may be chosen, up to the bound",
            one("codecs", &codecs, true),
            &[
                ("› [ ] Gzip", " "),
                ("1 chosen", DOWN),
                ("› [ ] Zstandard", " "),
                ("2 chosen", ENTER),
                ("✗ 2 are chosen", ""),
                ("› [x] Zstandard", " "),
                ("1 chosen", ENTER),
            ],
            json!({"content": {"codecs": ["gz"]}}),
            accept(&json!({"codecs": ["gz"]})),
        ),
        row(
            "choices behind a reference are choices",
            status,
            &[("› todo", DOWN), ("› doing", ENTER)],
            json!({"content": {"status": "doing"}}),
            accept(&json!({"status": "doing"})),
        ),
        row(
            "Enter takes what is marked",
            one("choice", &choice, true),
            &[("Enter sends", ENTER)],
            json!({"content": {"choice": "go"}}),
            accept(&json!({"choice": "go"})),
        ),
    ]
}

fn fields() -> Vec<Row> {
    let keep = one("keep", &json!({"type": "boolean", "default": true}), true);
    let untitled = json!({"type": "object", "required": ["age", "name", "mail", "agree"], "properties": {
        "age": {"type": "integer", "minimum": 0, "maximum": 120}, "name": {"type": "string", "minLength": 2},
        "mail": {"type": "string", "format": "email"}, "agree": {"type": "boolean"}}});
    vec![
        row(
            "nothing is asked for",
            json!({"type": "object", "properties": {}}),
            &[("  Accept", "y\r")],
            json!({"when": {"mode": "form"}, "action": "accept"}),
            accept(&json!({})),
        ),
        row(
            "a default of true",
            keep.clone(),
            &[("› yes", ENTER)],
            json!({"action": "accept"}),
            accept(&json!({"keep": true})),
        ),
        row(
            "yes in words",
            keep,
            &[("› yes", "perhaps\r"), ("✗ perhaps is neither yes nor no", ENTER)],
            json!({"content": {"keep": true}}),
            accept(&json!({"keep": true})),
        ),
        row(
            "what is wrong is refused here, and numbers are numbers",
            untitled,
            &[
                ("1 of 4", "130\r"),
                ("✗ 130 is above the maximum, 120", "\x1536\r"),
                ("2 of 4", "x\r"),
                ("✗ x is too short", "y\r"),
                ("3 of 4", "nobody\r"),
                ("✗ nobody is not an e-mail address", "@a.example\r"),
                ("yes    no", "y\r"),
                ("  Send", "1\r"),
            ],
            json!({"content": {"age": 36, "name": "xy", "mail": "nobody@a.example", "agree": true}}),
            accept(&json!({"age": 36, "name": "xy", "mail": "nobody@a.example", "agree": true})),
        ),
    ]
}

fn actions() -> Vec<Row> {
    let three = json!({"type": "object", "required": ["a", "b", "c"], "properties":
        {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}}});
    vec![
        row(
            "cancelled half-way",
            three.clone(),
            &[("1 of 3", "x\r"), ("2 of 3", "half"), ("› half", CTRL_C)],
            json!({"when": {"mode": "form"}, "action": "cancel"}),
            json!({"action": "cancel"}),
        ),
        row(
            "declined half-way",
            three,
            &[("1 of 3", "x\r"), ("2 of 3", "\x1b"), ("1 of 3", "\x1b"), ("Decline", DOWN), ("› Decline", ENTER)],
            json!({"when": {"mode": "form"}, "action": "decline"}),
            json!({"action": "decline"}),
        ),
        row(
            "text that does harm",
            one("n", &json!({"type": "string", "title": "N\u{1b}[2J\u{202e}"}), true),
            &[("N\\u{1b}[2J\\u{202e}", "x\r")],
            json!({"content": {"n": "x"}}),
            accept(&json!({"n": "x"})),
        ),
    ]
}

/// A call with this question, and a ping that arrives while the question is open.
fn test(row: &Row, modern: bool) -> Test {
    let params = json!({"message": "Well?", "requestedSchema": row.schema});
    let done = json!({"resultType": "complete", "content": [{"type": "text", "text": "done\u{1b}[2J"}]});
    let fake = if modern {
        let asking = json!({"resultType": "input_required", "requestState": "s",
            "inputRequests": {"q": {"method": "elicitation/create", "params": params}}});
        // A round with only a state is repeated immediately.
        let first = json!({"resultType": "input_required", "requestState": "abc"});
        Fake::new().modern().tool("t").result(first).result(asking).result(done)
    } else {
        Fake::new().tool("t").on_call([
            Step::Pause(50),
            Step::Send(json!({"id": "q", "method": "elicitation/create", "params": params})),
            Step::Send(json!({"id": "p-9", "method": "ping"})),
            Step::Expect(json!({"id": "p-9", "result": {}})),
            Step::Expect(json!({"id": "q"})),
            Step::Reply(done),
        ])
    };
    Test::new().server("s", &fake).args(["call", "s", "t"])
}

/// What the server received.
fn told(received: &[Value], modern: bool) -> Value {
    if modern {
        let calls: Vec<&Value> = received.iter().filter(|message| message["method"] == "tools/call").collect();
        assert_eq!(calls.len(), 3);
        assert_eq!(
            (&calls[1]["params"]["requestState"], &calls[2]["params"]["requestState"]),
            (&json!("abc"), &json!("s"))
        );
        return calls[2]["params"]["inputResponses"]["q"].clone();
    }
    let replies: Vec<&Value> = received.iter().filter(|message| message["id"] == "q").collect();
    assert_eq!(replies.len(), 1, "one reply");
    replies[0]["result"].clone()
}

fn by_person(row: &Row, modern: bool) -> Value {
    let person: AtTerminal = test(row, modern).at_terminal(24, 100);
    for (seen, keys) in row.person {
        person.see(seen).send(keys);
    }
    person.see("done\\u{1b}[2J");
    told(&person.end(0).received("s"), modern)
}

fn by_file(row: &Row, modern: bool) -> Value {
    let entry = json!([row.entry]).to_string();
    let run = test(row, modern).file("a.json", entry).args(["--answers", "a.json"]).stdout("done\\u{1b}[2J\n").run();
    told(&run.received("s"), modern)
}

#[track_caller]
fn check(rows: Vec<Row>) {
    for row in rows {
        for modern in [false, true] {
            assert_eq!(by_file(&row, modern), row.reply, "{}, by a file, modern: {modern}", row.about);
            assert_eq!(by_person(&row, modern), row.reply, "{}, by a person, modern: {modern}", row.about);
        }
    }
}

#[test]
fn choices_are_the_same_either_way() {
    check(choices());
}

#[test]
fn fields_are_the_same_either_way() {
    check(fields());
}

#[test]
fn actions_are_the_same_either_way() {
    check(actions());
}

fn done() -> Step {
    Step::Reply(json!({"content": [{"type": "text", "text": "done"}]}))
}

#[test]
fn a_question_that_is_withdrawn_has_no_reply() {
    let params = json!({"message": "Well?", "requestedSchema": one("n", &json!({"type": "string"}), true)});
    let test = || {
        let fake = Fake::new().tool("t").on_call([
            Step::Send(json!({"id": "ask-1", "method": "elicitation/create", "params": params})),
            Step::Pause(300),
            Step::Send(json!({"method": "notifications/cancelled", "params": {"requestId": "ask-1"}})),
            done(),
        ]);
        Test::new().server("s", &fake).args(["call", "s", "t"])
    };
    let person = test().at_terminal(24, 100);
    person.see("Well?").send("half").see("done").gone("Well?");
    let silent = |received: &[Value]| received.iter().all(|message| message["id"] != "ask-1");
    assert!(silent(&person.end(0).received("s")));
    let run = test().args(["--on-elicit", "sleep 60"]).stdout("done\n").run();
    assert!(silent(&run.received("s")));
}

#[test]
fn time_is_paused_while_a_person_thinks() {
    let schema = one("n", &json!({"type": "string"}), true);
    let row = row("", schema, &[], json!({}), json!({}));
    let person = test(&row, false).args(["--timeout", "1"]).at_terminal(24, 100);
    person.see("Well?");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    person.send("x\r").see("done");
    person.end(0);
}
