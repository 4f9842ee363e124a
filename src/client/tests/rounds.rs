use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::fake::{Wish, call, form, greet, link, modern};
use crate::{
    client::{CallEnd, ClientError, PendingCall},
    elicitation::{Answer, Outcome, Waited},
};

fn asking(inputs: impl Into<Value>, state: &str) -> Value {
    json!({"resultType": "input_required", "inputRequests": inputs.into(), "requestState": state})
}

fn elicit(params: impl Into<Value>) -> Value {
    json!({"method": "elicitation/create", "params": params.into()})
}

#[tokio::test(start_paused = true)]
async fn answers_go_back_under_their_keys_with_the_state_under_a_new_id() {
    let (client, mut server, mut stage) = modern(Wish { roots: vec!["/srv".into()], ..Wish::default() }).await;
    let play = async {
        let (first, params) = server.expect("tools/call").await;
        assert_eq!(params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["roots"], json!({}));
        let inputs = json!({"b": elicit(form("One?")), "where": {"method": "roots/list"}, "a": elicit(form("Two?"))});
        server.reply(&first, asking(inputs, "s/\u{e9}="));
        let (one, two) = (stage.question().await, stage.question().await);
        assert_eq!((one.question.request.prompt.as_str(), two.question.request.prompt.as_str()), ("One?", "Two?"));
        let decline = Answer::decline(&two.question.request.id);
        two.answer(Outcome::Answered(decline));
        one.accept(json!({"name": "Ada"}));
        let (second, params) = server.expect("tools/call").await;
        assert_ne!(first, second);
        let expected = json!({
            "b": {"action": "accept", "content": {"name": "Ada"}},
            "where": {"roots": [{"uri": "file:///srv", "name": "srv"}]},
            "a": {"action": "decline"},
        });
        assert_eq!((&params["inputResponses"], &params["requestState"]), (&expected, &json!("s/\u{e9}=")));
        server.reply(&second, json!({"resultType": "input_required", "requestState": "only"}));
        let (third, params) = server.expect("tools/call").await;
        assert_eq!((params.get("inputResponses"), &params["requestState"]), (None, &json!("only")));
        server.reply(&third, json!({"content": []}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert_eq!(done.expect("a result"), json!({"content": []}));
}

#[tokio::test(start_paused = true)]
async fn state_only_rounds_are_repeated_immediately_then_more_and_more_slowly_and_not_forever() {
    let (client, mut server, _stage) = modern(Wish::default()).await;
    let start = Instant::now();
    let play = async {
        let mut rounds = 0;
        let mut times = Vec::new();
        while let Some(frame) = server.hear().await {
            let Some(id) = frame.id() else { continue };
            times.push(start.elapsed().as_millis());
            rounds += 1;
            server.reply(id, json!({"resultType": "input_required", "requestState": format!("s{rounds}")}));
        }
        times
    };
    let used = async {
        let done = greet(&client).await;
        client.close().await;
        done
    };
    let (done, times) = tokio::join!(used, play);
    assert!(matches!(done, Err(ClientError::Invalid { .. })), "{done:?}");
    assert_eq!(times, [0, 0, 500, 1500, 3500, 7500, 12_500, 17_500, 22_500, 27_500, 32_500]);
}

#[tokio::test(start_paused = true)]
async fn ten_rounds_may_ask() {
    let (client, mut server, mut stage) = modern(Wish::default()).await;
    let play = async {
        for round in 0..11 {
            let (id, _) = server.expect("tools/call").await;
            server.reply(&id, asking(json!({"q": elicit(form("Again?"))}), "s"));
            if round < 10 {
                stage.question().await.accept(json!({}));
            }
        }
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(matches!(done, Err(ClientError::Invalid { .. })));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_served_ends_the_call_before_anything_is_asked() {
    let wrong = [
        json!({"a": elicit(form("Name?")), "b": {"method": "sampling/createMessage", "params": {}}}),
        json!({"a": elicit(form("Name?")), "b": {"method": "roots/list"}}),
        json!({"a": elicit(form("Name?")), "b": elicit(json!({"mode": "hologram"}))}),
    ];
    for inputs in wrong {
        let (client, mut server, mut stage) = modern(Wish::default()).await;
        let play = async {
            let (id, _) = server.expect("tools/call").await;
            server.reply(&id, asking(inputs, "s"));
        };
        let (done, ()) = tokio::join!(greet(&client), play);
        assert!(matches!(done, Err(ClientError::Invalid { .. })));
        assert!(stage.questions.try_recv().is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn an_accepted_link_is_not_asked_about_again_while_it_is_waited_behind() {
    let (client, mut server, mut stage) = modern(Wish::default()).await;
    let inputs = json!({"go": elicit(link("e7"))});
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        server.reply(&id, asking(inputs.clone(), "s1"));
        stage.question().await.accept(json!({}));
        for state in ["s2", "s3", "s4"] {
            let (id, params) = server.expect("tools/call").await;
            assert_eq!(params["inputResponses"], json!({"go": {"action": "accept"}}));
            server.reply(&id, asking(inputs.clone(), state));
        }
        let behind = stage.behind.recv().await.expect("somebody waits");
        behind.end.send(Waited::Continue).expect("waiting");
        let (id, params) = server.expect("tools/call").await;
        assert_eq!(params["requestState"], "s4");
        server.reply(&id, asking(inputs.clone(), "s5"));
        // Not finished, although the person thought so.
        stage.question().await.accept(json!({}));
        let (id, _) = server.expect("tools/call").await;
        let behind = stage.behind.recv().await.expect("somebody waits");
        server.reply(&id, json!({"done": true}));
        behind.done.cancelled().await;
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert_eq!(done.expect("a result"), json!({"done": true}));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_put_aside_with_what_was_answered_and_taken_up_again() {
    let (client, mut server, mut stage) = modern(Wish::default()).await;
    let inputs = json!({"a": elicit(form("One?")), "b": elicit(form("Two?"))});
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        server.reply(&id, asking(inputs.clone(), "s1"));
        let (one, two) = (stage.question().await, stage.question().await);
        one.accept(json!({"name": "Ada"}));
        two.answer(Outcome::Deferred);
    };
    let stop = CancellationToken::new();
    let (done, ()) = tokio::join!(call(&client, None, &stop), play);
    let Ok(CallEnd::Deferred(pending)) = done else { panic!("put aside") };
    let PendingCall { method, params, request_state, inputs, task, .. } = (*pending).clone();
    assert_eq!((method.as_str(), task), ("tools/call", None));
    assert_eq!(params, json!({"name": "greet", "arguments": {}}));
    assert_eq!(request_state, Some(json!("s1")));
    assert!(inputs[0].response.is_some() && inputs[1].response.is_none() && inputs[1].request.is_some());

    let (client, mut server, mut stage) = modern(Wish::default()).await;
    let play = async {
        let two = stage.question().await;
        assert_eq!(two.question.request.prompt, "Two?");
        two.accept(json!({"name": "Bob"}));
        let (id, params) = server.expect("tools/call").await;
        assert_eq!(params["inputResponses"]["a"]["content"], json!({"name": "Ada"}));
        assert_eq!(params["inputResponses"]["b"]["content"], json!({"name": "Bob"}));
        assert_eq!((&params["requestState"], &params["name"]), (&json!("s1"), &json!("greet")));
        server.reply(&id, json!({}));
    };
    let (done, ()) = tokio::join!(client.resume(*pending, &|_| Box::pin(std::future::ready(true)), None, &stop), play);
    assert!(matches!(done, Ok(CallEnd::Done(_))));
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_may_restart_while_a_question_is_open() {
    let (client, mut server, mut stage) = modern(Wish::default()).await;
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        server.reply(&id, asking(json!({"a": elicit(form("Name?"))}), "s1"));
        let question = stage.question().await;
        drop(server);
        tokio::task::yield_now().await;
        question.accept(json!({}));
        let mut server = stage.peer().await;
        server.open_modern().await;
        let (id, params) = server.expect("tools/call").await;
        assert_eq!(params["requestState"], "s1");
        server.reply(&id, json!({}));
        server
    };
    let (done, _server) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_round_withdraws_its_questions() {
    let (client, mut server, mut stage) = modern(Wish::default()).await;
    let stop = CancellationToken::new();
    let play = async {
        let (id, _) = server.expect("tools/call").await;
        server.reply(&id, asking(json!({"a": elicit(form("Name?"))}), "s1"));
        let question = stage.question().await;
        stop.cancel();
        question.stop.cancelled().await;
    };
    let (done, ()) = tokio::join!(call(&client, None, &stop), play);
    assert!(matches!(done, Err(ClientError::Interrupted { .. })));
}
