//! How cost grows with size: `cargo bench --bench sizes`, and `-- small` for the smaller half of each row.
//!
//! Prints a table: calls in one session, long results, long lists, wide forms, many choices, many servers; the time and
//! the most memory that the program needs for each size, and next to it, if there is one, a raw client that reads the
//! same messages and does nothing else. With linear cost, ten times the size costs ten times as much, apart from the
//! start.

#![expect(clippy::cast_precision_loss, reason = "the values are rounded when they are printed")]

#[expect(dead_code, reason = "the server here is different")]
mod trivial;

use std::{
    env,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

use trivial::{Raw, Result, result};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolnexus");
/// How often each size is run; the shortest time counts.
const ROUNDS: usize = 3;
const MIB: usize = 1 << 20;

fn main() -> Result<()> {
    let words: Vec<String> = env::args().collect();
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    match words[..] {
        ["serve"] => return serve(0),
        ["serve", tools] => return serve(tools.parse()?),
        ["raw-calls", count] => return raw_calls(count.parse()?),
        ["raw-read", kind, size] => return raw_read(kind, size),
        ["measure", ref command @ ..] => return measure(command),
        _ => {}
    }
    let (folder, this) = (tempfile::tempdir()?, env::current_exe()?.display().to_string());
    let table = Table { folder: folder.path(), this: &this, is_small: words.contains(&"small") };
    writeln!(
        io::stdout(),
        "| what | size | time | most memory | beside a raw client |\n| --- | --: | --: | --: | --: |"
    )?;
    table.calls()?;
    table.results()?;
    table.lists()?;
    table.questions()?;
    table.servers()
}

/// The cost of one run.
#[derive(Clone, Copy)]
struct Cost {
    time: Duration,
    /// In KiB.
    memory: u64,
}

struct Table<'a> {
    folder: &'a Path,
    this: &'a str,
    is_small: bool,
}

