use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::fake::{Wish, greet, legacy, link};
use crate::{
    client::ClientError,
    elicitation::{Answer, Cause, Outcome, Waited},
};

const REQUIRED: i64 = -32042;

fn links(ids: &[&str]) -> Value {
    json!({"elicitations": ids.iter().map(|id| link(id)).collect::<Vec<Value>>()})
}

#[tokio::test(start_paused = true)]
async fn every_link_is_asked_about_and_the_call_repeated_when_its_notice_comes() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (first, _) = server.expect("tools/call").await;
        server.refuse(&first, REQUIRED, links(&["e1", "e2"]));
        for id in ["e1", "e2"] {
            let question = stage.question().await;
            assert_eq!(question.question.origin.cause, Cause::UrlRequired(id.into()));
            question.accept(json!({}));
        }
        server.notify("notifications/elicitation/complete", json!({"elicitationId": "other"}));
        sleep(Duration::from_secs(60)).await;
        server.notify("notifications/elicitation/complete", json!({"elicitationId": "e2"}));
        server.notify("notifications/elicitation/complete", json!({"elicitationId": "e1"}));
        let (second, params) = server.expect("tools/call").await;
        assert_ne!(first, second);
        assert_eq!(params["name"], "greet");
        server.reply(&second, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_wait_ends_with_its_notice_a_key_or_its_time() {
    for (how, seconds) in [("notice", 5), ("continue", 5), ("time", 120)] {
        let (client, mut server, mut stage) = legacy(Wish::default()).await;
        let start = Instant::now();
        let play = async {
            let (first, _) = server.expect("tools/call").await;
            server.refuse(&first, REQUIRED, links(&["e1"]));
            stage.question().await.accept(json!({}));
            let behind = stage.behind.recv().await.expect("somebody waits");
            sleep(Duration::from_secs(5)).await;
            match how {
                "notice" => server.notify("notifications/elicitation/complete", json!({"elicitationId": "e1"})),
                "continue" => behind.end.send(Waited::Continue).expect("waiting"),
                _ => {}
            }
            let (second, _) = server.expect("tools/call").await;
            server.reply(&second, json!({}));
        };
        let (done, ()) = tokio::join!(greet(&client), play);
        assert!(done.is_ok());
        assert_eq!(start.elapsed().as_secs(), seconds, "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_no_ends_the_call_with_the_servers_error() {
    for how in ["decline", "cancel", "give up"] {
        let (client, mut server, mut stage) = legacy(Wish::default()).await;
        let play = async {
            let (first, _) = server.expect("tools/call").await;
            server.refuse(&first, REQUIRED, links(&["e1", "e2"]));
            let question = stage.question().await;
            let id = question.question.request.id.clone();
            match how {
                "decline" => question.answer(Outcome::Answered(Answer::decline(&id))),
                "cancel" => question.answer(Outcome::Answered(Answer::cancel(&id))),
                _ => {
                    question.accept(json!({}));
                    stage.question().await.accept(json!({}));
                    let behind = stage.behind.recv().await.expect("somebody waits");
                    behind.end.send(Waited::Cancel).expect("waiting");
                }
            }
        };
        let (done, ()) = tokio::join!(greet(&client), play);
        assert!(matches!(done, Err(ClientError::Rpc { error, .. }) if error.code == REQUIRED), "{how}");
        assert!(server.heard().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_link_again_is_asked_about_again_and_five_rounds_are_enough() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        for round in 0..6 {
            let (id, _) = server.expect("tools/call").await;
            server.refuse(&id, REQUIRED, links(&["e1"]));
            if round < 5 {
                stage.question().await.accept(json!({}));
                let behind = stage.behind.recv().await.expect("somebody waits");
                behind.end.send(Waited::Continue).expect("waiting");
            }
        }
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(matches!(done, Err(ClientError::Rpc { error, .. }) if error.code == REQUIRED));
}

#[tokio::test(start_paused = true)]
async fn an_error_that_cannot_be_met_is_the_servers_own() {
    let odd = [
        None,
        Some(json!({"elicitations": []})),
        Some(json!({"elicitations": [{"mode": "form", "message": "x"}]})),
        Some(json!({"elicitations": [{"mode": "url", "elicitationId": "e"}]})),
        Some(json!({"elicitations": ["x"]})),
    ];
    for data in odd {
        let (client, mut server, _stage) = legacy(Wish::default()).await;
        let play = async {
            let (id, _) = server.expect("tools/call").await;
            server.refuse(&id, REQUIRED, data);
        };
        let (done, ()) = tokio::join!(greet(&client), play);
        assert!(matches!(done, Err(ClientError::Rpc { error, .. }) if error.code == REQUIRED));
    }
}
