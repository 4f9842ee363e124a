//! Checks the code against the test vectors, which other implementations can read, too.

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use toolnexus::elicitation::{
    Answer, Request, ServerHalfError, Verdict, WaitFor, answer_to_elicit_result, elicitation_to_request, parse_result,
    server_request_response, wait_for,
};

fn vectors(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("data/vectors/elicitation.json")).expect("JSON");
    let vectors = all[key].as_array().expect("a list").clone();
    assert!(!vectors.is_empty());
    vectors
}

#[test]
fn params_become_requests() {
    for vector in vectors("paramsToRequest") {
        let mut request = serde_json::to_value(elicitation_to_request(&vector["params"])).expect("JSON");
        assert!(request["id"].as_str().is_some_and(|id| id.starts_with("elc-")), "{vector}");
        request["id"] = json!("ID");
        assert_eq!(request, vector["request"], "{vector}");
    }
}

#[test]
fn answers_become_results() {
    for vector in vectors("answerToResult") {
        let answer: Answer = serde_json::from_value(vector["answer"].clone()).expect("an answer");
        assert_eq!(answer_to_elicit_result(answer).to_value(), vector["result"], "{vector}");
    }
}

/// A resolver for a vector's answer.
fn slot(answer: &Value) -> Option<WaitFor> {
    match answer.as_str() {
        Some("nobody") => None,
        Some("panics") => Some(wait_for(async |request: Request| -> Answer { panic!("at {}", request.id) })),
        Some(_) => Some(wait_for(async |_| Err("it failed".into()))),
        None => {
            let answer: Answer = serde_json::from_value(answer.clone()).expect("an answer");
            Some(wait_for(move |request| {
                let answer = Answer { id: request.id, ..answer.clone() };
                async { answer }
            }))
        }
    }
}

#[test]
fn messages_become_replies() {
    for vector in vectors("messageToReply") {
        let slot = slot(&vector["answer"]);
        let reply = server_request_response(slot.as_ref(), &vector["message"]).now_or_never().expect("immediately");
        let reply = reply.map_or(Value::Null, |frame| serde_json::from_slice(frame.bytes()).expect("JSON"));
        assert_eq!(reply, vector["reply"], "{vector}");
    }
}

#[test]
fn results_become_verdicts() {
    for vector in vectors("resultToVerdict") {
        let verdict = match parse_result(&vector["result"]) {
            Ok(Verdict::Accept(content)) => json!({"accept": content}),
            Ok(Verdict::Decline) => json!("decline"),
            Ok(Verdict::Cancel) => json!("cancel"),
            Err(ServerHalfError::InvalidResponse(_)) => json!("invalid"),
            Err(error) => panic!("{vector}: {error}"),
        };
        assert_eq!(verdict, vector["verdict"], "{vector}");
    }
}
