use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Chain, Recorder,
    answers::{Answers, AnswersFile, Otherwise, Overlay},
};
use crate::{
    elicitation::{Answer, Cause, Origin, Outcome, Question, Resolver, Waited, Why, elicitation_to_request},
    protocol::{Era, Id},
};

pub(super) fn question(params: &Value) -> Arc<Question> {
    let origin = Origin {
        server: "forms".into(),
        call: Some("greet".into()),
        is_tool: true,
        era: Era::Legacy,
        cause: Cause::Asked(Id::from(1)),
    };
    Arc::new(Question::new(elicitation_to_request(params), origin))
}

fn form(properties: &Value) -> Arc<Question> {
    question(&json!({"message": "?", "requestedSchema": {"type": "object", "properties": properties}}))
}

fn link(url: &str) -> Arc<Question> {
    question(&json!({"mode": "url", "message": "?", "url": url}))
}

/// Returns its outcomes in turn, later or immediately, and records that it waited.
struct Played {
    outcomes: Mutex<VecDeque<Outcome>>,
    is_late: bool,
}

fn played(outcomes: impl IntoIterator<Item = Outcome>, is_late: bool) -> Arc<dyn Resolver> {
    Arc::new(Played { outcomes: Mutex::new(outcomes.into_iter().collect()), is_late })
}

impl Resolver for Played {
    fn claim(&self, _question: Arc<Question>, _stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let outcome = self.outcomes.lock().unwrap().pop_front().expect("not asked so often");
        let is_late = self.is_late;
        async move {
            if is_late {
                tokio::task::yield_now().await;
            }
            outcome
        }
        .boxed()
    }

    fn wait(&self, _link: Arc<Question>, _done: CancellationToken, _limit: Duration) -> BoxFuture<'static, Waited> {
        std::future::ready(Waited::Continue).boxed()
    }
}

async fn ask(resolver: &dyn Resolver, question: &Arc<Question>) -> Outcome {
    resolver.claim(Arc::clone(question), CancellationToken::new()).await
}

#[tokio::test]
async fn those_later_in_the_chain_are_asked_when_those_before_pass() {
    let answer = || Outcome::Answered(Answer::decline("x"));
    for is_late in [false, true] {
        let first = played([Outcome::Pass, answer(), Outcome::Deferred], is_late);
        let second = played([Outcome::Unanswerable(Why::new("no"))], is_late);
        let chain = Chain::new(vec![first, second], None, Otherwise::Fail);
        let question = form(&json!({}));
        assert_eq!(ask(&chain, &question).await, Outcome::Unanswerable(Why::new("no")));
        assert_eq!(ask(&chain, &question).await, answer());
        assert_eq!(ask(&chain, &question).await, Outcome::Deferred);
    }
}

#[tokio::test]
async fn what_happens_at_the_end_of_the_chain() {
    let question = form(&json!({"name": {"type": "string"}}));
    let pass = || played([Outcome::Pass], false);
    let person = || Some(played([Outcome::Answered(Answer::accept("p", None))], true));
    for (otherwise, person, expected) in [
        (Otherwise::Decline, person(), Some(Answer::decline(&question.request.id))),
        (Otherwise::Cancel, person(), Some(Answer::cancel(&question.request.id))),
        (Otherwise::Prompt, person(), Some(Answer::accept("p", None))),
        (Otherwise::Prompt, None, None),
        (Otherwise::Fail, person(), None),
    ] {
        let chain = Chain::new(vec![pass()], person, otherwise);
        match (ask(&chain, &question).await, expected) {
            (Outcome::Answered(answer), Some(expected)) => assert_eq!(answer, expected),
            (Outcome::Unanswerable(why), None) => {
                assert!(why.hint.is_some_and(|hint| hint.contains("\"tool\": \"greet\"")));
            }
            other => panic!("{otherwise:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_resolver_that_accepted_a_link_waits_for_it() {
    let (mine, others) = (link("https://a.example/"), link("https://b.example/"));
    let accept = Outcome::Answered(Answer::accept(&mine.request.id, None));
    let chain = Chain::new(vec![played([accept], true)], None, Otherwise::Cancel);
    assert!(matches!(ask(&chain, &mine).await, Outcome::Answered(_)));
    let wait = |link: &Arc<Question>| chain.wait(Arc::clone(link), CancellationToken::new(), Duration::from_millis(1));
    assert_eq!(wait(&mine).await, Waited::Continue);
    assert_eq!(wait(&mine).await, Waited::TimedOut);
    assert_eq!(wait(&others).await, Waited::TimedOut);
}

#[tokio::test]
async fn a_record_answers_the_same_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("record.json");
    let fields = json!({
        "name": {"type": "string"},
        "plan": {"type": "string", "default": "free"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "password": {"type": "string", "format": "password"},
    });
    let open = json!({"name": "Ada * ?", "tags": ["b"]});
    let secret = json!({"name": "Bob", "plan": "pro", "password": "s3cret"});
    let asked = [
        (form(&fields), Answer::accept("1", Some(open.clone()))),
        (form(&fields), Answer::accept("2", Some(secret))),
        (form(&json!({})), Answer::accept("3", Some(json!({})))),
        (form(&fields), Answer::decline("4")),
        (form(&fields), Answer::cancel("5")),
        (link("https://a.example/go?state=1"), Answer::accept("6", None)),
        (link("https://a.example/go?state=2"), Answer::decline("7")),
    ];
    let outcomes = asked.iter().map(|(_, answer)| Outcome::Answered(answer.clone()));
    let recorder = Recorder::new(played(outcomes, true), &path).expect("a place to write");
    assert!(!path.exists());
    for (question, _) in &asked {
        ask(&recorder, question).await;
    }
    assert_eq!(recorder.save().expect("written"), ["forms, greet: password"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    }
    assert!(!std::fs::read_to_string(&path).expect("read").contains("s3cret"));

    let file = AnswersFile::load(&path).expect("an answers file");
    let again = Answers::new(file, Overlay::default(), Arc::new(|_, _| {}));
    for (question, answer) in &asked {
        let Outcome::Answered(given) = ask(&again, question).await else { panic!("{answer:?}") };
        let expected = match &answer.data {
            Some(data) if data.get("password").is_some() => Some(json!({"name": "Bob", "plan": "pro"})),
            data => data.clone(),
        };
        assert_eq!((given.ok, given.data, given.reason.as_ref()), (answer.ok, expected, answer.reason.as_ref()));
    }
    assert_eq!(again.unused(), [""; 0]);
}

#[test]
fn a_record_that_cannot_be_written_is_refused_immediately() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [folder.path().to_owned(), folder.path().join("none/record.json")] {
        assert!(Recorder::new(played([], false), &path).is_err(), "{}", path.display());
    }
}