impl Table<'_> {
    /// Many calls over one connection.
    fn calls(&self) -> Result<()> {
        for count in self.sizes(&[1_000, 10_000, 100_000]) {
            let raw = self.cost(self.this, &["raw-calls", &count.to_string()], None)?;
            self.write("each.jsonl", &"{}\n".repeat(count))?;
            self.write("script", &"call s t\n".repeat(count))?;
            for (what, words) in [
                ("calls, `--each`", &["call", "s", "t", "--each", "each.jsonl"][..]),
                ("calls, `--each -j 64`", &["call", "s", "t", "--each", "each.jsonl", "-j", "64"]),
            ] {
                Self::row(what, count, self.program(words)?, Some(raw))?;
            }
            let script = Some("script");
            let cost = self.cost(PROGRAM, &["--config", "mcp.json", "shell"], script)?;
            Self::row("calls, a script for `shell`", count, cost, Some(raw))?;
        }
        Ok(())
    }

    /// One long result.
    fn results(&self) -> Result<()> {
        for size in self.sizes(&[16, 64, 256]) {
            for kind in ["text", "image"] {
                let length = (size * MIB).to_string();
                let raw = self.cost(self.this, &["raw-read", kind, &length], None)?;
                let (kind, size_word) = (format!("kind={kind}"), format!("size:={length}"));
                for mode in ["text", "json"] {
                    let cost = self.program(&["call", "s", "t", &kind, &size_word, "-o", mode])?;
                    let held = cost.memory as f64 / 1024.0 / size as f64;
                    let what = format!("MiB of {}, `-o {mode}`, holds {held:.2} times its size", &kind[5..]);
                    Self::row(&what, size, cost, Some(raw))?;
                }
            }
        }
        Ok(())
    }

    fn lists(&self) -> Result<()> {
        for count in self.sizes(&[100, 1_000, 10_000]) {
            let number = count.to_string();
            let cost = self.of_server(&["tools", "--", self.this, "serve", &number])?;
            Self::row("tools listed", count, cost, None)?;
        }
        Ok(())
    }

    /// Forms that an answers file fills in.
    fn questions(&self) -> Result<()> {
        for count in self.sizes(&[50, 500, 5_000]) {
            let fields = (0..count).map(|field| (format!("f{field}"), json!("x"))).collect();
            self.write("fields.json", &Value::Object(fields).to_string())?;
            let size = format!("size:={count}");
            let words = ["call", "s", "t", "kind=fields", &size, "--answers", "fields.json"];
            Self::row("fields of a form", count, self.program(&words)?, None)?;
        }
        for count in self.sizes(&[1_000, 10_000, 100_000]) {
            self.write("choice.json", &json!({"f0": format!("c{}", count - 1)}).to_string())?;
            let size = format!("size:={count}");
            let words = ["call", "s", "t", "kind=choices", &size, "--answers", "choice.json"];
            Self::row("choices of a field", count, self.program(&words)?, None)?;
        }
        Ok(())
    }

    /// Many servers in one file: one of them is called, and then all.
    fn servers(&self) -> Result<()> {
        for count in self.sizes(&[10, 100, 1_000]) {
            let server = json!({"command": self.this, "args": ["serve"]});
            let servers = (0..count).map(|number| (format!("s{number}"), server.clone())).collect();
            self.write("many.json", &json!({"mcpServers": Value::Object(servers)}).to_string())?;
            let last = format!("s{}", count - 1);
            let cost = self.of_server(&["--config", "many.json", "call", &last, "t"])?;
            Self::row("servers in the file, one is called", count, cost, None)?;
            let cost = self.of_server(&["--config", "many.json", "tools", "--trust"])?;
            Self::row("servers in the file, the tools of all", count, cost, None)?;
        }
        Ok(())
    }

    fn sizes(&self, sizes: &[usize]) -> Vec<usize> {
        if self.is_small { sizes[..2].to_vec() } else { sizes.to_vec() }
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.folder.join(name), text)?)
    }

    /// The cost of one of our commands, with the server `s`.
    fn program(&self, words: &[&str]) -> Result<Cost> {
        let server = json!({"command": self.this, "args": ["serve"]});
        self.write("mcp.json", &json!({"mcpServers": {"s": server}}).to_string())?;
        self.of_server(&[&["--config", "mcp.json"], words].concat())
    }

    fn of_server(&self, words: &[&str]) -> Result<Cost> {
        self.cost(PROGRAM, words, None)
    }

    /// The least time, and the least memory, of several runs; `stdin` names a file.
    fn cost(&self, program: &str, words: &[&str], stdin: Option<&str>) -> Result<Cost> {
        let mut best = Cost { time: Duration::MAX, memory: u64::MAX };
        for _ in 0..ROUNDS {
            let mut measure = Command::new(self.this);
            measure.args(["measure", program]).args(words).current_dir(self.folder).env("HOME", self.folder);
            measure.stdin(match stdin {
                Some(name) => Stdio::from(File::open(self.folder.join(name))?),
                None => Stdio::null(),
            });
            let output = measure.stderr(Stdio::inherit()).output()?;
            let text = String::from_utf8(output.stdout)?;
            let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?;
            let [micros, memory] = numbers[..] else { return Err(format!("{words:?} failed").into()) };
            best = Cost { time: best.time.min(Duration::from_micros(micros)), memory: best.memory.min(memory) };
        }
        Ok(best)
    }

    fn row(what: &str, size: usize, cost: Cost, raw: Option<Cost>) -> Result<()> {
        let beside = raw.map(|raw| format!("{:.2} times", cost.time.as_secs_f64() / raw.time.as_secs_f64()));
        let (time, memory) = (cost.time.as_secs_f64() * 1000.0, cost.memory as f64 / 1024.0);
        let mut out = io::stdout().lock();
        writeln!(out, "| {what} | {size} | {time:.0} ms | {memory:.1} MiB | {} |", beside.unwrap_or_default())?;
        Ok(out.flush()?)
    }
}

/// Runs a command to its end, and prints how long that took in microseconds, and its peak memory in KiB.
fn measure(command: &[&str]) -> Result<()> {
    let [program, words @ ..] = command else { return Err("there is no command".into()) };
    let start = Instant::now();
    let mut child = Command::new(program).args(words).stdout(Stdio::piped()).spawn()?;
    let mut output = child.stdout.take().ok_or("no stdout")?;
    let mut chunk = vec![0; 64 << 10];
    while output.read(&mut chunk)? > 0 {}
    if !child.wait()?.success() {
        return Err(format!("{command:?} failed").into());
    }
    // Linux counts in KiB. If the server needs more memory, that counts; but it needs little.
    let memory = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    writeln!(io::stdout(), "{} {memory}", start.elapsed().as_micros())?;
    Ok(())
}

