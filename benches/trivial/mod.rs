//! A trivial server with one tool, `t`; a raw client for it; and how both are measured.

use std::{
    error::Error,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Params of `initialize`.
pub(crate) const INITIALIZE: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}"#;
/// What a client sends after it.
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The median time of this many runs.
pub(crate) fn median(rounds: usize, mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    // The first one fills caches.
    run()?;
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[rounds / 2])
}

/// A request, written by hand; `params` is JSON.
pub(crate) fn request(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// The server's result for a method, `None` for one that it does not know.
pub(crate) fn result(method: &str) -> Option<Value> {
    Some(match method {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "t", "version": "0"}}),
        "tools/list" => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "done"}]}),
        _ => return None,
    })
}

/// Serves these results on stdin and stdout.
pub(crate) fn serve(result: impl Fn(&str) -> Option<Value>) -> Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let answer = match message["method"].as_str().and_then(&result) {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            None => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})
            }
        };
        output.write_all((answer.to_string() + "\n").as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

/// A client that writes lines to a server and reads lines, and does nothing else.
pub(crate) struct Raw {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u32,
}

impl Raw {
    /// Starts `server serve`.
    pub(crate) fn start(server: &str) -> Result<Self> {
        let mut child = Command::new(server).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        Ok(Self { child, input, output, id: 0 })
    }

    /// The handshake of the revisions before 2026-07-28.
    pub(crate) fn initialize(&mut self) -> Result<()> {
        self.ask("initialize", INITIALIZE)?;
        Ok(self.input.write_all(format!("{INITIALIZED}\n").as_bytes())?)
    }

    /// The line that answers a request.
    pub(crate) fn ask(&mut self, method: &str, params: &str) -> Result<String> {
        self.id += 1;
        self.input.write_all((request(self.id, method, params) + "\n").as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }

    /// Lets the server end.
    pub(crate) fn end(self) -> Result<()> {
        let Self { mut child, input, .. } = self;
        drop(input);
        if child.wait()?.success() { Ok(()) } else { Err("the server failed".into()) }
    }
}
