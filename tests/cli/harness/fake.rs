use std::{
    env, fs,
    io::{BufRead, Write},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Step, script::Scripts};

/// How long a server waits for a message: less than a run may take, so that the server's own error is seen.
fn limit() -> Duration {
    super::run::patience().saturating_sub(Duration::from_secs(5))
}

/// Names the script that this test binary follows when it is started as a server.
const SCRIPT: &str = "FAKE_SERVER_SCRIPT";

/// A server that follows a script. By default it does the handshake of a legacy server, has the given tools, and
/// answers every call with the text `done`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fake {
    tools: Vec<Value>,
    modern: bool,
    scripts: Vec<Scripts>,
}

impl Fake {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Speaks 2026-07-28 instead.
    pub(crate) fn modern(mut self) -> Self {
        self.modern = true;
        self
    }

    /// Offers a tool without arguments.
    pub(crate) fn tool(self, name: &str) -> Self {
        self.tool_with(name, &json!({"type": "object"}))
    }

    /// Offers a tool with this `inputSchema`.
    pub(crate) fn tool_with(mut self, name: &str, schema: &Value) -> Self {
        self.tools.push(json!({"name": name, "inputSchema": schema}));
        self
    }

    /// Offers a tool with this `outputSchema`.
    pub(crate) fn tool_giving(mut self, name: &str, schema: &Value) -> Self {
        self.tools.push(json!({"name": name, "inputSchema": {"type": "object"}, "outputSchema": schema}));
        self
    }

    /// What it does with the next request of `method`, instead of the usual.
    pub(crate) fn on(mut self, method: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        let steps = steps.into_iter().collect();
        match self.scripts.iter_mut().find(|scripts| scripts.method == method) {
            Some(scripts) => scripts.turns.push(steps),
            None => self.scripts.push(Scripts { method: method.to_owned(), turns: vec![steps] }),
        }
        self
    }

    /// What it does with the next `tools/call`.
    pub(crate) fn on_call(self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.on("tools/call", steps)
    }

    /// Answers the next `tools/call` with this result.
    pub(crate) fn result(self, result: Value) -> Self {
        self.on_call([Step::Reply(result)])
    }

    /// The configuration entry that starts it; its files are in `folder` under `name`.
    pub(crate) fn entry(&self, folder: &Path, name: &str) -> Value {
        let mut scripts = self.scripts.clone();
        for (method, reply) in self.usual() {
            if !scripts.iter().any(|scripts| scripts.method == method) {
                scripts.push(Scripts { method: method.to_owned(), turns: vec![vec![reply]] });
            }
        }
        let path = folder.join(format!("{name}.script"));
        fs::write(&path, serde_json::to_string(&scripts).expect("scripts are JSON")).expect("the script is written");
        let program = env::current_exe().expect("the test binary");
        // The test runner writes to stdout, so the server's messages use another descriptor.
        let start = r#"exec "$0" harness::fake::server --exact --nocapture --test-threads=1 3>&1 1>/dev/null"#;
        json!({
            "command": "sh",
            "args": ["-c", start, program],
            "env": {SCRIPT: path},
        })
    }

    fn usual(&self) -> Vec<(&'static str, Step)> {
        let tools = json!({"tools": self.tools, "resultType": "complete"});
        let method_not_found = json!({"code": -32601, "message": "Method not found"});
        let discovered = json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}},
        });
        let initialized = json!({
            "protocolVersion": "$version", "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"},
        });
        let done = json!({"content": [{"type": "text", "text": "done"}], "resultType": "complete"});
        vec![
            (
                "server/discover",
                if self.modern { Step::Reply(discovered) } else { Step::Fail(method_not_found.clone()) },
            ),
            ("initialize", if self.modern { Step::Fail(method_not_found) } else { Step::Reply(initialized) }),
            ("tools/list", Step::Reply(tools)),
            ("tools/call", Step::Reply(done)),
            ("ping", Step::Reply(json!({}))),
        ]
    }
}

/// The messages that a fake server called `name` received.
pub(crate) fn received(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(format!("{name}.received"))).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a whole message")).collect()
}

/// The server itself, when this binary is started as one; otherwise it does nothing.
#[test]
fn server() {
    let Some(script) = env::var_os(SCRIPT).map(PathBuf::from) else { return };
    let scripts = serde_json::from_str(&fs::read_to_string(&script).expect("the script")).expect("scripts");
    Server::new(scripts, &script.with_extension("received")).serve();
}

struct Server {
    scripts: Vec<Scripts>,
    input: Receiver<String>,
    output: fs::File,
    received: fs::File,
    /// Messages that arrived while another one was expected.
    early: std::collections::VecDeque<Value>,
}

