use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::Mutex,
};

use crate::{
    PROGRAM,
    web_server::{Reply, Server},
};

/// The demo server over Streamable HTTP.
pub(crate) struct StreamableDemo {
    server: Child,
    pub(crate) url: String,
}

impl StreamableDemo {
    pub(crate) fn start() -> Self {
        let mut server = Command::new(PROGRAM)
            .args(["demo-server", "--http", "0"])
            .env_clear()
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        BufReader::new(server.stderr.take().expect("piped")).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("serving ").expect("an address").to_owned();
        Self { server, url }
    }
}

impl Drop for StreamableDemo {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// The demo server over HTTP+SSE of 2024-11-05: each stream is the output of a separate process.
pub(crate) struct SseDemo(Server);

impl SseDemo {
    pub(crate) fn start() -> Self {
        let input: Mutex<Option<ChildStdin>> = Mutex::new(None);
        Self(Server::start(move |request, reply| match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/sse") => pass_on(&input, reply),
            ("POST", "/messages") => {
                let mut input = input.lock().expect("unpoisoned");
                let line = [request.body.as_slice(), b"\n"].concat();
                input.as_mut().expect("a stream is open").write_all(&line).expect("it listens");
                reply.respond(202, "", b"Accepted");
            }
            _ => reply.empty(404),
        }))
    }

    pub(crate) fn url(&self) -> String {
        self.0.url("/sse")
    }
}

/// Starts a demo server that reads `input`, and returns its output as events until it ends.
fn pass_on(input: &Mutex<Option<ChildStdin>>, reply: &mut Reply) {
    let mut server = Command::new(PROGRAM)
        .arg("demo-server")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    *input.lock().expect("unpoisoned") = server.stdin.take();
    reply.stream("");
    reply.raw(b"event: endpoint\ndata: /messages\n\n");
    for line in BufReader::new(server.stdout.take().expect("piped")).lines().map_while(Result::ok) {
        if reply.is_gone() {
            break;
        }
        reply.raw(format!("data: {line}\n\n").as_bytes());
    }
    drop(server.kill());
    drop(server.wait());
}
