use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::fake::{Peer, Wish, greet, stage};
use crate::{
    client::{Client, ClientError},
    protocol::{Frame, Id, ProtocolChoice, Revision},
    transport::TransportError,
};

/// Opens a client against one server after the other, each played by a step of `play`.
async fn open(
    wish: Wish,
    play: impl AsyncFnOnce(&mut tokio::sync::mpsc::UnboundedReceiver<Peer>) -> Option<Peer>,
) -> (Result<Client, ClientError>, Option<Peer>) {
    let (opener, mut stage) = stage(wish);
    let stop = CancellationToken::new();
    let (client, peer) = tokio::join!(Client::open(opener, &stop), play(&mut stage.peers));
    (client, peer)
}

/// Opens a client against a server that turns out to be modern.
async fn open_as_modern(wish: Wish) {
    let _ = open(wish, async |peers| {
        let mut server = peers.recv().await?;
        server.open_modern().await;
        Some(server)
    })
    .await;
}

fn revision(client: &Result<Client, ClientError>) -> Revision {
    client.as_ref().expect("connected").info().revision
}

#[tokio::test(start_paused = true)]
async fn an_old_server_that_refuses_the_probe_is_spoken_to_as_before() {
    let start = Instant::now();
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        let (id, params) = server.expect("server/discover").await;
        assert_eq!(params["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        server.refuse(&id, -32000, None);
        let (id, params) = server.expect("initialize").await;
        assert_eq!(params["protocolVersion"], "2025-11-25");
        assert_eq!(params["capabilities"]["elicitation"], json!({"form": {}, "url": {}}));
        assert_eq!(params["clientInfo"]["name"], "toolnexus");
        server.reply(&id, json!({"protocolVersion": "2024-11-05", "serverInfo": {"name": "old"}}));
        server.expect("notifications/initialized").await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2024_11_05);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_ping_before_the_handshake_is_answered_and_notifications_are_taken() {
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        let (id, _) = server.expect("server/discover").await;
        server.refuse(&id, -32601, None);
        let (id, _) = server.expect("initialize").await;
        server.notify("notifications/tools/list_changed", json!({}));
        server.say(Frame::request(&Id::from("p"), "ping", None));
        assert_eq!(server.expect_reply(&Id::from("p")).await, json!({}));
        server.reply(&id, json!({"protocolVersion": "2025-11-25"}));
        server.expect("notifications/initialized").await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_11_25);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_on_the_probe_is_started_again() {
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        server.expect("server/discover").await;
        drop(server);
        let mut server = peers.recv().await?;
        server.initialize(json!({})).await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_11_25);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_the_probe_and_dies_is_started_again() {
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        let (id, _) = server.expect("server/discover").await;
        server.refuse(&id, -32700, None);
        server.expect("initialize").await;
        drop(server);
        let mut server = peers.recv().await?;
        server.initialize(json!({})).await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_11_25);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_the_probe_costs_a_second() {
    let start = Instant::now();
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        server.expect("server/discover").await;
        server.initialize(json!({})).await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_11_25);
    assert_eq!(start.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_slow_modern_server_is_not_misjudged() {
    for refuses in [true, false] {
        let (client, peer) = open(Wish::default(), async |peers| {
            let mut server = peers.recv().await?;
            sleep(Duration::from_secs(20)).await;
            server.open_modern().await;
            let (id, _) = server.expect("initialize").await;
            if refuses {
                server.refuse(&id, -32601, None);
            }
            Some(server)
        })
        .await;
        assert_eq!(revision(&client), Revision::V2026_07_28);
        assert!(peer.expect("a server").heard().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_old_server_is_not_misjudged_and_its_late_answer_dropped() {
    for late in [false, true] {
        let (opener, mut stage) = stage(Wish::default());
        let stop = CancellationToken::new();
        let play = async {
            let mut server = stage.peer().await;
            sleep(Duration::from_secs(20)).await;
            let (probe, _) = server.expect("server/discover").await;
            if !late {
                server.refuse(&probe, -32601, None);
            }
            server.initialize(json!({})).await;
            if late {
                server.refuse(&probe, -32601, None);
            }
            let (call, _) = server.expect("tools/call").await;
            server.reply(&call, json!({}));
        };
        let used = async {
            let client = Client::open(opener, &stop).await.expect("connected");
            assert_eq!(client.info().revision, Revision::V2025_11_25);
            greet(&client).await
        };
        let (done, ()) = tokio::join!(used, play);
        assert!(done.is_ok());
        assert_eq!(stage.warnings(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_of_both_eras_goes_on_as_the_handshake_says_and_is_remembered_modern() {
    let cache = tempfile::tempdir().expect("a folder");
    let wish = || Wish { cache: Some(cache.path().to_owned()), ..Wish::default() };
    let (client, _peer) = open(wish(), async |peers| {
        let mut server = peers.recv().await?;
        sleep(Duration::from_secs(3)).await;
        server.open_modern().await;
        server.initialize(json!({})).await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_11_25);
    let (client, peer) = open(wish(), async |peers| peers.recv().await).await;
    assert_eq!(revision(&client), Revision::V2026_07_28);
    assert!(peer.expect("a server").heard().is_none());
}

#[tokio::test(start_paused = true)]
async fn other_versions_are_chosen_or_refused_by_name() {
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        let (id, _) = server.expect("server/discover").await;
        server.refuse(&id, -32022, Some(json!({"supported": ["2027-01-01"]})));
        Some(server)
    })
    .await;
    assert!(matches!(client.err(), Some(ClientError::Version { offered, .. }) if offered == "2027-01-01"));
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        let (id, _) = server.expect("server/discover").await;
        server.refuse(&id, -32601, None);
        let (id, _) = server.expect("initialize").await;
        server.reply(&id, json!({"protocolVersion": "1.0"}));
        Some(server)
    })
    .await;
    assert!(matches!(client.err(), Some(ClientError::Version { offered, .. }) if offered == "1.0"));
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        let (id, _) = server.expect("server/discover").await;
        server.refuse(&id, -32601, None);
        let (id, _) = server.expect("initialize").await;
        server.refuse(&id, -32000, Some(json!({"supported": ["2025-06-18"]})));
        let (id, params) = server.expect("initialize").await;
        assert_eq!(params["protocolVersion"], "2025-06-18");
        server.reply(&id, json!({"protocolVersion": "2025-06-18"}));
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_06_18);
}

#[tokio::test(start_paused = true)]
async fn the_second_run_sends_no_probe() {
    let cache = tempfile::tempdir().expect("a folder");
    let wish = || Wish { cache: Some(cache.path().to_owned()), ..Wish::default() };
    let _ = open(wish(), async |peers| {
        let mut server = peers.recv().await?;
        server.open_legacy().await;
        Some(server)
    })
    .await;
    let (client, _peer) = open(wish(), async |peers| {
        let mut server = peers.recv().await?;
        server.initialize(json!({})).await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_11_25);
    // It has become modern in the meantime.
    let (client, _peer) = open(wish(), async |peers| {
        let mut server = peers.recv().await?;
        let (id, _) = server.expect("initialize").await;
        server.refuse(&id, -32601, None);
        let mut server = peers.recv().await?;
        server.open_modern().await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2026_07_28);
    let (client, peer) = open(wish(), async |peers| peers.recv().await).await;
    assert_eq!(revision(&client), Revision::V2026_07_28);
    assert!(peer.expect("a server").heard().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_not_modern_any_more_is_found_out_about_at_the_first_request() {
    for dies in [false, true] {
        let cache = tempfile::tempdir().expect("a folder");
        let wish = || Wish { cache: Some(cache.path().to_owned()), ..Wish::default() };
        open_as_modern(wish()).await;
        let (opener, mut stage) = stage(wish());
        let stop = CancellationToken::new();
        let play = async {
            let mut server = stage.peer().await;
            let (list, _) = server.expect("tools/list").await;
            if !dies {
                server.refuse(&list, -32000, None);
                let (probe, _) = server.expect("server/discover").await;
                server.refuse(&probe, -32000, None);
            }
            drop(server);
            let mut server = stage.peer().await;
            server.open_legacy().await;
            let (list, _) = server.expect("tools/list").await;
            server.reply(&list, json!({"tools": [{"name": "a"}]}));
            server
        };
        let used = async {
            let client = Client::open(opener, &stop).await.expect("connected");
            let tools = client.list_tools(&stop).await.expect("tools");
            (client, tools.len())
        };
        let ((client, tools), _server) = tokio::join!(used, play);
        assert_eq!((client.info().revision, tools), (Revision::V2025_11_25, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_remembered_server_that_refuses_one_request_is_believed() {
    let cache = tempfile::tempdir().expect("a folder");
    let wish = || Wish { cache: Some(cache.path().to_owned()), ..Wish::default() };
    open_as_modern(wish()).await;
    let (opener, mut stage) = stage(wish());
    let stop = CancellationToken::new();
    let play = async {
        let mut server = stage.peer().await;
        let (call, _) = server.expect("tools/call").await;
        server.refuse(&call, -32602, None);
        server.open_modern().await;
    };
    let used = async {
        let client = Client::open(opener, &stop).await.expect("connected");
        greet(&client).await
    };
    let (done, ()) = tokio::join!(used, play);
    assert!(matches!(done, Err(ClientError::Rpc { error, .. }) if error.code == -32602));
}

#[tokio::test(start_paused = true)]
async fn a_fixed_revision_is_spoken_without_a_probe() {
    let fixed = |revision| Wish { protocol: ProtocolChoice::Fixed(revision), ..Wish::default() };
    let (client, _peer) = open(fixed(Revision::V2025_03_26), async |peers| {
        let mut server = peers.recv().await?;
        let (id, params) = server.expect("initialize").await;
        assert_eq!(params["protocolVersion"], "2025-03-26");
        server.reply(&id, json!({"protocolVersion": "2025-03-26"}));
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_03_26);
    let (client, _peer) = open(fixed(Revision::V2026_07_28), async |peers| {
        let mut server = peers.recv().await?;
        let (id, _) = server.expect("server/discover").await;
        server.refuse(&id, -32601, None);
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2026_07_28);
}

#[tokio::test(start_paused = true)]
async fn http_refusals_mean_what_the_transport_page_says() {
    let http = |status| TransportError::Http { status, body: String::new(), challenge: None, retry_after: None };
    let (client, _peer) = open(Wish::default(), async |peers| {
        let mut server = peers.recv().await?;
        let (id, _) = server.expect("server/discover").await;
        server.fail(&id, http(400));
        server.initialize(json!({})).await;
        Some(server)
    })
    .await;
    assert_eq!(revision(&client), Revision::V2025_11_25);
    for (status, expected) in [(401, "unauthorized"), (500, "connect")] {
        let (client, _peer) = open(Wish::default(), async |peers| {
            let mut server = peers.recv().await?;
            let (id, _) = server.expect("server/discover").await;
            server.fail(&id, http(status));
            if status == 500 {
                // Each is asked once more, after a pause.
                for method in ["server/discover", "initialize", "initialize"] {
                    let (id, _) = server.expect(method).await;
                    server.fail(&id, http(status));
                }
            }
            Some(server)
        })
        .await;
        let kind = match client.expect_err("an error") {
            ClientError::Unauthorized(_) => "unauthorized",
            ClientError::Connect(TransportError::Http { status: 500, .. }) => "connect",
            other => panic!("{other}"),
        };
        assert_eq!(kind, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_strict_old_server_is_opened_again_without_the_sub_keys() {
    for dies in [false, true] {
        let (client, _peer) = open(Wish::default(), async |peers| {
            let mut server = peers.recv().await?;
            let (id, _) = server.expect("server/discover").await;
            server.refuse(&id, -32601, None);
            let (id, params) = server.expect("initialize").await;
            assert!(params["capabilities"]["elicitation"].get("url").is_some());
            if dies {
                let line = "ValidationError: capabilities.elicitation.form: Extra inputs are not permitted";
                server.end(&[line]);
                // It exits after a refused probe, and is started again without one.
                let mut server = peers.recv().await?;
                server.expect("initialize").await;
                server.end(&[line]);
            } else {
                server.refuse(&id, -32602, json!("capabilities.elicitation: unrecognized key form"));
            }
            let mut server = peers.recv().await?;
            let (id, _) = server.expect("server/discover").await;
            server.refuse(&id, -32601, None);
            let (id, params) = server.expect("initialize").await;
            assert_eq!(params["capabilities"], json!({"elicitation": {}}));
            server.reply(&id, json!({"protocolVersion": "2025-06-18"}));
            server.expect("notifications/initialized").await;
            Some(server)
        })
        .await;
        assert_eq!(revision(&client), Revision::V2025_06_18);
    }
}