impl Server {
    fn new(scripts: Vec<Scripts>, received: &Path) -> Self {
        let output = fs::OpenOptions::new().write(true).open("/dev/fd/3").expect("the way out");
        let received = fs::OpenOptions::new().create(true).append(true).open(received).expect("a file");
        let (lines, input) = channel();
        thread::spawn(move || {
            let read = std::io::stdin().lock().lines().map_while(Result::ok);
            // The server may end before its input does.
            for line in read {
                let _ = lines.send(line);
            }
        });
        Self { scripts, input, output, received, early: [].into() }
    }

    fn serve(&mut self) {
        self.run("start", &Value::Null);
        loop {
            let message = self.early.pop_front().or_else(|| self.input.recv().ok().and_then(|line| self.take(&line)));
            let Some(message) = message else { return };
            if let Some(method) = message["method"].as_str().map(str::to_owned) {
                self.run(&method, &message);
            }
        }
    }

    fn take(&mut self, line: &str) -> Option<Value> {
        writeln!(self.received, "{line}").expect("the message is noted");
        serde_json::from_str(line).ok()
    }

    /// The next message, or `None` at the end of the input. If none arrives in time, the server ends, and the run fails
    /// with that.
    fn read(&mut self, wanted: &dyn std::fmt::Display, end: Instant) -> Option<Value> {
        match self.input.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => self.take(&line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => gave_up(wanted),
        }
    }

    /// Follows the next script for `method`.
    fn run(&mut self, method: &str, request: &Value) {
        let Some(scripts) = self.scripts.iter_mut().find(|scripts| scripts.method == method) else { return };
        let last = scripts.turns.len() == 1;
        let steps = if last { scripts.turns[0].clone() } else { scripts.turns.remove(0) };
        for step in steps {
            self.step(step, request);
        }
    }

    fn step(&mut self, step: Step, request: &Value) {
        match step {
            Step::Send(message) => self.send(message, request),
            Step::Raw(line) => self.write(&line),
            Step::RawReply(line) => self.write(&line.replace("$id", &request["id"].to_string())),
            Step::Reply(result) => self.send(json!({"id": "$id", "result": result}), request),
            Step::Fail(error) => self.send(json!({"id": "$id", "error": error}), request),
            Step::ReplyBytes(length) => {
                let text = "x".repeat(length);
                self.send(json!({"id": "$id", "result": {"content": [{"type": "text", "text": text}]}}), request);
            }
            Step::Expect(wanted) => self.expect(&wanted),
            Step::ExpectEnd => {
                let end = Instant::now() + limit();
                while self.read(&"the end of the input", end).is_some() {}
            }
            Step::ExpectFile(name) => {
                let end = Instant::now() + limit();
                while !Path::new(&name).exists() {
                    if Instant::now() > end {
                        gave_up(&name);
                    }
                    thread::sleep(Duration::from_millis(2));
                }
            }
            Step::Pause(milliseconds) => thread::sleep(Duration::from_millis(milliseconds)),
            Step::Stderr(line) => drop(writeln!(std::io::stderr(), "{line}")),
            Step::Exit(status) => std::process::exit(status),
        }
    }

    fn expect(&mut self, wanted: &Value) {
        if let Some(place) = self.early.iter().position(|message| covers(message, wanted)) {
            self.early.remove(place);
            return;
        }
        let end = Instant::now() + limit();
        while let Some(message) = self.read(wanted, end) {
            if covers(&message, wanted) {
                return;
            }
            self.early.push_back(message);
        }
    }

    fn send(&mut self, mut message: Value, request: &Value) {
        fill(&mut message, request);
        message["jsonrpc"] = json!("2.0");
        self.write(&message.to_string());
    }

    fn write(&mut self, line: &str) {
        // If the client is gone, stdin ends, too.
        drop(self.output.write_all(format!("{line}\n").as_bytes()));
    }
}

/// Ends the server, which waited in vain.
#[allow(clippy::exit, clippy::print_stderr, reason = "this is a separate program, and says why it ends")]
fn gave_up(wanted: &dyn std::fmt::Display) -> ! {
    eprintln!("the fake server waited {} s in vain for {wanted}", limit().as_secs());
    std::process::exit(97)
}

/// Replaces `$id`, `$token` and `$version` with values of the request.
fn fill(value: &mut Value, request: &Value) {
    match value {
        Value::String(text) => match text.as_str() {
            "$id" => *value = request["id"].clone(),
            "$token" => *value = request["params"]["_meta"]["progressToken"].clone(),
            "$version" => *value = request["params"]["protocolVersion"].clone(),
            _ => {}
        },
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, request)),
        Value::Object(object) => object.values_mut().for_each(|item| fill(item, request)),
        _ => {}
    }
}

/// Whether `message` contains everything in `wanted`.
pub(crate) fn covers(message: &Value, wanted: &Value) -> bool {
    match (message, wanted) {
        (Value::Object(message), Value::Object(wanted)) => {
            wanted.iter().all(|(key, value)| message.get(key).is_some_and(|found| covers(found, value)))
        }
        (message, wanted) => message == wanted,
    }
}
