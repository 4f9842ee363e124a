use std::{
    future::ready,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Answer, ElicitResult, Origin, Outcome, Question, QuestionBody, Resolver, Why, answer_to_elicit_result,
    elicitation_to_request, held::held,
};
use crate::protocol::{RpcError, code};

/// The elicitation modes that were declared to a server (2025-11-25, *client/elicitation*, Capabilities).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modes {
    /// `form`, which an empty capability also means.
    pub form: bool,
    /// `url`.
    pub url: bool,
}

impl Modes {
    /// `{form: {}, url: {}}`.
    pub const ALL: Self = Self { form: true, url: true };
    /// `{}`.
    pub const PLAIN: Self = Self { form: true, url: false };
}

/// A question that a resolver was asked.
pub struct Asked {
    /// The question.
    pub question: Arc<Question>,
    /// How it ends. The resolver has already claimed its answer or its place in the queue.
    pub end: BoxFuture<'static, Elicited>,
}

crate::text::opaque! { Asked }

/// How an elicitation ended, from the client's point of view.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Elicited {
    /// The server gets `result`.
    Replied {
        /// The server's reply.
        result: ElicitResult,
        /// Why nobody could answer, if `result` is a cancel for that reason.
        why: Option<Why>,
    },
    /// The question is put aside for a later run.
    Deferred,
    /// The question is gone; the server gets no reply.
    Withdrawn,
}

/// Puts one elicitation to `resolver`: questions of both eras reach the resolver only through this function.
///
/// `params` are those of `elicitation/create`. An answer is checked against the form before it is sent, unless the
/// resolver opts out ([`Resolver::is_held`]): an answer that does not fit, or that belongs to another question, becomes
/// a cancel. So does a resolver that fails or panics, and a link that cannot be opened, which no resolver sees.
///
/// # Errors
/// -32602 if the mode is not one of `modes`, or a link has no `url`; the resolver is then not asked.
pub fn elicit(
    resolver: &dyn Resolver,
    params: &Value,
    origin: Origin,
    modes: Modes,
    stop: CancellationToken,
) -> Result<Asked, RpcError> {
    let request = elicitation_to_request(params);
    let is_link = request.is_link();
    check_elicitation(params, modes)?;
    let question = Arc::new(Question::new(request, origin));
    if let QuestionBody::Refused(refused) = question.body() {
        let why = Some(Why::new(format!("the link cannot be opened: {}", refused.reason)));
        let end = ready(Elicited::Replied { result: ElicitResult::Cancel, why });
        return Ok(Asked { question, end: end.boxed() });
    }
    let claimed = catch_unwind(AssertUnwindSafe(|| resolver.claim(Arc::clone(&question), stop)));
    let is_held = resolver.is_held();
    let asked = Arc::clone(&question);
    let id = question.request.id.clone();
    let end = async move {
        let outcome = match claimed {
            Ok(future) => AssertUnwindSafe(future).catch_unwind().await,
            Err(panic) => Err(panic),
        };
        let (answer, why) = match outcome {
            Ok(Outcome::Answered(answer)) if !is_held => (answer, None),
            Ok(Outcome::Answered(answer)) => match held(&asked, answer) {
                Ok(answer) => (answer, None),
                Err(why) => (Answer::cancel(&id), Some(why)),
            },
            Ok(Outcome::Deferred) => return Elicited::Deferred,
            Ok(Outcome::Withdrawn) => return Elicited::Withdrawn,
            Ok(Outcome::Unanswerable(why)) => (Answer::cancel(&id), Some(why)),
            Ok(Outcome::Pass) => (Answer::cancel(&id), Some(Why::new("nobody was there to answer it"))),
            Err(_) => (Answer::cancel(&id), Some(Why::new("the resolver failed"))),
        };
        let result = answer_to_elicit_result(answer);
        let result = if is_link { result.without_content() } else { result };
        Elicited::Replied { result, why }
    };
    Ok(Asked { question, end: end.boxed() })
}

