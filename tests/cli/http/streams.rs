//! Streams through the library: resumed, cancelled, redirected.

use std::time::{Duration, Instant};

use serde_json::json;
use toolnexus::protocol::{Frame, Id};

use super::{
    server::Server,
    transport::{connect, error_of, failure, frame, modern, request, result},
};

#[tokio::test]
async fn a_stream_that_stops_is_resumed_after_the_pause_it_asks_for() {
    let server = Server::start(|request, reply| match request.method.as_str() {
        "POST" => {
            reply.stream("");
            reply.raw(b"id: one\nretry: 300\ndata:\n\n");
        }
        _ if request.header("last-event-id") == Some("one") => {
            reply.stream("");
            reply.raw(b"id: two\ndata: {\"method\":\"n\"}\n\n");
        }
        _ => {
            reply.stream("");
            reply.raw(b"id: three\ndata: {\"id\":1,\"result\":{}}\n\n");
        }
    });
    let mut transport = connect(&server);
    let began = Instant::now();
    transport.send(request(1, "tools/call").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["method"], "n");
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(frame(&mut transport).await["id"], 1);
    let places: Vec<_> =
        server.seen().iter().map(|request| request.header("last-event-id").map(str::to_owned)).collect();
    assert_eq!(places, [None, Some("one".to_owned()), Some("two".to_owned())]);
}

#[tokio::test]
async fn what_cannot_be_resumed_fails_immediately() {
    let refused = error_of(|request, reply| {
        if request.method == "GET" {
            return reply.empty(405);
        }
        reply.stream("");
        reply.raw(b"id: one\nretry: 1\ndata:\n\n");
    });
    let expected = "there was no usable answer: the stream ended before the answer, and could not be resumed: the \
                    server answered with HTTP 405";
    assert_eq!(refused.await, expected);
    let server = Server::start(|_, reply| {
        reply.stream("");
        reply.raw(b"id: one\nretry: 1\ndata:\n\n");
    });
    let mut transport = connect(&server);
    transport.send(modern(1, "tools/call").into()).expect("sent");
    assert_eq!(
        failure(&mut transport).await.to_string(),
        "there was no usable answer: the stream ended before the answer"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn replies_go_out_while_their_call_is_under_way() {
    let (answered, wait) = std::sync::mpsc::channel();
    let wait = std::sync::Mutex::new(wait);
    let server = Server::start(move |request, reply| {
        if request.json()["id"] == "ask" {
            answered.send(()).expect("waited for");
            return reply.empty(202);
        }
        reply.stream("");
        reply.event(&json!({"id": "ask", "method": "elicitation/create", "params": {}}));
        wait.lock().expect("mine").recv_timeout(Duration::from_secs(5)).expect("the reply, while this is open");
        reply.event(&result(request));
    });
    let mut transport = connect(&server);
    transport.send(request(1, "tools/call").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["method"], "elicitation/create");
    transport.send(Frame::result(&Id::from("ask"), &json!({"action": "cancel"})).into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 1);
}

#[tokio::test]
async fn cancelling_closes_the_stream_and_only_modern_servers_are_told_by_it() {
    let (closed, told) = std::sync::mpsc::channel();
    let closed = std::sync::Mutex::new(closed);
    let server = Server::start(move |_, reply| {
        reply.stream("");
        let gone = reply.wait_for_close();
        closed.lock().expect("mine").send(gone).expect("waited for");
    });
    let mut transport = connect(&server);
    for (frame, tells) in [(modern(1, "tools/call"), true), (request(1, "tools/call"), false)] {
        let seen = server.seen().len();
        transport.send(frame.into()).expect("sent");
        while server.seen().len() == seen {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(transport.cancel(&Id::from(1)), tells);
        tokio::task::yield_now().await;
        assert!(told.recv_timeout(Duration::from_secs(5)).expect("told"));
        assert!(!transport.cancel(&Id::from(1)));
    }
}

#[tokio::test]
async fn our_headers_stay_with_our_origin() {
    let other = Server::start(|request, reply| reply.json(200, &result(request)));
    let target = other.url("/there");
    let server = Server::start(move |request, reply| match request.path.as_str() {
        "/mcp" => reply.respond(307, "Location: /moved\r\n", b""),
        "/moved" => reply.respond(308, &format!("Location: {target}\r\n"), b""),
        _ => reply.empty(404),
    });
    let mut transport = connect(&server);
    transport.send(modern(1, "tools/call").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 1);
    let (seen, away) = (server.seen(), other.seen());
    assert!(seen.iter().all(|request| request.header("x-key") == Some("s3cret")), "{seen:?}");
    assert_eq!(seen[1].json(), seen[0].json());
    assert_eq!(away[0].header("x-key"), None);
    assert_eq!(away[0].header("mcp-method"), Some("tools/call"));
    assert_eq!(away[0].json(), seen[0].json());
    let dropped = error_of(|_, reply| reply.respond(302, "Location: /login\r\n", b""));
    let expected =
        "there was no usable answer: HTTP 302 to /login, which would drop the message: configure that address itself";
    assert_eq!(dropped.await, expected);
    let round = error_of(|_, reply| reply.respond(307, "Location: /mcp\r\n", b""));
    assert_eq!(round.await, "there was no usable answer: more than 5 redirects");
}