/// The calls, one after the other, with a printed line for each.
fn raw_calls(count: usize) -> Result<()> {
    let mut raw = Raw::start(&env::current_exe()?.display().to_string())?;
    raw.initialize()?;
    let mut out = io::stdout().lock();
    for index in 0..count {
        let answer: Value = serde_json::from_str(&raw.ask("tools/call", r#"{"name":"t","arguments":{}}"#)?)?;
        writeln!(out, r#"{{"index":{index},"ok":true,"result":{}}}"#, answer["result"])?;
    }
    raw.end()
}

/// One call, whose result is read as JSON and printed.
fn raw_read(kind: &str, size: &str) -> Result<()> {
    let mut raw = Raw::start(&env::current_exe()?.display().to_string())?;
    raw.initialize()?;
    let params = format!(r#"{{"name":"t","arguments":{{"kind":"{kind}","size":{size}}}}}"#);
    let answer: Value = serde_json::from_str(&raw.ask("tools/call", &params)?)?;
    let block = &answer["result"]["content"][0];
    let text = block["text"].as_str().or(block["data"].as_str()).ok_or("there is no text")?;
    io::stdout().write_all(text.as_bytes())?;
    raw.end()
}

/// A server with the tool `t`, and a number of others. Its `kind` says what a call returns: a long text or image, or a
/// question.
fn serve(tools: usize) -> Result<()> {
    let mut output = io::stdout().lock();
    let mut lines = BufReader::new(io::stdin()).lines();
    while let Some(line) = lines.next() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let arguments = &message["params"]["arguments"];
        let size = usize::try_from(arguments["size"].as_u64().unwrap_or_default())?;
        let answer = match (message["method"].as_str().unwrap_or_default(), arguments["kind"].as_str()) {
            ("tools/list", _) => listed(tools),
            ("tools/call", Some(kind @ ("text" | "image"))) => {
                long(&mut output, id, kind, size)?;
                continue;
            }
            ("tools/call", Some(kind)) => {
                let schema = if kind == "fields" { fields(size) } else { choices(size) };
                let params = json!({"message": "Well?", "requestedSchema": schema});
                let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params});
                writeln!(output, "{ask}")?;
                let reply: Value = serde_json::from_str(&lines.next().ok_or("the client left")??)?;
                if reply["result"]["action"] != "accept" {
                    return Err("the question was not answered".into());
                }
                result("tools/call").unwrap_or_default()
            }
            (method, _) => {
                let Some(result) = result(method) else {
                    let error = json!({"code": -32601, "message": "Method not found"});
                    writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
                    continue;
                };
                result
            }
        };
        output.write_all((json!({"jsonrpc": "2.0", "id": id, "result": answer}).to_string() + "\n").as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

/// Writes a result of this many bytes, without holding it in memory.
fn long(output: &mut impl Write, id: &Value, kind: &str, size: usize) -> Result<()> {
    let (key, more) = if kind == "text" { ("text", "") } else { ("data", r#","mimeType":"image/png""#) };
    write!(output, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"{kind}"{more},"{key}":""#)?;
    // Lines of text have one escape each, base64 has none.
    let line = if kind == "text" { "x".repeat(62) + "\\n" } else { "iVBORw0KGgo=".repeat(5) + "AAAA" };
    let chunk = line.repeat(1024);
    for _ in 0..size / chunk.len() {
        output.write_all(chunk.as_bytes())?;
    }
    output.write_all(b"\"}]}}\n")?;
    Ok(output.flush()?)
}

fn listed(more: usize) -> Value {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string", "description": "Where it is"},
        "limit": {"type": "integer", "minimum": 1, "default": 10},
        "mode": {"enum": ["all", "some"]},
    }, "required": ["path"]});
    let tool =
        |number| json!({"name": format!("tool_{number}"), "description": "Does something.", "inputSchema": schema});
    let first = json!({"name": "t", "inputSchema": {"type": "object"}});
    json!({"tools": std::iter::once(first).chain((0..more).map(tool)).collect::<Vec<_>>()})
}

fn fields(count: usize) -> Value {
    let field = |number| (format!("f{number}"), json!({"type": "string", "title": format!("Field {number}")}));
    json!({"type": "object", "properties": (0..count).map(field).collect::<serde_json::Map<_, _>>()})
}

fn choices(count: usize) -> Value {
    let choices: Vec<String> = (0..count).map(|number| format!("c{number}")).collect();
    json!({"type": "object", "properties": {"f0": {"type": "string", "enum": choices}}, "required": ["f0"]})
}