/// Whether a person can be asked what `params` of `elicitation/create` ask.
///
/// # Errors
/// -32602 if the mode is not one of `modes`, or a link has no `url`.
pub fn check_elicitation(params: &Value, modes: Modes) -> Result<(), RpcError> {
    let refuse = |message: String| Err(RpcError::new(code::INVALID_PARAMS, message));
    match params.get("mode") {
        // Some servers write null instead of leaving the key out.
        None | Some(Value::Null) => {}
        Some(Value::String(mode)) => match mode.as_str() {
            "form" => {}
            "url" if !modes.url => return refuse("elicitation mode \"url\" was not declared".into()),
            "url" if !params.get("url").is_some_and(Value::is_string) => {
                return refuse("an elicitation in mode \"url\" needs a url".into());
            }
            "url" => return Ok(()),
            other => return refuse(format!("elicitation mode {other:?} was not declared")),
        },
        Some(other) => return refuse(format!("elicitation mode {other} was not declared")),
    }
    if modes.form { Ok(()) } else { refuse("elicitation mode \"form\" was not declared".into()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        elicitation::{Cause, Unchecked, WaitFor, make_answer, wait_for},
        protocol::{Era, Id},
    };

    fn origin() -> Origin {
        let cause = Cause::Asked(Id::from(1));
        Origin { server: "forms".into(), call: Some("greet".into()), is_tool: true, era: Era::Legacy, cause }
    }

    fn accept() -> WaitFor {
        wait_for(|request| async { Ok(make_answer(request.id, true, Some(json!({"a": 1})))) })
    }

    #[tokio::test]
    async fn an_accepted_link_has_no_content() {
        let params = json!({"mode": "url", "url": "https://a.example/", "message": "go"});
        let asked = elicit(&accept(), &params, origin(), Modes::ALL, CancellationToken::new()).expect("asked");
        let Elicited::Replied { result, why: None } = asked.end.await else { panic!("replied") };
        assert_eq!(result.to_value(), json!({"action": "accept"}));
    }

    #[tokio::test]
    async fn a_harmful_link_is_a_cancel_that_nobody_sees() {
        let never: WaitFor = Arc::new(|_| panic!("asked"));
        let params = json!({"mode": "url", "url": "javascript:alert(1)"});
        let asked = elicit(&never, &params, origin(), Modes::ALL, CancellationToken::new()).expect("an end");
        let Elicited::Replied { result: ElicitResult::Cancel, why: Some(why) } = asked.end.await else {
            panic!("cancel")
        };
        assert!(why.reason.contains("only http and https"));
    }

    #[test]
    fn a_mode_that_was_not_declared_is_refused_unasked() {
        let asked =
            |params: &Value, modes| elicit(&accept(), params, origin(), modes, CancellationToken::new()).map(drop);
        let link = json!({"mode": "url", "url": "https://a.example/"});
        for (params, modes) in [(link, Modes::PLAIN), (json!({"mode": "hologram"}), Modes::ALL)] {
            assert_eq!(asked(&params, modes).expect_err("refused").code, -32602);
        }
        assert_eq!(asked(&json!({"mode": "url"}), Modes::ALL).expect_err("refused").code, -32602);
        assert!(asked(&json!({}), Modes::PLAIN).is_ok() && asked(&json!({"mode": null}), Modes::PLAIN).is_ok());
    }

    #[tokio::test]
    async fn an_answer_that_does_not_fit_is_a_cancel_with_its_reason() {
        let params = json!({"requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}});
        let told = async |resolver: &dyn Resolver| {
            let asked = elicit(resolver, &params, origin(), Modes::ALL, CancellationToken::new()).expect("asked");
            let Elicited::Replied { result, why } = asked.end.await else { panic!("replied") };
            (result.to_value(), why.map(|why| why.reason))
        };
        let (cancel, reason) = (json!({"action": "cancel"}), |text: &str| Some(text.to_owned()));
        let misfit = reason("the answer does not fit the form: a: 1 is a number, not text");
        assert_eq!(told(&accept()).await, (cancel.clone(), misfit));
        let sent = json!({"action": "accept", "content": {"a": 1}});
        assert_eq!(told(&Unchecked(accept())).await, (sent, None));
        let strange = wait_for(|_| async { Ok(make_answer("elc-0-0", true, Some(json!({"a": "x"})))) });
        let other = reason("the answer is for another question (elc-0-0)");
        assert_eq!(told(&strange).await, (cancel.clone(), other));
        let broken = wait_for(|_| async { Err("the desk is empty".into()) });
        assert_eq!(told(&broken).await, (cancel, reason("the resolver failed: the desk is empty")));
    }

    #[tokio::test]
    async fn a_fired_stop_withdraws() {
        let never = wait_for(|_| std::future::pending::<Answer>());
        let stop = CancellationToken::new();
        let asked = elicit(&never, &json!({}), origin(), Modes::ALL, stop.clone()).expect("asked");
        stop.cancel();
        assert_eq!(asked.end.await, Elicited::Withdrawn);
    }
}
