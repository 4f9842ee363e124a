use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::fake::{Wish, call, form, greet, legacy, modern, result, stage};
use crate::{
    client::{CallEnd, Client, ClientError, NoticeKind, PendingCall},
    elicitation::{Cause, Outcome},
    protocol::{Frame, Id},
};

fn task(status: &str) -> Value {
    json!({"taskId": "t1", "status": status, "pollIntervalMs": 2000, "ttlMs": null})
}

fn created() -> Value {
    json!({"resultType": "task", "taskId": "t1", "status": "working", "pollIntervalMs": 2000, "ttlMs": null})
}

#[tokio::test(start_paused = true)]
async fn a_task_is_looked_at_in_the_servers_pace_and_its_questions_answered_once() {
    let (client, mut server, mut stage) = modern(Wish::default()).await;
    let start = Instant::now();
    let play = async {
        let (id, params) = server.expect("tools/call").await;
        let declared = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"];
        assert_eq!(declared["io.modelcontextprotocol/tasks"], json!({}));
        server.reply(&id, created());
        let (id, params) = server.expect("tasks/get").await;
        assert_eq!((params["taskId"].as_str(), start.elapsed().as_secs()), (Some("t1"), 2));
        let mut asks = task("input_required");
        asks["inputRequests"] = json!({"q": {"method": "elicitation/create", "params": form("Name?")}});
        server.reply(&id, asks.clone());
        let question = stage.question().await;
        assert_eq!(question.question.origin.cause, Cause::Task("t1".into()));
        question.accept(json!({"name": "Ada"}));
        let (id, params) = server.expect("tasks/update").await;
        assert_eq!(params["inputResponses"], json!({"q": {"action": "accept", "content": {"name": "Ada"}}}));
        server.reply(&id, json!({"resultType": "complete"}));
        // The server has not caught up yet.
        let (id, _) = server.expect("tasks/get").await;
        server.reply(&id, asks);
        let (id, _) = server.expect("tasks/get").await;
        let mut done = task("completed");
        done["result"] = json!({"content": [1]});
        server.reply(&id, done);
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert_eq!(done.expect("a result"), json!({"content": [1]}));
    let told = stage.notices().into_iter().filter_map(|kind| match kind {
        NoticeKind::Task { status, .. } => Some(status),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), ["working", "input_required", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_is_its_error() {
    let (client, mut server, _stage) = modern(Wish::default()).await;
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        server.reply(&id, created());
        let (id, _) = server.expect("tasks/get").await;
        let mut failed = task("failed");
        failed["error"] = json!({"code": -32603, "message": "broke"});
        server.reply(&id, failed);
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(matches!(done, Err(ClientError::Rpc { error, .. }) if error.message == "broke"));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_task_is_cancelled() {
    let (client, mut server, _stage) = modern(Wish::default()).await;
    let stop = CancellationToken::new();
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        server.reply(&id, created());
        tokio::time::sleep(Duration::from_millis(500)).await;
        stop.cancel();
        let (id, params) = server.expect("tasks/cancel").await;
        assert_eq!(params["taskId"], "t1");
        server.reply(&id, json!({"resultType": "complete"}));
    };
    let (done, ()) = tokio::join!(call(&client, None, &stop), play);
    assert!(matches!(done, Err(ClientError::Interrupted { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_task_is_put_aside_and_taken_up() {
    let (client, mut server, mut stage) = modern(Wish::default()).await;
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        server.reply(&id, created());
        let (id, _) = server.expect("tasks/get").await;
        let mut asks = task("input_required");
        asks["inputRequests"] = json!({"q": {"method": "elicitation/create", "params": form("Name?")}});
        server.reply(&id, asks);
        stage.question().await.answer(Outcome::Deferred);
    };
    let stop = CancellationToken::new();
    let (done, ()) = tokio::join!(call(&client, None, &stop), play);
    let Ok(CallEnd::Deferred(pending)) = done else { panic!("put aside") };
    assert_eq!(pending.task.as_deref(), Some("t1"));
    assert!(server.heard().is_none());
    let play = async {
        stage.question().await.accept(json!({}));
        let (id, _) = server.expect("tasks/update").await;
        server.reply(&id, json!({}));
        let (id, _) = server.expect("tasks/get").await;
        let mut done = task("completed");
        done["result"] = json!({"content": []});
        server.reply(&id, done);
    };
    let (done, ()) = tokio::join!(
        client.resume(PendingCall::clone(&pending), &|_| Box::pin(std::future::ready(true)), None, &stop),
        play
    );
    assert_eq!(result(done.expect("a result")), json!({"content": []}));
}

#[tokio::test(start_paused = true)]
async fn a_legacy_tool_that_is_always_a_task_is_called_as_one() {
    let (opener, mut stage) = stage(Wish::default());
    let stop = CancellationToken::new();
    let play = async {
        let mut server = stage.peer().await;
        server.open_legacy_with(json!({"tasks": {"requests": {"tools": {"call": {}}}}})).await;
        let (id, params) = server.expect("tools/call").await;
        assert!(params["task"]["ttl"].is_number());
        server.reply(&id, json!({"task": {"taskId": "t1", "status": "working", "pollInterval": 100}}));
        let (id, _) = server.expect("tasks/get").await;
        server.reply(&id, json!({"taskId": "t1", "status": "input_required", "pollInterval": 100}));
        let (last, _) = server.expect("tasks/result").await;
        server.ask(&Id::from(7));
        stage.question().await.accept(json!({"name": "Ada"}));
        assert_eq!(server.expect_reply(&Id::from(7)).await["action"], "accept");
        server.reply(&last, json!({"content": []}));
    };
    let used = async {
        let client = Client::open(opener, &stop).await.expect("connected");
        let tool = json!({"name": "greet", "execution": {"taskSupport": "required"}});
        call(&client, Some(tool), &stop).await
    };
    let (done, ()) = tokio::join!(used, play);
    assert_eq!(result(done.expect("a result")), json!({"content": []}));
}

#[tokio::test(start_paused = true)]
async fn a_legacy_server_may_ask_in_a_task_of_ours() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        let mut params = form("Name?");
        params["task"] = json!({"ttl": 60000});
        server.say(Frame::request(&Id::from(1), "elicitation/create", Some(&params)));
        let opened = server.expect_reply(&Id::from(1)).await;
        let task = opened["task"]["taskId"].clone();
        assert_eq!(opened["task"]["status"], "input_required");
        server.say(Frame::request(&Id::from(2), "tasks/result", Some(&json!({"taskId": task}))));
        server.say(Frame::request(&Id::from(3), "tasks/get", Some(&json!({"taskId": "unknown"}))));
        assert_eq!(server.expect_reply(&Id::from(3)).await["code"], -32602);
        stage.question().await.accept(json!({"name": "Ada"}));
        let result = server.expect_reply(&Id::from(2)).await;
        assert_eq!((&result["action"], &result["content"]["name"]), (&json!("accept"), &json!("Ada")));
        let (_, status) = server.expect("notifications/tasks/status").await;
        assert_eq!(status["status"], "completed");
        server.say(Frame::request(&Id::from(4), "tasks/get", Some(&json!({"taskId": task}))));
        assert_eq!(server.expect_reply(&Id::from(4)).await["status"], "completed");
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_task_of_ours_that_is_cancelled_withdraws_its_question() {
    let (client, mut server, mut stage) = legacy(Wish::default()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        let mut params = form("Name?");
        params["task"] = json!({});
        server.say(Frame::request(&Id::from(1), "elicitation/create", Some(&params)));
        let task = server.expect_reply(&Id::from(1)).await["task"]["taskId"].clone();
        let question = stage.question().await;
        server.say(Frame::request(&Id::from(2), "tasks/cancel", Some(&json!({"taskId": task}))));
        question.stop.cancelled().await;
        server.expect("notifications/tasks/status").await;
        assert_eq!(server.expect_reply(&Id::from(2)).await["status"], "cancelled");
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}
