use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::fake::{Wish, greet, legacy, link, modern, stage};
use crate::{
    client::{Client, ClientError, Times},
    protocol::{Frame, Id},
};

const SECOND: Duration = Duration::from_secs(1);

fn quick() -> Wish {
    Wish { times: Some(Times { call_silence: 2 * SECOND, ..Times::default() }), ..Wish::default() }
}

#[tokio::test(start_paused = true)]
async fn a_silent_call_times_out_and_is_cancelled_on_the_server() {
    let (client, mut server, stage) = legacy(quick()).await;
    let start = Instant::now();
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        let (_, params) = server.expect("notifications/cancelled").await;
        assert_eq!(params, json!({"requestId": call.to_value(), "reason": "timed out"}));
        server.reply(&call, json!({"late": true}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(matches!(done, Err(ClientError::TimedOut { after, .. }) if after == 2 * SECOND));
    assert_eq!(start.elapsed().as_secs(), 2);
    client.close().await;
    assert_eq!(stage.warnings(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_clock_is_paused_while_questions_are_open() {
    let (client, mut server, mut stage) = legacy(quick()).await;
    let play = async {
        let (call, _) = server.expect("tools/call").await;
        sleep(SECOND).await;
        server.ask(&Id::from(1));
        server.ask(&Id::from(2));
        let (first, second) = (stage.question().await, stage.question().await);
        sleep(50 * SECOND).await;
        first.accept(json!({}));
        sleep(50 * SECOND).await;
        second.accept(json!({}));
        server.expect_reply(&Id::from(1)).await;
        server.expect_reply(&Id::from(2)).await;
        // The limit starts again: the answer was a sign of life.
        sleep(SECOND + SECOND / 2).await;
        server.reply(&call, json!({}));
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(done.is_ok());
}

#[tokio::test(start_paused = true)]
async fn progress_is_a_sign_of_life_up_to_the_longest_time() {
    let times = Times { call_silence: 2 * SECOND, call_total: 5 * SECOND, ..Times::default() };
    let (client, mut server, _stage) = legacy(Wish { times: Some(times), ..Wish::default() }).await;
    let start = Instant::now();
    let play = async {
        let (_, params) = server.expect("tools/call").await;
        for progress in 0..20 {
            sleep(SECOND).await;
            let token = &params["_meta"]["progressToken"];
            server.notify("notifications/progress", json!({"progressToken": token, "progress": progress}));
        }
    };
    let (done, ()) = tokio::join!(greet(&client), play);
    assert!(matches!(done, Err(ClientError::TimedOut { after, .. }) if after == 5 * SECOND));
    assert!(start.elapsed() >= 5 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn an_accepted_link_is_waited_for_without_the_clock_until_its_notice() {
    for notice in [true, false] {
        let (client, mut server, mut stage) = legacy(quick()).await;
        let play = async {
            let (call, _) = server.expect("tools/call").await;
            server.say(Frame::request(&Id::from(1), "elicitation/create", Some(&link("e7"))));
            stage.question().await.accept(json!({}));
            assert_eq!(server.expect_reply(&Id::from(1)).await, json!({"action": "accept"}));
            sleep(100 * SECOND).await;
            if notice {
                server.notify("notifications/elicitation/complete", json!({"elicitationId": "unknown"}));
                server.notify("notifications/elicitation/complete", json!({"elicitationId": "e7"}));
                sleep(SECOND).await;
                server.reply(&call, json!({}));
            }
        };
        let start = Instant::now();
        let (done, ()) = tokio::join!(greet(&client), play);
        if notice {
            assert!(done.is_ok());
        } else {
            // 120 s of waiting, and the 2 s of silence after it.
            assert!(matches!(done, Err(ClientError::TimedOut { .. })));
            assert_eq!(start.elapsed().as_secs(), 122);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_listing_has_its_time_for_all_its_pages() {
    let (client, mut server, _stage) = modern(Wish::default()).await;
    let start = Instant::now();
    let play = async {
        for page in 0.. {
            let Some(frame) = server.hear().await else { return };
            sleep(10 * SECOND).await;
            if let (Some("tools/list"), Some(id)) = (frame.method(), frame.id()) {
                server.reply(id, json!({"tools": [], "nextCursor": page.to_string()}));
            }
        }
    };
    let stop = tokio_util::sync::CancellationToken::new();
    let done = tokio::select! {
        done = client.list_tools(&stop) => done,
        () = play => unreachable!("the client stays"),
    };
    assert!(matches!(done, Err(ClientError::TimedOut { .. })));
    assert_eq!(start.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_listing_in_circles_is_cut() {
    let (client, mut server, stage) = modern(Wish::default()).await;
    let play = async {
        for _ in 0..2 {
            let (id, _) = server.expect("tools/list").await;
            server.reply(&id, json!({"tools": [{"name": "a"}, {"no": "name"}], "nextCursor": "again"}));
        }
    };
    let stop = tokio_util::sync::CancellationToken::new();
    let (tools, ()) = tokio::join!(client.list_tools(&stop), play);
    assert_eq!(tools.expect("tools").len(), 1, "a page that comes again is one");
    // The circle, and the entry without a name.
    assert_eq!(stage.warnings(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_speaks_is_given_up_after_the_start_time() {
    let (opener, mut stage) = stage(Wish::default());
    let stop = tokio_util::sync::CancellationToken::new();
    let start = Instant::now();
    let play = async {
        let mut server = stage.peer().await;
        while server.hear().await.is_some() {}
    };
    let (client, ()) = tokio::join!(Client::open(opener, &stop), play);
    assert!(matches!(client.err(), Some(ClientError::TimedOut { .. })));
    assert_eq!(start.elapsed().as_secs(), 30);
}
