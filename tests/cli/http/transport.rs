//! The HTTP transport by itself, through the library.

use std::time::Duration;

use serde_json::{Value, json};
use toolnexus::{
    protocol::{Frame, Id, Revision},
    transport::{Grace, HttpEndpoint, HttpKind, Incoming, Limits, Transport, TransportError, http},
};

use super::server::{Reply, Request, Server};

pub(super) fn endpoint(url: &str) -> HttpEndpoint {
    HttpEndpoint {
        url: url.parse().expect("an address"),
        headers: vec![("X-Key".into(), "s3cret".into())],
        kind: HttpKind::Auto,
        ca_file: None,
        insecure: false,
    }
}

pub(super) fn connect(server: &Server) -> Box<dyn Transport> {
    connect_with(server, Limits::default())
}

pub(super) fn connect_with(server: &Server, limits: Limits) -> Box<dyn Transport> {
    http::connect(&endpoint(&server.url("/mcp")), limits, None).expect("a transport")
}

pub(super) fn request(id: u64, method: &str) -> Frame {
    Frame::request(&Id::from(id), method, Some(&json!({})))
}

pub(super) fn modern(id: u64, method: &str) -> Frame {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    Frame::request(&Id::from(id), method, Some(&json!({"name": "greet", "_meta": meta})))
}

pub(super) async fn next(transport: &mut Box<dyn Transport>) -> Incoming {
    tokio::time::timeout(Duration::from_secs(10), transport.next()).await.expect("something within 10 s")
}

pub(super) async fn frame(transport: &mut Box<dyn Transport>) -> Value {
    match next(transport).await {
        Incoming::Frame(frame) | Incoming::During(_, frame) => serde_json::from_slice(frame.bytes()).expect("JSON"),
        other => panic!("no frame: {other:?}"),
    }
}

pub(super) async fn failure(transport: &mut Box<dyn Transport>) -> TransportError {
    match next(transport).await {
        Incoming::Failed { error, .. } => error,
        other => panic!("no failure: {other:?}"),
    }
}

pub(super) fn result(request: &Request) -> Value {
    json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": {}})
}

/// Sends one request to a server that answers it like this, and returns the outcome.
async fn outcome(answer: impl Fn(&Request, &mut Reply) + Send + Sync + 'static) -> Incoming {
    outcome_within(Limits::default(), answer).await
}

async fn outcome_within(limits: Limits, answer: impl Fn(&Request, &mut Reply) + Send + Sync + 'static) -> Incoming {
    let server = Server::start(answer);
    let mut transport = connect_with(&server, limits);
    transport.send(request(1, "tools/call").into()).expect("sent");
    next(&mut transport).await
}

pub(super) async fn error_of(answer: impl Fn(&Request, &mut Reply) + Send + Sync + 'static) -> String {
    match outcome(answer).await {
        Incoming::Failed { error, .. } => error.to_string(),
        other => panic!("no failure: {other:?}"),
    }
}

#[tokio::test]
async fn json_and_event_streams_answer_any_request() {
    let json = outcome(|request, reply| reply.json(200, &result(request))).await;
    assert!(matches!(json, Incoming::Frame(_)), "{json:?}");
    let untyped = outcome(|request, reply| reply.respond(200, "", result(request).to_string().as_bytes())).await;
    assert!(matches!(untyped, Incoming::Frame(_)), "{untyped:?}");
    let server = Server::start(|request, reply| {
        reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; Charset=UTF-8\r\nConnection: close\r\n\r\n");
        reply.raw(b": hi\r\n\r\nid: 1\ndata:\n\nevent: ping\ndata: 12:00\n\n");
        reply.event(&json!({"method": "notifications/progress", "params": {}}));
        reply.event(&result(request));
        reply.close();
    });
    let mut transport = connect(&server);
    transport.send(request(7, "tools/call").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["method"], "notifications/progress");
    assert_eq!(frame(&mut transport).await["id"], 7);
}

#[tokio::test]
async fn ten_thousand_notifications_come_in_order() {
    let server = Server::start(|request, reply| {
        reply.stream("");
        let events: String =
            (0..10_000).fold(String::new(), |text, n| text + &format!("data: {{\"method\":\"n/{n}\"}}\n\n"));
        reply.raw(events.as_bytes());
        reply.event(&result(request));
    });
    let mut transport = connect(&server);
    transport.send(request(1, "tools/call").into()).expect("sent");
    for n in 0..10_000 {
        assert_eq!(frame(&mut transport).await["method"], format!("n/{n}"));
    }
    assert_eq!(frame(&mut transport).await["id"], 1);
}

