use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    elicitation::{Answer, Cause, Outcome, Question, Resolver, Why},
    resolver::tests::question,
};

fn form(properties: &Value, required: &Value) -> Arc<Question> {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    question(&json!({"message": "Who are you?", "requestedSchema": schema}))
}

/// `name` is required, `age` and `plan` are not, and `plan` has a default.
fn greet() -> Arc<Question> {
    let properties = json!({
        "name": {"type": "string", "minLength": 2},
        "age": {"type": "integer", "minimum": 18},
        "plan": {"type": "string", "enum": ["free", "pro"], "default": "free"},
    });
    form(&properties, &json!(["name"]))
}

fn link(url: &str) -> Arc<Question> {
    question(&json!({"mode": "url", "message": "Sign in", "url": url}))
}

type Opened = Arc<Mutex<Vec<bool>>>;

fn answers(text: &str, typed: &[&str]) -> (Answers, Opened) {
    let file = if text.is_empty() { AnswersFile::default() } else { AnswersFile::parse(text, "a.json").expect(text) };
    let typed: Vec<String> = typed.iter().map(|&typed| typed.to_owned()).collect();
    let opened = Opened::default();
    let sink = Arc::clone(&opened);
    let links: LinkSink = Arc::new(move |_, open| sink.lock().unwrap().push(open));
    (Answers::new(file, Overlay::parse(&typed).expect("typed"), links), opened)
}

fn outcome(answers: &Answers, question: &Arc<Question>) -> Outcome {
    answers.claim(Arc::clone(question), CancellationToken::new()).now_or_never().expect("immediately")
}

/// The outcome without its id, as `accept {…}`, `decline`, `cancel`, `pass` or `fail: reason`.
fn told(answers: &Answers, question: &Arc<Question>) -> String {
    match outcome(answers, question) {
        Outcome::Answered(Answer { ok: true, data: Some(data), .. }) => format!("accept {data}"),
        Outcome::Answered(Answer { ok: true, data: None, .. }) => "accept".to_owned(),
        Outcome::Answered(Answer { reason, .. }) if reason.as_deref() == Some("declined") => "decline".to_owned(),
        Outcome::Answered(_) => "cancel".to_owned(),
        Outcome::Pass => "pass".to_owned(),
        Outcome::Unanswerable(Why { reason, .. }) => format!("fail: {reason}"),
        other => panic!("{other:?}"),
    }
}

fn once(text: &str, typed: &[&str], question: &Arc<Question>) -> String {
    told(&answers(text, typed).0, question)
}

