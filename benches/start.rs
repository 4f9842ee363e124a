//! What the program costs beside a raw client: `cargo bench --bench start`.
//!
//! Measures `--version`, and a `call` of a tool of a trivial stdio server, against a client that writes the same few lines
//! by hand; and the peak memory of all of it.

use std::{
    env,
    error::Error,
    io::{self, BufRead, BufReader, Write},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use nix::sys::resource::{UsageWho, getrusage};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolnexus");
const ROUNDS: usize = 40;

fn main() -> Result<()> {
    if env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }
    let server = env::current_exe()?;
    let home = tempfile::tempdir()?;
    let toolnexus = |words: &[&str]| -> Result<()> {
        let mut command = Command::new(PROGRAM);
        command.args(words).env("HOME", home.path()).stdin(Stdio::null()).stdout(Stdio::null());
        if command.status()?.success() { Ok(()) } else { Err(format!("toolnexus {words:?} failed").into()) }
    };
    let path = server.to_str().ok_or("the path is no text")?;

    let version = median(|| toolnexus(&["--version"]))?;
    let call = median(|| toolnexus(&["call", "t", "--", path, "serve"]))?;
    let memory = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    let raw = median(|| raw_call(path))?;

    let mut out = io::stdout().lock();
    writeln!(out, "--version        {version:>9.2?}")?;
    writeln!(out, "raw client       {raw:>9.2?}")?;
    writeln!(
        out,
        "call             {call:>9.2?}   {:.2} times the raw client",
        call.as_secs_f64() / raw.as_secs_f64()
    )?;
    // Linux counts in KiB.
    writeln!(out, "peak memory      {:>6} KiB", if cfg!(target_os = "macos") { memory / 1024 } else { memory })?;
    Ok(())
}

/// The median time of a run.
fn median(mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    // The first one fills caches.
    run()?;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[ROUNDS / 2])
}

/// What a client cannot do without: start, shake hands, list, call, end.
fn raw_call(server: &str) -> Result<()> {
    let mut child = Command::new(server).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("no stdin")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let initialize = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}"#;
    let mut line = String::new();
    for (id, method, params) in
        [(1, "initialize", initialize), (2, "tools/list", "{}"), (3, "tools/call", r#"{"name":"t"}"#)]
    {
        writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)?;
        line.clear();
        output.read_line(&mut line)?;
        if id == 1 {
            writeln!(input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)?;
        }
    }
    drop(input);
    if child.wait()?.success() { Ok(()) } else { Err("the server failed".into()) }
}

/// The trivial server.
fn serve() -> Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: serde_json::Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => {
                r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"0"}}"#
            }
            Some("tools/list") => r#""result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#,
            Some("tools/call") => r#""result":{"content":[{"type":"text","text":"done"}]}"#,
            _ => r#""error":{"code":-32601,"message":"Method not found"}"#,
        };
        writeln!(output, r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#)?;
        output.flush()?;
    }
    Ok(())
}