#[tokio::test]
async fn any_success_is_fine_for_a_notification() {
    for head in ["", "Content-Type: text/plain\r\n", "Content-Type: text/html\r\n"] {
        for (status, body) in [(202, ""), (204, ""), (200, ""), (200, "ok")] {
            let server = Server::start(move |request, reply| match request.rpc().as_str() {
                "notifications/message" => reply.respond(status, head, body.as_bytes()),
                _ => reply.json(200, &result(request)),
            });
            let mut transport = connect(&server);
            transport.send(Frame::notification("notifications/message", None).into()).expect("sent");
            transport.send(request(1, "ping").into()).expect("sent");
            assert_eq!(frame(&mut transport).await["id"], 1);
            transport.close(Grace::Exactly(Duration::from_secs(5))).await;
            assert_eq!(server.seen().len(), 2);
        }
    }
    let server = Server::start(|_, reply| reply.respond(500, "", b"db down"));
    let mut transport = connect(&server);
    transport.send(Frame::notification("notifications/message", None).into()).expect("sent");
    let Incoming::Undelivered { what, error } = next(&mut transport).await else { panic!("delivered") };
    assert_eq!(
        (what.as_str(), error.to_string().as_str()),
        ("notifications/message", "the server answered with HTTP 500: db down")
    );
}

#[tokio::test]
async fn errors_in_refusals_belong_to_the_request() {
    for id in [json!(null), json!(1), json!("server-error")] {
        let error =
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32022, "message": "no", "data": {"supported": []}}});
        let Incoming::Frame(frame) = outcome(move |_, reply| reply.json(400, &error)).await else { panic!("no frame") };
        assert_eq!(frame.id(), Some(&Id::from(1)));
        assert_eq!(frame.body_value().expect("JSON")["data"], json!({"supported": []}));
    }
}

#[tokio::test]
async fn invalid_answers_have_their_own_error() {
    assert_eq!(
        error_of(|_, reply| reply.respond(500, "", b"db\n down")).await,
        "the server answered with HTTP 500: db down"
    );
    assert_eq!(error_of(|_, reply| reply.empty(202)).await, "there was no usable answer: HTTP 202 without a body");
    let html =
        error_of(|_, reply| reply.respond(200, "Content-Type: text/html; charset=x\r\n", b"<html>Hello</html>")).await;
    assert_eq!(html, "there was no usable answer: text/html instead of JSON: <html>Hello</html>");
    let ended = error_of(|_, reply| {
        reply.stream("");
        reply.raw(b": hi\n\n");
    });
    assert_eq!(ended.await, "there was no usable answer: the stream ended before the answer");
    let cut = error_of(|_, reply| {
        reply.stream("Transfer-Encoding: chunked\r\n");
        reply.raw(b"1f\r\ndata: {\"id\":1,\"result\":{\"hal\r\n");
    });
    assert!(cut.await.starts_with("there was no usable answer: the stream was cut off before the answer: "));
    let short = error_of(|_, reply| {
        reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"id\":1");
        reply.close();
    });
    assert!(short.await.starts_with("there was no usable answer: the answer was cut off: "));
    let long = error_of(|_, reply| {
        reply.raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"id\":1,\"result\":{}}",
        );
        reply.close();
    });
    assert!(long.await.starts_with("there was no usable answer: the body is not a message ("));
    let server = Server::start(|_, reply| reply.json(200, &json!({"id": 99, "result": {}})));
    let mut transport = connect(&server);
    transport.send(request(1, "ping").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 99);
    assert_eq!(
        failure(&mut transport).await.to_string(),
        "there was no usable answer: the body is the answer to another request"
    );
}