#[test]
fn plain_objects() {
    let greet = greet();
    let empty = form(&json!({}), &json!([]));
    let link = link("https://a.example/");
    for (text, question, expected) in [
        (r#"{"name": "Ada"}"#, &greet, r#"accept {"name":"Ada","plan":"free"}"#),
        (
            r#"{"plan": "pro", "name": "Ada", "age": 36, "extra": []}"#,
            &greet,
            r#"accept {"name":"Ada","age":36,"plan":"pro"}"#,
        ),
        (r#"{"nmae": "Ada"}"#, &greet, "pass"),
        (r#"{"name": 7}"#, &greet, "fail: a.json: name: "),
        (r#"{"name": "A"}"#, &greet, "fail: a.json: name: "),
        (r#"{"name": "Ada", "age": 17}"#, &greet, "fail: a.json: age: 17 is below the minimum, 18 (whole number, "),
        (r#"{"name": "Ada", "age": "36"}"#, &greet, "fail: a.json: age: "),
        (r#"{"name": "Ada", "age": null}"#, &greet, "fail: a.json: age: "),
        (r#"{"name": "Ada"}"#, &empty, "pass"),
        (r#"{"name": "Ada"}"#, &link, "pass"),
        (r#"{"version": "1.2", "name": "Ada"}"#, &greet, r#"accept {"name":"Ada","plan":"free"}"#),
    ] {
        let told = once(text, &[], question);
        let fits = if expected.starts_with("fail") { told.starts_with(expected) } else { told == expected };
        assert!(fits, "{text}: {told}");
    }
    let (answers, _) = answers(r#"{"name": "Ada", "nick": "A", "nack": "B"}"#, &[]);
    assert_eq!(told(&answers, &greet), told(&answers, &greet));
    assert_eq!(answers.unused(), ["the keys \"nick\", \"nack\" of a.json"]);
}

#[test]
fn entries() {
    let greet = greet();
    for (entry, expected) in [
        (r#"{"content": {"name": "Ada"}}"#, r#"accept {"name":"Ada","plan":"free"}"#),
        (r#"{"content": {"name": "Ada"}, "omit": ["plan"]}"#, r#"accept {"name":"Ada"}"#),
        (r#"{"action": "decline"}"#, "decline"),
        (r#"{"action": "cancel"}"#, "cancel"),
        (r#"{"action": "accept"}"#, "fail: entry 1 (a.json:1:2): name: "),
        (r#"{"content": {}}"#, "fail: entry 1 (a.json:1:2): name: "),
        (r#"{"content": {"name": "Ada", "nick": "A"}}"#, "fail: entry 1 (a.json:1:2): nick: "),
        (r#"{"content": {"name": "Ada", "plan": "gold"}}"#, "fail: entry 1 (a.json:1:2): plan: "),
        (r#"{"content": {"name": "Ada", "age": 17}}"#, "fail: entry 1 (a.json:1:2): age: 17 is below the minimum, 18"),
        (r#"{"content": {"name": "Ada"}, "omit": ["paln"]}"#, "fail: entry 1 (a.json:1:2): paln: "),
    ] {
        let told = once(&format!("[{entry}]"), &[], &greet);
        let fits = if expected.starts_with("fail") { told.starts_with(expected) } else { told == expected };
        assert!(fits, "{entry}: {told}");
    }
    let defaults = form(&json!({"keep": {"type": "boolean", "default": true}}), &json!(["keep"]));
    assert_eq!(once(r#"[{"action": "accept"}]"#, &[], &defaults), r#"accept {"keep":true}"#);
    let required =
        form(&json!({"value": {"type": "string", "oneOf": [{"const": "eu", "title": "Europe"}]}}), &json!(["value"]));
    assert!(once(r#"[{"action": "accept"}]"#, &[], &required).starts_with("fail: "));
    let empty = form(&json!({}), &json!([]));
    assert_eq!(once(r#"[{"action": "accept"}]"#, &[], &empty), "accept {}");
}

#[test]
fn matching() {
    let greet = greet();
    for (when, fits) in [
        ("{}", true),
        (r#"{"server": "forms"}"#, true),
        (r#"{"server": "f*s"}"#, true),
        (r#"{"server": "other"}"#, false),
        (r#"{"tool": "greet"}"#, true),
        (r#"{"call": "gr*"}"#, true),
        (r#"{"tool": "greeting"}"#, false),
        (r#"{"mode": "form"}"#, true),
        (r#"{"mode": "url"}"#, false),
        (r#"{"message": "Who*"}"#, true),
        (r#"{"message": "who*"}"#, false),
        (r#"{"url": "https://a.example/*"}"#, false),
        (r#"{"fields": ["age", "name"]}"#, true),
        (r#"{"fields": ["mail"]}"#, false),
        (r#"{"server": "forms", "tool": "other"}"#, false),
    ] {
        let told = once(&format!(r#"[{{"when": {when}, "action": "decline"}}]"#), &[], &greet);
        assert_eq!(told, if fits { "decline" } else { "pass" }, "{when}");
    }
    let mut read = Question::clone(&greet);
    read.origin.is_tool = false;
    let read = Arc::new(read);
    assert_eq!(once(r#"[{"when": {"tool": "greet"}, "action": "decline"}]"#, &[], &read), "pass");
    assert_eq!(once(r#"[{"when": {"call": "greet"}, "action": "decline"}]"#, &[], &read), "decline");
    let mut outside = Question::clone(&greet);
    outside.origin.call = None;
    assert_eq!(once(r#"[{"when": {"call": "*"}, "action": "decline"}]"#, &[], &Arc::new(outside)), "pass");
}

#[test]
fn links_are_accepted_only_by_name() {
    let link = link("https://a.example/go?x=1");
    for (entry, expected, opened) in [
        (r#"{"action": "accept"}"#, "pass", None),
        (r#"{"when": {"server": "forms"}, "action": "accept"}"#, "pass", None),
        (r#"{"content": {}}"#, "pass", None),
        (r#"{"when": {"mode": "url"}, "action": "accept"}"#, "accept", Some(false)),
        (r#"{"when": {"url": "https://a.example/*"}, "action": "accept"}"#, "accept", Some(false)),
        (r#"{"when": {"url": "https://a.example/*"}, "action": "accept", "open": true}"#, "accept", Some(true)),
        (r#"{"when": {"url": "https://b.example/*"}, "action": "accept"}"#, "pass", None),
        (r#"{"when": {"url": "https://a.example/go"}, "action": "accept"}"#, "pass", None),
        (r#"{"action": "decline"}"#, "decline", None),
        (r#"{"action": "cancel"}"#, "cancel", None),
        (r#"{"when": {"mode": "form"}, "action": "decline"}"#, "pass", None),
    ] {
        let (answers, seen) = answers(&format!("[{entry}]"), &[]);
        assert_eq!(told(&answers, &link), expected, "{entry}");
        assert_eq!(seen.lock().unwrap().first().copied(), opened, "{entry}");
    }
    let mut sign_in = Question::clone(&link);
    sign_in.origin.cause = Cause::SignIn;
    assert_eq!(once(r#"[{"when": {"mode": "url"}, "action": "accept"}]"#, &[], &Arc::new(sign_in)), "pass");
}

#[test]
fn the_first_unused_entry_that_fits_answers() {
    let (greet, empty) = (greet(), form(&json!({}), &json!([])));
    let (answers, _) = answers(
        r#"{"version": 1, "otherwise": "decline", "answers": [
            {"when": {"fields": ["name"]}, "content": {"name": "Ada"}},
            {"when": {"fields": ["name"]}, "content": {"name": "Bob"}},
            {"when": {"message": "never"}, "action": "accept"},
            {"action": "cancel", "repeat": true}
        ]}"#,
        &[],
    );
    assert_eq!(answers.file().otherwise, Some(Otherwise::Decline));
    assert_eq!(told(&answers, &empty), "cancel");
    assert!(told(&answers, &greet).contains("Ada"));
    assert_eq!(answers.unused(), ["entry 2 (a.json:3:13)", "entry 3 (a.json:4:13)"]);
    assert!(told(&answers, &greet).contains("Bob"));
    assert_eq!(told(&answers, &greet), "cancel");
    assert_eq!(told(&answers, &greet), "cancel");
}

#[test]
fn repeated_typed_answers_make_a_list() {
    let properties = json!({
        "topics": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 2},
        "to": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    });
    let question = form(&properties, &json!([]));
    for (typed, expected) in [
        (&["topics=a", "topics=c"][..], r#"accept {"topics":["a","c"]}"#),
        (&["topics=a,b", "topics:=[\"c\"]"], r#"accept {"topics":["a","b","c"]}"#),
        (&["to=x", "to=y"], r#"accept {"to":["x","y"]}"#),
        (&["to=x, y", "sizes=1", "sizes=[2,3]"], r#"accept {"to":["x, y"],"sizes":[1,2,3]}"#),
        (&["sizes=1,2"], "fail: --answer sizes: 1,2 is not a number; for several, repeat sizes=… or write a JSON list"),
        (&["to=[\"x, y\"]"], r#"accept {"to":["x, y"]}"#),
        (&["sizes=1", "sizes=two"], "fail: --answer sizes: two is not a number"),
        (&["topics=a"], "fail: --answer topics: "),
    ] {
        let told = once("", typed, &question);
        let fits = if expected.starts_with("fail") { told.starts_with(expected) } else { told == expected };
        assert!(fits, "{typed:?}: {told}");
    }
}

#[test]
fn typed_answers_lie_over_the_file() {
    let greet = greet();
    for (text, typed, expected) in [
        ("", &["name=Ada"][..], r#"accept {"name":"Ada","plan":"free"}"#),
        ("", &["name=Ada", "age=36", "plan=pro"], r#"accept {"name":"Ada","age":36,"plan":"pro"}"#),
        ("", &["name=007"], r#"accept {"name":"007","plan":"free"}"#),
        ("", &["name=007", "name=008"], "fail: --answer name: given twice, but it takes only one value"),
        ("", &["name:=\"a=b\"", "age:=40"], r#"accept {"name":"a=b","age":40,"plan":"free"}"#),
        ("", &["age=36"], "pass"),
        ("", &["name=Ada", "age=old"], "fail: --answer age: "),
        ("", &["name=Ada", "age:=\"36\""], "fail: --answer age: "),
        (r#"{"name": "Ada"}"#, &["age=36"], r#"accept {"name":"Ada","age":36,"plan":"free"}"#),
        (r#"{"name": "Ada"}"#, &["name=Bob"], r#"accept {"name":"Bob","plan":"free"}"#),
        (r#"[{"action": "accept"}]"#, &["name=Bob"], r#"accept {"name":"Bob","plan":"free"}"#),
        (r#"[{"action": "decline"}]"#, &["name=Bob"], "decline"),
        (
            r#"[{"when": {"tool": "other"}, "action": "decline"}]"#,
            &["name=Bob"],
            r#"accept {"name":"Bob","plan":"free"}"#,
        ),
    ] {
        let told = once(text, typed, &greet);
        let fits = if expected.starts_with("fail") { told.starts_with(expected) } else { told == expected };
        assert!(fits, "{text} {typed:?}: {told}");
    }
    let (answers, _) = answers(r#"[{"action": "accept"}]"#, &["name=Ada", "nick=A"]);
    told(&answers, &greet);
    assert_eq!(answers.unused(), ["--answer nick"]);
    for typed in ["name", "=x", ":=1", "name:=x"] {
        assert!(Overlay::parse(&[typed.to_owned()]).is_err(), "{typed}");
    }
}

#[test]
fn secrets_need_an_entry_that_says_so() {
    let secret =
        form(&json!({"password": {"type": "string", "format": "password"}, "note": {"type": "string"}}), &json!([]));
    for (text, expected) in [
        (r#"{"password": "x"}"#, "fail: a.json: password: it looks like a secret"),
        (r#"[{"content": {"password": "x"}}]"#, "fail: entry 1 (a.json:1:2): password: it looks like a secret"),
        (r#"[{"content": {"password": "x"}, "secret": true}]"#, r#"accept {"password":"x"}"#),
        (r#"{"note": "x"}"#, r#"accept {"note":"x"}"#),
    ] {
        assert!(once(text, &[], &secret).starts_with(expected), "{text}");
    }
    assert!(once("", &["password=x"], &secret).contains("it looks like a secret"));
}

#[test]
fn a_suggestion_answers_once_it_is_filled_in() {
    let properties = json!({
        "name": {"type": "string"}, "n": {"type": "integer", "minimum": 3}, "ok": {"type": "boolean"},
        "plan": {"enum": ["free", "pro"]}, "note": {"type": "string"}, "d": {"type": "string", "default": "x"},
    });
    let question = form(&properties, &json!(["name", "n", "ok", "plan", "d"]));
    let entry = suggest(&question);
    assert_eq!(
        entry,
        r#"{"when": {"server": "forms", "tool": "greet"}, "content": {"name": null, "n": null, "ok": null, "plan": null}}"#
    );
    let refused = once(&format!("[{entry}]"), &["name=Ada", "n=3", "plan=free"], &question);
    assert!(refused.contains("ok: null is a placeholder for a value that you fill in"), "{refused}");
    let accepted = once(&format!("[{entry}]"), &["name=Ada", "n=3", "ok=no", "plan=free"], &question);
    assert_eq!(accepted, r#"accept {"name":"Ada","n":3,"ok":false,"plan":"free","d":"x"}"#);

    for url in ["https://a.example/go?state=1", "https://a.example/", "https://a.example:8/x#y"] {
        let question = link(url);
        let entry = suggest(&question);
        assert_eq!(once(&format!("[{entry}]"), &[], &question), "accept", "{entry}");
    }
    let empty = form(&json!({}), &json!([]));
    assert_eq!(once(&format!("[{}]", suggest(&empty)), &[], &empty), "accept {}");

    let mut hostile = Question::clone(&greet());
    hostile.origin.call = Some("a\u{1b}[2J\u{202e}b\n\"".into());
    let entry = suggest(&hostile);
    assert!(entry.is_ascii(), "{entry}");
    assert!(once(&format!("[{entry}]"), &["name=Ada"], &Arc::new(hostile)).starts_with("accept"), "{entry}");
}

#[test]
fn ten_thousand_questions_take_little_time() {
    let entries: Vec<String> =
        (0..10_000).map(|n| format!(r#"{{"when": {{"tool": "greet"}}, "content": {{"name": "Ada {n}"}}}}"#)).collect();
    let greet = greet();
    let started = std::time::Instant::now();
    for text in [r#"[{"content": {"name": "Ada"}, "repeat": true}]"#.to_owned(), format!("[{}]", entries.join(","))] {
        let (answers, _) = answers(&text, &[]);
        for _ in 0..10_000 {
            assert!(matches!(outcome(&answers, &greet), Outcome::Answered(_)));
        }
    }
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn a_withdrawn_question_uses_nothing_up() {
    let (answers, _) = answers(r#"[{"content": {"name": "Ada"}}]"#, &[]);
    let stop = CancellationToken::new();
    stop.cancel();
    assert_eq!(answers.claim(greet(), stop).now_or_never(), Some(Outcome::Withdrawn));
    assert_eq!(answers.unused().len(), 1);
}

proptest! {
    #[test]
    fn no_odd_entry_panics(
        keys in prop::collection::vec(
            (prop::sample::select(vec!["when", "action", "content", "omit", "open", "repeat", "version", "answers", "url", "mode"]),
             prop::sample::select(vec!["true", "1", "\"url\"", "\"https://a.example/*\"", "{}", "[]", "[\"a\"]", "{\"mode\": \"url\"}", "\"accept\"", "[{}]"])),
            0..6,
        ),
    ) {
        let members: Vec<String> = keys.iter().map(|(key, value)| format!("{key:?}: {value}")).collect();
        for text in [format!("{{{}}}", members.join(", ")), format!("[{{{}}}]", members.join(", "))] {
            if let Ok(file) = AnswersFile::parse(&text, "a.json") {
                let answers = Answers::new(file, Overlay::default(), Arc::new(|_, _| {}));
                let _ = outcome(&answers, &greet());
                let _ = outcome(&answers, &link("https://a.example/"));
            }
        }
    }

    #[test]
    fn what_is_accepted_fits_the_form(name in any::<Option<String>>(), age in any::<Option<i64>>(), plan in any::<Option<bool>>()) {
        let mut content = Map::new();
        content.extend(name.map(|name| ("name".to_owned(), json!(name))));
        content.extend(age.map(|age| ("age".to_owned(), json!(age))));
        content.extend(plan.map(|plan| ("plan".to_owned(), json!(if plan { "pro" } else { "gold" }))));
        let greet = greet();
        let drawn = crate::form::Form::from_schema(greet.request.schema().unwrap());
        for text in [Value::Object(content.clone()).to_string(), json!([{"content": content}]).to_string()] {
            if let Outcome::Answered(Answer { ok: true, data: Some(Value::Object(sent)), .. }) = outcome(&answers(&text, &[]).0, &greet) {
                prop_assert!(drawn.check(&sent).is_empty());
            }
        }
    }
}
