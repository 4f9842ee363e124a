use std::time::Duration;

use serde_json::{Map, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::fake::{Wish, legacy, modern, stage};
use crate::client::{Client, NoticeKind};

#[tokio::test(start_paused = true)]
async fn a_modern_subscription_lasts_until_it_is_stopped_or_ended() {
    for is_ended in [false, true] {
        let (client, mut server, stage) = modern(Wish::default()).await;
        let stop = CancellationToken::new();
        let filter = Map::from_iter([("toolsListChanged".to_owned(), json!(true))]);
        let play = async {
            let (id, params) = server.expect("subscriptions/listen").await;
            assert_eq!(params["notifications"], json!({"toolsListChanged": true}));
            tokio::time::sleep(Duration::from_secs(100_000)).await;
            server.notify("notifications/tools/list_changed", json!({}));
            if is_ended {
                server.notify("notifications/cancelled", json!({"requestId": id.to_value()}));
            } else {
                tokio::time::sleep(Duration::from_secs(1)).await;
                stop.cancel();
                let (_, params) = server.expect("notifications/cancelled").await;
                assert_eq!(params["requestId"], id.to_value());
            }
        };
        let (done, ()) = tokio::join!(client.listen(filter, &stop), play);
        assert!(done.is_ok());
        assert!(stage.notices().iter().any(|kind| matches!(kind, NoticeKind::Changed { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn a_legacy_server_is_subscribed_to_resource_by_resource() {
    let (client, mut server, _stage) = legacy(Wish::default()).await;
    let stop = CancellationToken::new();
    let filter = Map::from_iter([("resourceSubscriptions".to_owned(), json!(["file:///a", "file:///b"]))]);
    let play = async {
        for uri in ["file:///a", "file:///b"] {
            let (id, params) = server.expect("resources/subscribe").await;
            assert_eq!(params["uri"], uri);
            server.reply(&id, json!({}));
        }
        stop.cancel();
    };
    let (done, ()) = tokio::join!(client.listen(filter, &stop), play);
    assert!(done.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_about_its_log_holds_up_nobody_for_long() {
    let (opener, mut stage) = stage(Wish { log_level: Some("debug".into()), ..Wish::default() });
    let (stop, start) = (CancellationToken::new(), Instant::now());
    let play = async {
        let mut server = stage.peer().await;
        server.open_legacy_with(json!({"logging": {}})).await;
        let (_, params) = server.expect("logging/setLevel").await;
        assert_eq!(params["level"], "debug");
        server
    };
    let (client, _server) = tokio::join!(Client::open(opener, &stop), play);
    assert!(client.is_ok());
    assert_eq!(start.elapsed().as_secs(), 1);
}
