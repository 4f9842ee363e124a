use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fake::{Wish, call, form, greet, legacy, link, modern, result};
use crate::{
    client::{CallEnd, ClientError, NoticeKind},
    elicitation::{Answer, Outcome, Waited, Why},
    protocol::{Frame, Id},
    transport::{Closed, TransportError},
};

#[tokio::test]
async fn questions_are_answered_while_the_call_is_in_flight_and_keep_their_ids() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, params) = server.expect("tools/call").await;
        assert_eq!(params["arguments"], json!({}));
        for id in [Id::from("77"), Id::from(77)] {
            server.ask(&id);
            stage.question().await.accept(json!({"name": "Ada"}));
            let expected = json!({"action": "accept", "content": {"name": "Ada"}});
            assert_eq!(server.expect_reply(&id).await, expected);
        }
        server.reply(&call, json!({"content": []}));
        (server, stage)
    };
    let (done, _) = tokio::join!(greet(&client), play);
    assert_eq!(done.expect("a result"), json!({"content": []}));
}

#[tokio::test]
async fn answers_go_back_as_they_come() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.ask(&Id::from(1));
        server.ask(&Id::from(2));
        let (first, second) = (stage.question().await, stage.question().await);
        second.answer(Outcome::Unanswerable(Why::new("nobody knows")));
        assert_eq!(server.expect_reply(&Id::from(2)).await, json!({"action": "cancel"}));
        let decline = Answer::decline(&first.question.request.id);
        first.answer(Outcome::Answered(decline));
        assert_eq!(server.expect_reply(&Id::from(1)).await, json!({"action": "decline"}));
        server.reply(&call, json!({}));
    };
    let stop = CancellationToken::new();
    let (done, ()) = tokio::join!(call(&client, None, &stop), play);
    let CallEnd::Done(report) = done.expect("a result") else { panic!("done") };
    assert_eq!(report.unanswered, [Why::new("nobody knows")]);
}

#[tokio::test]
async fn an_id_is_answered_once_while_its_question_is_open_and_is_free_afterwards() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        let id = Id::from(7);
        server.ask(&id);
        server.ask(&id);
        // An answer to the second question would be taken for the answer to the first.
        stage.question().await.accept(json!({"name": "Ada"}));
        assert_eq!(server.expect_reply(&id).await["content"], json!({"name": "Ada"}));
        server.ask(&id);
        stage.question().await.accept(json!({"name": "Grace"}));
        assert_eq!(server.expect_reply(&id).await["content"], json!({"name": "Grace"}));
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert_eq!(done.expect("a result"), json!({}));
    client.close().await;
    assert_eq!(stage.warnings(), 1);
}

#[tokio::test]
async fn a_withdrawn_question_gets_no_reply_and_its_prompt_ends_before_the_result() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.ask(&Id::from("ask-1"));
        let question = stage.question().await;
        server.notify("notifications/cancelled", json!({"requestId": "unknown"}));
        server.notify("notifications/cancelled", json!({"requestId": "ask-1"}));
        server.reply(&call, json!({}));
        question.stop.cancelled().await;
        (server, stage)
    };
    let (done, (mut server, stage)) = tokio::join!(greet(&client), play);
    assert_eq!(done.expect("a result"), json!({}));
    assert!(matches!(stage.notices().last(), Some(NoticeKind::Withdrawn(_))));
    assert!(server.heard().is_none());
}

#[tokio::test]
async fn what_is_still_asked_when_the_call_ends_is_answered_cancel() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.ask(&Id::from(1));
        let question = stage.question().await;
        server.reply(&call, json!({}));
        assert_eq!(server.expect_reply(&Id::from(1)).await, json!({"action": "cancel"}));
        assert!(question.stop.is_cancelled());
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}

#[tokio::test]
async fn pings_are_answered_at_any_time_and_other_requests_refused() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.ask(&Id::from(1));
        let question = stage.question().await;
        server.say(Frame::request(&Id::from("p-9"), "ping", None));
        assert_eq!(server.expect_reply(&Id::from("p-9")).await, json!({}));
        server.say(Frame::request(&Id::from(9), "sampling/createMessage", None));
        assert_eq!(server.expect_reply(&Id::from(9)).await["code"], -32601);
        server.say(Frame::request(&Id::from(10), "roots/list", None));
        assert_eq!(server.expect_reply(&Id::from(10)).await["code"], -32601);
        question.accept(json!({}));
        server.expect_reply(&Id::from(1)).await;
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}

