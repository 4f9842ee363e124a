//! Puts a stdio server behind a web address, so that the same server can be reached over every transport.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::server::{Reply, Request, Server};

/// Which transport a gateway speaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Style {
    /// Streamable HTTP, each request answered by a stream.
    Stream,
    /// Streamable HTTP, each request answered by one JSON body; other messages from the server are lost.
    Json,
    /// HTTP+SSE.
    TwoEndpoints,
}

/// A stdio server behind a web address.
pub(crate) struct Gateway {
    server: Server,
    child: Child,
    style: Style,
}

/// What the threads of a gateway share.
struct Shared {
    style: Style,
    input: Mutex<ChildStdin>,
    /// The requests in progress, newest last: their id, their response, and who waits for the end of it.
    open: Mutex<Vec<(Value, Reply, mpsc::Sender<()>)>>,
    /// The stream of HTTP+SSE.
    stream: Mutex<Option<Reply>>,
}

impl Gateway {
    /// Starts the server of a configuration entry (`command`, `args`, `env`).
    pub(crate) fn start(entry: &Value, style: Style) -> Self {
        let words = entry["args"].as_array().expect("args").iter().map(|word| word.as_str().expect("text"));
        let vars: HashMap<&str, &str> = entry["env"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value.as_str().expect("text")))
            .collect();
        let mut child = Command::new(entry["command"].as_str().expect("a command"))
            .args(words)
            .envs(vars)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let shared = Arc::new(Shared {
            style,
            input: Mutex::new(child.stdin.take().expect("piped")),
            open: Mutex::default(),
            stream: Mutex::default(),
        });
        let reader = Arc::clone(&shared);
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line) {
                    reader.pass_on(&message);
                }
            }
        });
        let server = Server::start(move |request, reply| shared.answer(request, reply));
        Self { server, child, style }
    }

    /// The configuration entry that reaches it.
    pub(crate) fn entry(&self) -> Value {
        match self.style {
            Style::TwoEndpoints => json!({"url": self.server.url("/sse"), "type": "sse"}),
            Style::Stream | Style::Json => json!({"url": self.server.url("/mcp")}),
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shared {
    fn answer(&self, request: &Request, reply: &mut Reply) {
        match request.method.as_str() {
            "POST" => self.post(request, reply),
            "GET" if self.style == Style::TwoEndpoints => {
                reply.stream("");
                reply.raw(b"event: endpoint\ndata: /messages\n\n");
                *self.stream.lock().expect("mine") = Some(reply.another());
                reply.wait_for_close();
            }
            "DELETE" => reply.empty(204),
            _ => reply.empty(405),
        }
    }

    fn post(&self, request: &Request, reply: &mut Reply) {
        let message = request.json();
        let is_request = message["method"].is_string() && !message["id"].is_null();
        if self.style == Style::TwoEndpoints || !is_request {
            reply.empty(202);
            return self.write(&message);
        }
        // Every session is the same one.
        let head = if request.rpc() == "initialize" { "Mcp-Session-Id: one\r\n" } else { "" };
        if self.style == Style::Stream {
            reply.stream(head);
        }
        let (done, ended) = mpsc::channel();
        self.open.lock().expect("mine").push((message["id"].clone(), reply.another(), done));
        self.write(&message);
        while ended.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
            if reply.is_gone() {
                let params = json!({"requestId": message["id"]});
                self.write(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
                break;
            }
        }
    }

    /// Passes a message from the server to the client.
    fn pass_on(&self, message: &Value) {
        if self.style == Style::TwoEndpoints {
            if let Some(stream) = self.stream.lock().expect("mine").as_mut() {
                stream.raw(b"event: message\n");
                stream.event(message);
            }
            return;
        }
        let mut open = self.open.lock().expect("mine");
        let answered = message.get("method").is_none().then(|| open.iter().position(|(id, ..)| *id == message["id"]));
        match (answered, self.style) {
            (Some(Some(place)), style) => {
                let (_, mut reply, done) = open.remove(place);
                if style == Style::Json {
                    reply.json(200, message);
                } else {
                    reply.event(message);
                }
                drop(done);
            }
            (None, Style::Stream) => {
                if let Some((_, reply, _)) = open.last_mut() {
                    reply.event(message);
                }
            }
            _ => {}
        }
    }

    fn write(&self, message: &Value) {
        let mut input = self.input.lock().expect("mine");
        let _ = writeln!(input, "{message}");
        let _ = input.flush();
    }
}