#[tokio::test]
async fn a_challenge_is_kept_for_signing_in() {
    let Incoming::Failed { error: TransportError::Http { status, challenge, .. }, .. } = outcome(|_, reply| {
        let body = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"sign in"}}"#;
        reply.respond(401, "WWW-Authenticate: Bearer realm=\"x\"\r\n", body);
    })
    .await
    else {
        panic!("no HTTP error")
    };
    assert_eq!(
        (status, challenge.map(|challenge| challenge.to_string())),
        (401, Some("Bearer realm=\"x\"".to_owned()))
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_secrets() {
    let url = "http://me:s3cret@127.0.0.1:9/mcp?token=s3cret";
    let mut transport = http::connect(&endpoint(url), Limits::default(), None).expect("a transport");
    transport.send(request(1, "ping").into()).expect("sent");
    let error = failure(&mut transport).await.to_string();
    assert!(error.starts_with("http://127.0.0.1:9/mcp could not be reached: Connection refused"), "{error}");
}

#[tokio::test]
async fn sizes_and_pauses_are_bounded() {
    let limits = Limits { max_message: 1000, between_bytes: Duration::from_millis(200), ..Limits::default() };
    let huge = outcome_within(limits, |_, reply| reply.respond(200, "", &[b' '; 2000])).await;
    assert!(matches!(huge, Incoming::Failed { error: TransportError::TooLarge { limit: 1000 }, .. }), "{huge:?}");
    let event = outcome_within(limits, |_, reply| {
        reply.stream("");
        for _ in 0..100 {
            reply.raw(&[b'x'; 100]);
        }
    })
    .await;
    assert!(matches!(event, Incoming::Failed { .. }), "{event:?}");
    let announced =
        outcome_within(limits, |_, reply| reply.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n{")).await;
    assert!(matches!(announced, Incoming::Failed { error: TransportError::TooLarge { .. }, .. }), "{announced:?}");
    let stuck = outcome_within(limits, |_, reply| {
        reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{");
        reply.wait_for_close();
    })
    .await;
    assert!(matches!(stuck, Incoming::Failed { error: TransportError::Silent(_), .. }), "{stuck:?}");
}

#[tokio::test]
async fn huge_events_arrive() {
    let Incoming::Frame(frame) = outcome(|request, reply| {
        reply.stream("");
        let text = "x".repeat(20_000_000);
        reply.event(&json!({"id": request.json()["id"], "result": {"text": text}}));
    })
    .await
    else {
        panic!("no frame")
    };
    assert!(frame.bytes().len() > 20_000_000);
}

#[tokio::test]
async fn sessions_are_carried_ended_and_lost() {
    let server = Server::start(|request, reply| match (request.method.as_str(), request.rpc().as_str()) {
        ("POST", "initialize") => {
            assert_eq!(request.header("mcp-session-id"), None);
            reply.respond(200, "Mcp-Session-Id: abc\r\n", result(request).to_string().as_bytes());
        }
        ("POST", "gone") => {
            reply.json(404, &json!({"id": null, "error": {"code": -32001, "message": "Session not found"}}));
        }
        ("POST", "old") => {
            reply.json(400, &json!({"id": null, "error": {"code": -32000, "message": "No valid session ID"}}));
        }
        ("GET", _) => reply.respond(404, "Content-Type: text/html\r\n", b"<html>"),
        ("POST", "notifications/initialized") => reply.empty(204),
        _ => reply.json(200, &result(request)),
    });
    let mut transport = connect(&server);
    transport.send(request(1, "initialize").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 1);
    transport.agree(Revision::V2025_06_18);
    transport.send(Frame::notification("notifications/initialized", None).into()).expect("sent");
    transport.send(request(2, "tools/list").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 2);
    // The stream is opened in parallel to the first request: either may arrive first.
    server.wait_for(|request| request.method == "GET");
    let seen = server.seen();
    let order: Vec<String> = seen.iter().map(|request| format!("{}{}", request.method, request.rpc())).collect();
    let (first, mut beside) = (&order[..2], order[2..].to_vec());
    beside.sort();
    assert_eq!(first, ["POSTinitialize", "POSTnotifications/initialized"]);
    assert_eq!(beside, ["GET", "POSTtools/list"]);
    assert!(seen[1..].iter().all(|request| request.header("mcp-session-id") == Some("abc")));
    assert!(seen[1..].iter().all(|request| request.header("mcp-protocol-version") == Some("2025-06-18")));
    assert!(seen.iter().all(|request| request.header("x-key") == Some("s3cret")));
    assert_eq!(seen[0].header("mcp-protocol-version"), None);
    assert_eq!(seen[0].header("accept"), Some("application/json, text/event-stream"));
    let stream = seen.iter().find(|request| request.method == "GET").expect("there");
    assert_eq!(stream.header("accept"), Some("text/event-stream"));
    for (id, method, status) in [(3, "gone", 404), (4, "old", 400)] {
        transport.send(request(id, method).into()).expect("sent");
        let error = failure(&mut transport).await;
        assert!(matches!(error, TransportError::SessionLost { status: got } if got == status), "{error:?}");
    }
    transport.send(request(5, "initialize").into()).expect("sent");
    assert_eq!(frame(&mut transport).await["id"], 5);
    transport.close(Grace::Exactly(Duration::from_millis(200))).await;
    let goodbye = server.wait_for(|request| request.method == "DELETE");
    assert_eq!(goodbye.header("mcp-session-id"), Some("abc"));
}