#[tokio::test]
async fn roots_are_listed_and_undeclared_modes_refused() {
    let (client, mut server, _stage) =
        legacy(Wish { plain: true, roots: vec!["/srv".into()], ..Wish::default() }).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.say(Frame::request(&Id::from(1), "roots/list", None));
        assert_eq!(server.expect_reply(&Id::from(1)).await["roots"][0]["uri"], "file:///srv");
        server.say(Frame::request(&Id::from(2), "elicitation/create", Some(&link("e"))));
        assert_eq!(server.expect_reply(&Id::from(2)).await["code"], -32602);
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}

#[tokio::test]
async fn without_a_resolver_nothing_is_declared_and_a_question_is_refused() {
    let (client, mut server, stage) = legacy(Wish { unattended: true, ..Wish::default() }).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.ask(&Id::from(1));
        assert_eq!(server.expect_reply(&Id::from(1)).await["code"], -32601);
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
    let expected = NoticeKind::NotDeclared { method: "elicitation/create".into() };
    assert!(stage.notices().contains(&expected));
}

#[tokio::test]
async fn a_modern_server_that_asks_on_its_own_is_ignored_with_one_warning() {
    let (client, mut server, stage) = modern(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.ask(&Id::from(1));
        server.say(Frame::request(&Id::from(2), "ping", None));
        server.reply(&call, json!({}));
        server
    };
    let (done, mut server) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
    assert!(server.heard().is_none());
    assert_eq!(stage.warnings(), 1);
}

#[tokio::test]
async fn answers_under_unknown_ids_are_ignored_with_one_warning() {
    let (client, mut server, stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        for id in [Id::from("x"), Id::from(999), Id::from(1000)] {
            server.reply(&id, json!({"wrong": true}));
        }
        server.reply(&call, json!({"right": true}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert_eq!(done.expect("a result"), json!({"right": true}));
    assert_eq!(stage.warnings(), 1);
}

#[tokio::test]
async fn ten_thousand_notifications_come_in_order() {
    let (client, mut server, stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, params) = server.expect("tools/call").await;
        let token = &params["_meta"]["progressToken"];
        for number in 0..10_000 {
            match number % 3 {
                0 => server.notify("notifications/progress", json!({"progressToken": token, "progress": number})),
                1 => server.notify("notifications/message", json!({"level": "info", "data": number})),
                _ => server.notify("notifications/resources/updated", json!({"n": number})),
            }
        }
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
    let number = |kind: NoticeKind| match kind {
        NoticeKind::Progress { progress, .. } => json!(progress).as_f64(),
        NoticeKind::Log { data, .. } => data.as_f64(),
        NoticeKind::Changed { params, .. } => params["n"].as_f64(),
        other => panic!("{other:?}"),
    };
    let numbers: Vec<f64> = stage.notices().into_iter().filter_map(number).collect();
    assert_eq!(numbers.len(), 10_000);
    assert!(numbers.is_sorted());
}

#[tokio::test]
async fn a_death_fails_the_call_and_withdraws_the_question() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        server.expect("tools/call").await;
        server.ask(&Id::from(1));
        let question = stage.question().await;
        drop(server);
        question.stop.cancelled().await;
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    let Err(ClientError::Lost { method, source: TransportError::Closed(Closed { reason, .. }) }) = done else {
        panic!("lost")
    };
    assert_eq!((method.as_str(), reason.as_str()), ("tools/call", "the server left"));
    assert!(stage.notices().iter().any(|kind| matches!(kind, NoticeKind::Withdrawn(_))));
}

#[tokio::test]
async fn a_lost_call_is_repeated_only_where_that_does_no_harm() {
    for (annotations, repeats) in [(json!({}), false), (json!({"readOnlyHint": true}), true)] {
        let (client, mut server, mut stage) = legacy(Wish::default()).await;
        let play = async {
            server.expect("tools/call").await;
            drop(server);
            if repeats {
                let mut server = stage.peer().await;
                server.open_legacy().await;
                let (call, _) = server.expect("tools/call").await;
                server.ask(&Id::from(1));
                stage.question().await.accept(json!({}));
                server.expect_reply(&Id::from(1)).await;
                server.reply(&call, json!({}));
            }
        };
        let tool = json!({"name": "greet", "annotations": annotations});
        let stop = CancellationToken::new();
        let (done, ()) = tokio::join!(call(&client, Some(tool), &stop), play);
        assert_eq!(done.is_ok(), repeats);
    }
}

#[tokio::test]
async fn an_ended_http_session_is_opened_again_and_the_call_repeated_once() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.fail(&call, TransportError::SessionLost { status: 404 });
        server.initialize(json!({})).await;
        let (call, _) = server.expect("tools/call").await;
        server.fail(&call, TransportError::SessionLost { status: 404 });
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(matches!(done, Err(ClientError::Lost { source: TransportError::SessionLost { .. }, .. })));
}

#[tokio::test]
async fn an_interrupted_call_is_cancelled_and_its_question_answered() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let stop = CancellationToken::new();
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.ask(&Id::from(1));
        let _question = stage.question().await;
        stop.cancel();
        let (_, params) = server.expect("notifications/cancelled").await;
        assert_eq!(params["requestId"], call.to_value());
        assert_eq!(server.expect_reply(&Id::from(1)).await, json!({"action": "cancel"}));
        // The late answer is dropped silently.
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(call(&client, None, &stop), play);
    assert!(matches!(done, Err(ClientError::Interrupted { .. })));
    client.close().await;
    assert_eq!(stage.warnings(), 0);
}

