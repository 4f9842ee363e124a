//! What a question costs, compared with a bare loop: `cargo bench --bench questions`.
//!
//! A server asks many questions during one call. They are answered from an answers file, and by a loop that only reads
//! the same frames and writes the same replies. Memory must not grow with their number.

use std::{
    env,
    error::Error,
    fs,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolnexus");
const FEW: u32 = 100;
const MANY: u32 = 10_000;
const ROUNDS: usize = 5;
const ANSWERS: &str =
    r#"[{"when": {"tool": "t", "fields": ["name"]}, "content": {"name": "Ada", "age": 36}, "repeat": true}]"#;

fn main() -> Result<()> {
    let words: Vec<String> = env::args().collect();
    if let [_, word, count] = &words[..]
        && word == "serve"
    {
        return serve(count.parse()?);
    }
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("answers.json"), ANSWERS)?;
    let server = env::current_exe()?;
    let server = server.to_str().ok_or("the path is no text")?;

    let (few, memory_few) = (best(|| program(server, FEW, folder.path()))?, memory()?);
    let (many, memory_many) = (best(|| program(server, MANY, folder.path()))?, memory()?);
    let (bare_few, bare_many) = (best(|| bare(server, FEW))?, best(|| bare(server, MANY))?);
    // Costs that do not belong to the questions, such as starting, are the same in both.
    let per_question = |few: Duration, many: Duration| many.saturating_sub(few) / (MANY - FEW);
    let (ours, theirs) = (per_question(few, many), per_question(bare_few, bare_many));

    let mut out = io::stdout().lock();
    writeln!(out, "bare loop        {theirs:>9.2?} a question")?;
    writeln!(
        out,
        "answers file     {ours:>9.2?} a question   {:.2} times the bare loop",
        ours.as_secs_f64() / theirs.as_secs_f64()
    )?;
    writeln!(out, "peak memory      {memory_few:>6} KiB with {FEW} questions, {memory_many} KiB with {MANY}")?;
    Ok(())
}

/// The shortest of several runs.
fn best(run: impl Fn() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// The most memory that any child has needed so far, in KiB.
fn memory() -> Result<i64> {
    let most = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    Ok(if cfg!(target_os = "macos") { most / 1024 } else { most })
}

fn program(server: &str, count: u32, folder: &Path) -> Result<()> {
    let count = count.to_string();
    let words = ["call", "t", "--answers", "answers.json", "--", server, "serve", &count];
    let mut command = Command::new(PROGRAM);
    command.args(words).current_dir(folder).env("HOME", folder).stdin(Stdio::null());
    let output = command.output()?;
    if output.status.success() && output.stdout == b"done\n" { Ok(()) } else { Err(format!("{output:?}").into()) }
}

/// Reads each frame and answers questions, and does nothing else.
fn bare(server: &str, count: u32) -> Result<()> {
    let mut child = Command::new(server)
        .args(["serve", &count.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    writeln!(input, r#"{{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{{"name":"t"}}}}"#)?;
    let mut line = String::new();
    while output.read_line(&mut line)? > 0 {
        let message: Value = serde_json::from_str(&line)?;
        if message["method"] != "elicitation/create" {
            break;
        }
        let result = json!({"action": "accept", "content": {"name": "Ada", "age": 36}});
        let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string() + "\n";
        input.write_all(reply.as_bytes())?;
        line.clear();
    }
    drop(input);
    if child.wait()?.success() { Ok(()) } else { Err("the server failed".into()) }
}

/// A server whose call asks `count` questions, one after the other.
fn serve(count: u32) -> Result<()> {
    let mut output = io::stdout().lock();
    let mut say = |message: Value| -> Result<()> {
        output.write_all((message.to_string() + "\n").as_bytes())?;
        Ok(output.flush()?)
    };
    let mut lines = io::stdin().lock().lines();
    while let Some(line) = lines.next() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "t", "version": "0"}}),
            Some("tools/list") => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            Some("tools/call") => {
                for question in 1..=count {
                    say(ask(question))?;
                    let reply: Value = serde_json::from_str(&lines.next().ok_or("the client left")??)?;
                    if reply["id"] != question || reply["result"]["content"]["name"] != "Ada" {
                        return Err(format!("the answer to {question} was {reply}").into());
                    }
                }
                json!({"content": [{"type": "text", "text": "done"}]})
            }
            _ => {
                let error = json!({"code": -32601, "message": "Method not found"});
                say(json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
                continue;
            }
        };
        say(json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
    }
    Ok(())
}

fn ask(question: u32) -> Value {
    let schema = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 20},
        "age": {"type": "integer", "minimum": 18, "maximum": 99},
    }});
    json!({"jsonrpc": "2.0", "id": question, "method": "elicitation/create",
        "params": {"message": "Who are you?", "requestedSchema": schema}})
}
