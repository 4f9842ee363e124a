//! HTTP+SSE of 2024-11-05, through the library.

use std::{sync::Mutex, time::Duration};

use serde_json::json;
use toolnexus::{
    protocol::Revision,
    transport::{HttpEndpoint, HttpKind, Incoming, Limits, Transport, TransportError, http},
};

use super::{
    server::{Reply, Server},
    transport::{connect, endpoint, failure, frame, next, request, result},
};

/// A server that names `post` as its second endpoint, refuses the first with `refusal`, and answers on the stream.
fn two_endpoints(post: &'static str, refusal: u16) -> Server {
    let stream: Mutex<Option<Reply>> = Mutex::new(None);
    Server::start(move |request, reply| match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/mcp") => {
            reply.stream("");
            reply.raw(format!(": hello\n\nevent: endpoint\ndata: {post}\n\n").as_bytes());
            *stream.lock().expect("mine") = Some(reply.another());
            reply.wait_for_close();
        }
        ("POST", "/messages?session=1") => {
            reply.respond(202, "", b"Accepted");
            if request.rpc() == "stop" {
                stream.lock().expect("mine").take().expect("open").end();
            } else if request.json()["id"].is_number() {
                stream.lock().expect("mine").as_mut().expect("open").event(&result(request));
            }
        }
        _ => reply.respond(refusal, "Content-Type: text/html\r\n", b"<html>no</html>"),
    })
}

fn configured(server: &Server) -> Box<dyn Transport> {
    let endpoint = HttpEndpoint { kind: HttpKind::Sse, ..endpoint(&server.url("/mcp")) };
    http::connect(&endpoint, Limits::default(), None).expect("a transport")
}

#[tokio::test]
async fn a_refused_handshake_leads_to_the_old_transport() {
    for refusal in [400, 404, 405] {
        let server = two_endpoints("/messages?session=1", refusal);
        let mut transport = connect(&server);
        transport.send(request(1, "server/discover").into()).expect("sent");
        let error = failure(&mut transport).await;
        assert!(matches!(error, TransportError::Http { status, .. } if status == refusal), "{error:?}");
        transport.send(request(2, "initialize").into()).expect("sent");
        assert_eq!(frame(&mut transport).await["id"], 2);
        transport.agree(Revision::V2024_11_05);
        transport.send(request(3, "tools/list").into()).expect("sent");
        assert_eq!(frame(&mut transport).await["id"], 3);
        let seen = server.seen();
        let ways: Vec<String> = seen.iter().map(|request| format!("{} {}", request.method, request.path)).collect();
        let post = "POST /messages?session=1";
        assert_eq!(ways, ["POST /mcp", "POST /mcp", "GET /mcp", post, post]);
        assert!(seen.iter().all(|request| request.header("x-key") == Some("s3cret")));
    }
}

#[tokio::test]
async fn the_old_transport_can_be_configured_and_ends_with_its_stream() {
    let server = two_endpoints("messages?session=1", 500);
    let mut transport = configured(&server);
    transport.send(request(1, "initialize").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 1);
    assert_eq!(server.seen()[0].method, "GET");
    transport.send(request(2, "stop").into()).expect("sent");
    let Incoming::Closed(closed) = next(&mut transport).await else { panic!("not closed") };
    assert_eq!(closed.reason, "the server closed the event stream");
    assert!(matches!(transport.send(request(3, "ping").into()), Err(TransportError::Closed(_))));
    assert!(matches!(next(&mut transport).await, Incoming::Closed(_)));
}

#[tokio::test]
async fn messages_go_to_no_other_origin() {
    let other = Server::start(|_, reply| reply.empty(202));
    let server = two_endpoints(other.url("/messages").leak(), 500);
    let mut transport = configured(&server);
    transport.send(request(1, "initialize").into()).expect("sent");
    let error = failure(&mut transport).await.to_string();
    assert!(error.contains(&other.url("/messages")), "{error}");
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn the_first_failure_is_the_one_that_is_reported() {
    let down = Server::start(|_, reply| reply.respond(500, "", b"db down"));
    let mut transport = connect(&down);
    transport.send(request(1, "initialize").into()).expect("sent");
    assert_eq!(failure(&mut transport).await.to_string(), "the server answered with HTTP 500: db down");
    assert_eq!(down.seen().len(), 1);

    let website = Server::start(|request, reply| match request.method.as_str() {
        "GET" => reply.respond(200, "Content-Type: text/html\r\n", b"<html>Welcome</html>"),
        _ => reply.respond(404, "", b"Cannot POST /mcp"),
    });
    let mut transport = connect(&website);
    transport.send(request(1, "initialize").into()).expect("sent");
    assert_eq!(failure(&mut transport).await.to_string(), "the server answered with HTTP 404: Cannot POST /mcp");

    let picky = Server::start(|_, reply| {
        let message = "Unsupported protocol version (supported: 2025-06-18)";
        reply.json(400, &json!({"error": {"code": -32000, "message": message}}));
    });
    let mut transport = connect(&picky);
    transport.send(request(1, "initialize").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["error"]["code"], -32000);
    assert_eq!(picky.seen().len(), 1);
}

#[tokio::test]
async fn a_stream_that_is_something_else_is_no_old_transport() {
    let server = Server::start(|request, reply| {
        if request.method == "POST" {
            return reply.empty(405);
        }
        reply.stream("");
        reply.event(&json!({"method": "notifications/message"}));
        reply.wait_for_close();
    });
    let mut transport = connect(&server);
    transport.send(request(1, "initialize").into()).expect("sent");
    let error = tokio::time::timeout(Duration::from_secs(5), failure(&mut transport)).await.expect("soon");
    assert_eq!(error.to_string(), "the server answered with HTTP 405");
}

#[tokio::test]
async fn an_answer_in_the_response_counts_too() {
    let server = Server::start(|request, reply| match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/mcp") => {
            reply.stream("");
            reply.raw(b"event: endpoint\ndata: /messages\n\n");
            reply.wait_for_close();
        }
        ("POST", "/messages") if request.rpc() == "ping" => reply.json(202, &json!({"accepted": true})),
        ("POST", "/messages") => reply.json(200, &result(request)),
        _ => reply.empty(405),
    });
    let mut transport = connect(&server);
    transport.send(request(1, "initialize").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 1);
    transport.send(request(2, "ping").into()).expect("sent");
    transport.send(request(3, "tools/list").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 3);
}