#[tokio::test]
async fn a_closed_client_has_answered_what_was_asked() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    server.ask(&Id::from(1));
    let question = stage.question().await;
    client.close().await;
    assert_eq!(server.expect_reply(&Id::from(1)).await, json!({"action": "cancel"}));
    assert!(question.stop.is_cancelled());
    assert!(matches!(greet(&client).await, Err(ClientError::Interrupted { .. })));
}

#[tokio::test]
async fn giving_up_behind_a_link_leaves_the_call_to_the_server() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        server.say(Frame::request(&Id::from(1), "elicitation/create", Some(&link("e7"))));
        stage.question().await.accept(json!({"not": "sent"}));
        assert_eq!(server.expect_reply(&Id::from(1)).await, json!({"action": "accept"}));
        let behind = stage.behind.recv().await.expect("somebody waits");
        behind.end.send(Waited::Cancel).expect("waiting");
        server.reply(&id, json!({"content": []}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}

#[tokio::test]
async fn a_question_of_a_legacy_server_cannot_be_put_aside() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        server.say(Frame::request(&Id::from(1), "elicitation/create", Some(&form("Name?"))));
        stage.question().await.answer(Outcome::Deferred);
        assert_eq!(server.expect_reply(&Id::from(1)).await, json!({"action": "cancel"}));
        server.reply(&call, json!({}));
    };
    let stop = CancellationToken::new();
    let (done, ()) = tokio::join!(call(&client, None, &stop), play);
    let CallEnd::Done(report) = done.expect("a result") else { panic!("done") };
    assert_eq!(report.unanswered.len(), 1);
}

#[tokio::test]
async fn an_error_for_nobody_answers_the_only_request() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    let play = async {
        server.expect("tools/call").await;
        let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
        server.say(Frame::parse(text.as_bytes().to_vec()).expect("a frame"));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(matches!(done, Err(ClientError::Rpc { error, .. }) if error.code == -32700));
}

#[tokio::test]
async fn results_are_the_servers_own_bytes() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        let text = format!(r#"{{"id":{id},"result": {{"a" : 1.0, "a":2e400}} }}"#);
        server.say(Frame::parse(text.into_bytes()).expect("a frame"));
    };
    let stop = CancellationToken::new();
    let (done, ()) = tokio::join!(call(&client, None, &stop), play);
    let CallEnd::Done(report) = done.expect("a result") else { panic!("done") };
    assert_eq!(report.result.get(), r#"{"a" : 1.0, "a":2e400}"#);
    assert!(result(CallEnd::Done(report)).is_object());
}
