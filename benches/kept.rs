//! What a call over a kept connection costs, compared with a raw client: `cargo bench --bench kept`.
//!
//! Many calls, one after the other, by the library and by a client that writes the same messages by hand, on stdio and
//! on Streamable HTTP, in both eras. The server is a separate process.

mod trivial;

use std::{
    env,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpStream},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Runtime};
use tokio_util::sync::CancellationToken;
use toolnexus::{
    client::{CallEnd, Client, ToolCall},
    demo::{DemoConversation, DemoOutbox, serve_http},
    host::Host,
    protocol::{Frame, FrameKind, RpcError},
};

use trivial::{INITIALIZE, INITIALIZED, Raw, Result, median, request};

const CALLS: u32 = 2000;
const BATCHES: usize = 5;
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";
/// The params that the library sends, in each era.
const LEGACY_CALL: &str = r#"{"name":"t","arguments":{},"_meta":{"progressToken":1}}"#;
const MODERN_CALL: &str = r#"{"name":"t","arguments":{},"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"toolnexus","title":"toolnexus","version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}"#;

fn main() -> Result<()> {
    match env::args().nth(1).as_deref() {
        Some("serve") => return trivial::serve(result),
        Some("serve-http") => return runtime()?.block_on(serve_on_loopback()),
        _ => {}
    }
    let program = env::current_exe()?;
    let program = program.to_str().ok_or("the path is no text")?;
    for (revision, params) in [(LEGACY, LEGACY_CALL), (MODERN, MODERN_CALL)] {
        let mut raw = Raw::start(program)?;
        if revision == LEGACY {
            raw.initialize()?;
        }
        let server = json!({"command": program, "args": ["serve"], "protocol": revision});
        compare(&format!("stdio, {revision}"), &server, || raw.ask("tools/call", params))?;
        raw.end()?;
    }
    let server = HttpServer::start(program)?;
    for (revision, params) in [(LEGACY, LEGACY_CALL), (MODERN, MODERN_CALL)] {
        let mut raw = RawHttp::open(&server.address, revision)?;
        let server = json!({"url": format!("http://{}/mcp", server.address), "protocol": revision});
        compare(&format!("HTTP, {revision}"), &server, || raw.call(params))?;
    }
    Ok(())
}

/// Prints what a call costs with `raw`, which returns the answer to one, and with the library and the same server.
fn compare(name: &str, server: &Value, mut raw: impl FnMut() -> Result<String>) -> Result<()> {
    let theirs = median(BATCHES, || (0..CALLS).try_for_each(|_| is_done(&raw()?)))? / CALLS;
    let runtime = runtime()?;
    let host = Host::from_config(json!({"mcpServers": {"t": server}}), None)?;
    let client = runtime.block_on(host.connect("t"))?;
    let ours = median(BATCHES, || runtime.block_on(calls(&client)))? / CALLS;
    runtime.block_on(host.disconnect_all());

    let mut out = io::stdout().lock();
    writeln!(out, "{name:<18} raw client {theirs:>9.2?}")?;
    writeln!(
        out,
        "{:<18} library    {ours:>9.2?}   {:.2} times the raw client",
        "",
        ours.as_secs_f64() / theirs.as_secs_f64()
    )?;
    Ok(())
}

async fn calls(client: &Client) -> Result<()> {
    let stop = CancellationToken::new();
    for _ in 0..CALLS {
        let call = ToolCall { name: "t".to_owned(), ..ToolCall::default() };
        let CallEnd::Done(report) = client.call_tool(call, &stop).await? else {
            return Err("the call was put aside".into());
        };
        is_done(report.result.get())?;
    }
    Ok(())
}

fn is_done(answer: &str) -> Result<()> {
    if answer.contains(r#""done""#) { Ok(()) } else { Err(format!("the answer was {answer}").into()) }
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// A client that posts to a server over one connection and reads the answers, and does nothing else.
struct RawHttp {
    connection: BufReader<TcpStream>,
    /// The head of a call's request, without `Content-Length` and its end.
    head: String,
    id: u32,
}

impl RawHttp {
    /// Connects, and does the handshake if the revision has one.
    fn open(address: &str, revision: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
            Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {revision}\r\n"
        );
        let mut raw = Self { connection: BufReader::new(stream), head, id: 0 };
        if revision == MODERN {
            raw.head += "Mcp-Method: tools/call\r\nMcp-Name: t\r\n";
            return Ok(raw);
        }
        let (head, _) = raw.post(&request(0, "initialize", INITIALIZE))?;
        let session = header(&head, "mcp-session-id").ok_or("no session")?;
        raw.head.extend(["Mcp-Session-Id: ", session, "\r\n"]);
        raw.post(INITIALIZED)?;
        Ok(raw)
    }

    /// The answer to a call.
    fn call(&mut self, params: &str) -> Result<String> {
        self.id += 1;
        Ok(self.post(&request(self.id, "tools/call", params))?.1)
    }

    /// Sends a message; the response's head and body.
    fn post(&mut self, message: &str) -> Result<(String, String)> {
        let request = format!("{}Content-Length: {}\r\n\r\n{message}", self.head, message.len());
        self.connection.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.connection.read_line(&mut head)? == 0 {
                return Err("the server left".into());
            }
        }
        let mut body = vec![0; header(&head, "content-length").ok_or("no length")?.parse()?];
        self.connection.read_exact(&mut body)?;
        Ok((head, String::from_utf8(body)?))
    }
}

/// The value of a header.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// The server's process, which ends when this is dropped.
struct HttpServer {
    child: Child,
    address: String,
}

impl HttpServer {
    fn start(program: &str) -> Result<Self> {
        let child = Command::new(program).arg("serve-http").stdout(Stdio::piped()).spawn()?;
        let mut server = Self { child, address: String::new() };
        let output = server.child.stdout.take().ok_or("no stdout")?;
        BufReader::new(output).read_line(&mut server.address)?;
        server.address.truncate(server.address.trim_end().len());
        Ok(server)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may already have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Serves over HTTP, and prints its address.
async fn serve_on_loopback() -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    Ok(serve_http(listener, || Arc::new(Server)).await?)
}

/// The server's results in both eras; a legacy client ignores `resultType`.
fn result(method: &str) -> Option<Value> {
    let mut result = match method {
        "server/discover" => json!({"supportedVersions": [MODERN], "capabilities": {"tools": {}}}),
        method => trivial::result(method)?,
    };
    result["resultType"] = "complete".into();
    Some(result)
}

struct Server;

impl DemoConversation for Server {
    fn receive(self: Arc<Self>, frame: Frame, out: DemoOutbox) -> BoxFuture<'static, ()> {
        async move {
            let FrameKind::Request { id, method } = frame.kind() else { return };
            out(match result(method) {
                Some(result) => Frame::result(id, &result),
                None => Frame::error(id, &RpcError::method_not_found()),
            });
        }
        .boxed()
    }
}
