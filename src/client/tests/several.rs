//! Several callers on one connection that does not say which call a question belongs to.

use serde_json::{Value, json};
use tokio::{
    sync::mpsc::UnboundedReceiver,
    time::{Duration, Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::fake::{OnDesk, Peer, Wish, caller, form, legacy};
use crate::{
    client::{CallEnd, CallReport, Caller, Client, ToolCall},
    protocol::{Frame, Id},
};

async fn call(client: &Client, name: &str, caller: Caller) -> CallReport {
    let call = ToolCall { name: name.into(), caller: Some(caller), ..ToolCall::default() };
    match client.call_tool(call, &CancellationToken::new()).await.expect("a result") {
        CallEnd::Done(report) => report,
        CallEnd::Deferred(pending) => panic!("put aside: {pending:?}"),
    }
}

/// The next call that the server gets: its id, and the tool.
async fn called(server: &mut Peer) -> (Id, String) {
    let (id, params) = server.expect("tools/call").await;
    (id, params["name"].as_str().expect("a name").to_owned())
}

/// The client learns that the tool asks nothing.
async fn is_quiet(client: &Client, server: &mut Peer, name: &str) {
    let play = async {
        let (id, _) = called(server).await;
        server.reply(&id, json!({}));
    };
    tokio::join!(call(client, name, caller().0), play);
}

fn name(desk: &mut UnboundedReceiver<OnDesk>) -> Option<Value> {
    desk.try_recv().ok().map(|on_desk| json!(on_desk.question.request.prompt))
}

#[tokio::test(start_paused = true)]
async fn calls_that_may_ask_run_one_after_the_other_until_they_have_asked() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    let ((one, mut desk_of_one), (two, mut desk_of_two)) = (caller(), caller());
    let play = async {
        let (first, _) = called(&mut server).await;
        assert!(timeout(Duration::from_secs(1), server.hear()).await.is_err(), "the second call waits");
        server.ask(&Id::from("q1"));
        let of_one = desk_of_one.recv().await.expect("a question of the first");
        let (second, _) = called(&mut server).await;
        server.ask(&Id::from("q2"));
        let of_two = desk_of_two.recv().await.expect("a question of the second");
        of_two.accept(json!({"name": "Two"}));
        assert_eq!(server.expect_reply(&Id::from("q2")).await["content"], json!({"name": "Two"}));
        // The first gets its answer once the second can no longer ask.
        of_one.accept(json!({"name": "One"}));
        assert!(timeout(Duration::from_secs(1), server.hear()).await.is_err(), "the answer waits");
        server.reply(&second, json!({}));
        assert_eq!(server.expect_reply(&Id::from("q1")).await["content"], json!({"name": "One"}));
        server.ask(&Id::from("q3"));
        desk_of_one.recv().await.expect("another question of the first").accept(json!({"name": "One"}));
        server.expect_reply(&Id::from("q3")).await;
        server.reply(&first, json!({}));
    };
    tokio::join!(call(&client, "greet", one), call(&client, "greet", two), play);
}

#[tokio::test(start_paused = true)]
async fn tools_that_ask_nothing_run_at_once_and_a_question_waits_until_it_is_clear_whose_it_is() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    is_quiet(&client, &mut server, "echo").await;
    is_quiet(&client, &mut server, "greet").await;
    let ((one, mut desk_of_one), (two, mut desk_of_two)) = (caller(), caller());
    let play = async {
        let (first, tool) = called(&mut server).await;
        assert_eq!(tool, "echo");
        let (second, _) = called(&mut server).await;
        server.ask(&Id::from("q"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((name(&mut desk_of_one), name(&mut desk_of_two)), (None, None));
        server.reply(&first, json!({}));
        desk_of_two.recv().await.expect("a question of the second").accept(json!({"name": "Two"}));
        assert_eq!(server.expect_reply(&Id::from("q")).await["content"], json!({"name": "Two"}));
        server.reply(&second, json!({}));
    };
    tokio::join!(call(&client, "echo", one), call(&client, "greet", two), play);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_nobodys_for_sure_is_told_cancel_and_said() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    is_quiet(&client, &mut server, "a").await;
    is_quiet(&client, &mut server, "b").await;
    let ((one, mut desk_of_one), (two, mut desk_of_two)) = (caller(), caller());
    let play = async {
        let ((first, _), (second, _)) = (called(&mut server).await, called(&mut server).await);
        let start = Instant::now();
        server.ask(&Id::from("q"));
        assert_eq!(server.expect_reply(&Id::from("q")).await, json!({"action": "cancel"}));
        assert_eq!(start.elapsed().as_secs(), 10);
        server.reply(&first, json!({}));
        server.reply(&second, json!({}));
    };
    let (one, two, ()) = tokio::join!(call(&client, "a", one), call(&client, "b", two), play);
    for report in [one, two] {
        assert!(report.unanswered[0].reason.contains("did not say which one it meant"), "{:?}", report.unanswered);
    }
    assert_eq!((name(&mut desk_of_one), name(&mut desk_of_two)), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_withdrawn_while_it_is_unclear_is_nobodys() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    is_quiet(&client, &mut server, "a").await;
    let ((one, mut desk_of_one), (two, mut desk_of_two)) = (caller(), caller());
    let play = async {
        let ((first, _), (second, _)) = (called(&mut server).await, called(&mut server).await);
        server.ask(&Id::from("q"));
        server.notify("notifications/cancelled", json!({"requestId": "q"}));
        server.reply(&first, json!({}));
        tokio::time::sleep(Duration::from_secs(20)).await;
        server.reply(&second, json!({}));
    };
    tokio::join!(call(&client, "a", one), call(&client, "a", two), play);
    assert_eq!((name(&mut desk_of_one), name(&mut desk_of_two)), (None, None));
    assert!(server.heard().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_twice_at_once_is_not_taken_to_wait_with_its_first_question() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    is_quiet(&client, &mut server, "a").await;
    let ((one, mut desk_of_one), (two, mut desk_of_two)) = (caller(), caller());
    let begin_second = tokio::sync::Notify::new();
    let play = async {
        let (first, _) = called(&mut server).await;
        server.ask(&Id::from("q1"));
        server.ask(&Id::from("q2"));
        let (of_q1, of_q2) = (desk_of_one.recv().await, desk_of_one.recv().await);
        begin_second.notify_one();
        let (second, _) = called(&mut server).await;
        server.ask(&Id::from("q3"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(name(&mut desk_of_one).is_none() && name(&mut desk_of_two).is_none());
        server.reply(&second, json!({}));
        desk_of_one.recv().await.expect("it was the first one's").accept(json!({"name": "Three"}));
        assert_eq!(server.expect_reply(&Id::from("q3")).await["content"], json!({"name": "Three"}));
        drop((of_q1, of_q2));
        server.reply(&first, json!({}));
    };
    let second = async {
        begin_second.notified().await;
        call(&client, "a", two).await
    };
    tokio::join!(call(&client, "greet", one), second, play);
}

#[tokio::test(start_paused = true)]
async fn a_question_on_the_stream_of_a_call_is_that_calls() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    is_quiet(&client, &mut server, "a").await;
    let ((one, mut desk_of_one), (two, mut desk_of_two)) = (caller(), caller());
    let play = async {
        let ((first, _), (second, _)) = (called(&mut server).await, called(&mut server).await);
        server.say_during(&first, Frame::request(&Id::from("q1"), "elicitation/create", Some(&form("One?"))));
        server.say_during(&second, Frame::request(&Id::from("q2"), "elicitation/create", Some(&form("Two?"))));
        let (of_one, of_two) = (desk_of_one.recv().await, desk_of_two.recv().await);
        assert_eq!(of_one.expect("a question").question.request.prompt, "One?");
        assert_eq!(of_two.expect("a question").question.request.prompt, "Two?");
        server.reply(&first, json!({}));
        server.reply(&second, json!({}));
    };
    tokio::join!(call(&client, "a", one), call(&client, "a", two), play);
}
