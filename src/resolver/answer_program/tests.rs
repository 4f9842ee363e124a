use std::sync::Mutex;

use super::*;
use crate::{
    elicitation::{Origin, elicitation_to_request},
    protocol::Era,
};

fn question() -> Arc<Question> {
    let schema =
        json!({"type": "object", "properties": {"age": {"type": "integer", "minimum": 18}}, "required": ["age"]});
    let request = elicitation_to_request(&json!({"message": "How old?", "requestedSchema": schema}));
    let origin = Origin {
        server: "forms".into(),
        call: Some("greet".into()),
        is_tool: true,
        era: Era::Modern,
        cause: Cause::Input("k".into()),
    };
    Arc::new(Question::new(request, origin))
}

async fn ask(script: &str, limit: Duration) -> (Outcome, Vec<String>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let stderr: LineSink = Arc::new(move |line| sink.lock().expect("unpoisoned").push(line.to_owned()));
    let words = shell_words::join(["sh", "-c", script]);
    let program = AnswerProgram::new(&words, limit, stderr, Arc::new(|_, _| {})).expect("a program");
    let outcome = program.claim(question(), CancellationToken::new()).await;
    let lines = lines.lock().expect("unpoisoned").clone();
    (outcome, lines)
}

async fn told(script: &str) -> String {
    match ask(script, Duration::from_secs(10)).await.0 {
        Outcome::Answered(answer) => format!("{} {:?} {:?}", answer.ok, answer.data, answer.reason),
        Outcome::Pass => "pass".to_owned(),
        Outcome::Unanswerable(why) => why.reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn answers_are_read_and_checked() {
    for (script, expected) in [
        (r#"read -r q; echo '{"ok": true, "data": {"age": 36}}'"#, r#"true Some(Object {"age": Number(36)}) None"#),
        (r#"echo '{"ok": false, "reason": "declined"}'"#, r#"false None Some("declined")"#),
        (r#"echo '{"ok": false}'; exec 1>&-; cat >/dev/null"#, "false None None"),
        ("echo null", "pass"),
        (r#"read -r q; id=${q#*'"id":"'}; id=${id%%'"'*}; echo "{\"id\": \"$id\", \"ok\": false}""#, "false None None"),
        (r#"echo '{"id": "other", "ok": true}'"#, "answered the question \"other\", not \"elc-"),
        (
            r#"echo '{"ok": true, "data": {"age": 17}}'"#,
            "gave data that does not fit the form: age: 17 is below the minimum, 18",
        ),
        (r#"echo '{"ok": true}'"#, "gave data that does not fit the form: age: "),
        (r#"echo '{"ok": true, "data": [1]}'"#, "gave data that is not an object"),
        (r#"echo '{"action": "accept", "content": {"age": 36}}'"#, r#"true Some(Object {"age": Number(36)}) None"#),
        (r#"echo '{"content": {"age": 36}}'"#, r#"true Some(Object {"age": Number(36)}) None"#),
        (r#"echo '{"action": "decline"}'"#, r#"false None Some("declined")"#),
        (r#"echo '{"action": "cancel", "content": null}'"#, r#"false None Some("cancelled")"#),
        (r#"echo '{"action": "accept"}'"#, "gave data that does not fit the form: age: "),
        (r#"echo '{"action": "yes"}'"#, "printed the action \"yes\": expected accept, decline or cancel"),
        (r#"echo '{"action": "accept", "ok": true}'"#, "printed both `ok` and `action`"),
        (r#"echo '{"data": {}}'"#, r#"printed no answer: expected {"action": "accept""#),
        ("echo yes", "printed no answer: "),
        ("true", "printed nothing"),
        ("exit 3", "exited with status 3"),
        (r#"echo '{"ok": true, "data": {"age": 36}}'; exit 1"#, "exited with status 1"),
    ] {
        let told = told(script).await;
        assert!(told.contains(expected), "{script}: {told}");
    }
}

#[tokio::test]
async fn the_question_is_one_line_with_its_origin() {
    let (outcome, lines) = ask("cat >&2; echo null", Duration::from_secs(10)).await;
    assert_eq!((outcome, lines.len()), (Outcome::Pass, 1));
    let line: Value = serde_json::from_str(&lines[0]).expect("JSON");
    assert_eq!(line["server"], "forms");
    assert_eq!((&line["call"], &line["era"], &line["kind"]), (&json!("greet"), &json!("modern"), &json!("input")));
    assert_eq!(line["data"]["schema"]["required"], json!(["age"]));
}

#[tokio::test]
async fn a_slow_program_is_ended_with_all_it_started() {
    let (script, mut life) = with_a_child();
    let (outcome, _) = ask(&script, Duration::from_secs(2)).await;
    let Outcome::Unanswerable(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.reason.contains("gave no answer within"), "{}", why.reason);
    life.began().await;
    life.ended().await;

    let (script, mut life) = with_a_child();
    let stop = CancellationToken::new();
    let words = shell_words::join(["sh", "-c", &script]);
    let program =
        AnswerProgram::new(&words, Duration::from_secs(60), Arc::new(|_| {}), Arc::new(|_, _| {})).expect("a program");
    let asked = program.claim(question(), stop.clone());
    let withdraw = async {
        life.began().await;
        stop.cancel();
    };
    let (outcome, ()) = tokio::join!(asked, withdraw);
    assert_eq!(outcome, Outcome::Withdrawn);
    life.ended().await;
}

/// A script that starts a child and does not end, and the lifetime of both: they keep a pipe open while they run.
fn with_a_child() -> (String, Life) {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("life");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let script = format!("exec 9>'{}'; sleep 60 & echo >&9; sleep 60", pipe.display());
    let (said, hears) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut pipe = std::fs::File::open(&pipe).expect("the pipe opens");
        let mut byte = [0];
        while std::io::Read::read(&mut pipe, &mut byte).expect("the pipe is read") == 1 {
            let _ = said.send(());
        }
        drop(folder);
    });
    (script, Life(hears))
}

struct Life(tokio::sync::mpsc::UnboundedReceiver<()>);

impl Life {
    async fn began(&mut self) {
        let began = timeout(Duration::from_secs(20), self.0.recv()).await;
        assert_eq!(began, Ok(Some(())), "the child is started");
    }

    async fn ended(&mut self) {
        let ended = timeout(Duration::from_secs(20), self.0.recv()).await;
        assert_eq!(ended, Ok(None), "the child is ended");
    }
}

#[tokio::test]
async fn something_left_behind_does_not_hold_the_answer_up() {
    let started = Instant::now();
    let told = told(r#"sleep 30 & echo '{"ok": false}'"#).await;
    assert_eq!(told, "false None None");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn programs_that_are_none() {
    let new = |words| AnswerProgram::new(words, Duration::ZERO, Arc::new(|_| {}), Arc::new(|_, _| {})).err();
    assert_eq!(new("a 'b"), Some(ProgramError::Words("a 'b".into())));
    assert_eq!(new("  "), Some(ProgramError::Empty("  ".into())));
    assert_eq!(new("no-such-program-here x"), Some(ProgramError::Missing("no-such-program-here".into())));
    assert_eq!(new("/no/such/program"), Some(ProgramError::Missing("/no/such/program".into())));
    assert_eq!(new("sh -c true"), None);
}
