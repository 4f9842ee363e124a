//! What a call of a kept server costs: `cargo bench --bench keeper`, and `-- long` for 10,000 calls one after the other.
//!
//! Measures a `call` of the trivial server while it is kept, beside a raw client that is a process of its own and writes
//! one request to an open connection; 64 calls at once; and what the keeper and the command hold in memory.

#[expect(dead_code, reason = "the raw client here asks over a socket")]
mod trivial;

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

use trivial::{Result, median, request};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolnexus");
const ROUNDS: usize = 200;
const AT_ONCE: usize = 64;
const LONG: usize = 10_000;

fn main() -> Result<()> {
    let words: Vec<String> = env::args().collect();
    match words.get(1).map(String::as_str) {
        Some("serve") => return trivial::serve(trivial::result),
        Some("raw") => return raw(Path::new(words.get(2).ok_or("the socket is missing")?)),
        _ => {}
    }
    let folder = tempfile::tempdir()?;
    let kept = Kept { folder: folder.path(), server: env::current_exe()?.display().to_string() };
    kept.run(&["up"])?;
    let measured = measure(&kept, words.iter().any(|word| word == "long"));
    kept.command(&["down", "--all"]).status()?;
    measured
}

fn measure(kept: &Kept<'_>, is_long: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    let socket = kept.folder.join("raw");
    let listener = UnixListener::bind(&socket)?;
    thread::spawn(move || answer(&listener));
    let this = env::current_exe()?;
    let theirs = median(ROUNDS, || {
        let status = Command::new(&this).arg("raw").arg(&socket).stdin(Stdio::null()).status()?;
        if status.success() { Ok(()) } else { Err("the raw client failed".into()) }
    })?;
    let ours = median(ROUNDS, || kept.run(&["call", "t"]))?;
    writeln!(out, "raw client       {theirs:>9.2?}")?;
    writeln!(
        out,
        "kept call        {ours:>9.2?}   {:.2} times the raw client",
        ours.as_secs_f64() / theirs.as_secs_f64()
    )?;
    let start = Instant::now();
    let children: Vec<_> = (0..AT_ONCE).map(|_| kept.of_server(&["call", "t"]).spawn()).collect::<io::Result<_>>()?;
    for mut child in children {
        if !child.wait()?.success() {
            return Err("one of the calls at once failed".into());
        }
    }
    writeln!(out, "{AT_ONCE} at once       {:>9.2?}", start.elapsed())?;
    // Linux counts in KiB.
    writeln!(out, "command, peak    {:>6} KiB", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss())?;
    writeln!(out, "keeper           {}", kept.weight()?)?;
    if is_long {
        let start = Instant::now();
        for _ in 0..LONG {
            kept.run(&["call", "t"])?;
        }
        writeln!(out, "{LONG} calls      {:>9.2?}", start.elapsed())?;
        writeln!(out, "keeper           {}", kept.weight()?)?;
    }
    Ok(())
}

/// The trivial server, kept in a folder of its own.
struct Kept<'a> {
    folder: &'a Path,
    server: String,
}

impl Kept<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).env("HOME", self.folder).env("XDG_RUNTIME_DIR", self.folder).current_dir(self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn of_server(&self, words: &[&str]) -> Command {
        let mut command = self.command(words);
        command.args(["--", &self.server, "serve"]);
        command
    }

    fn run(&self, words: &[&str]) -> Result<()> {
        if self.of_server(words).status()?.success() { Ok(()) } else { Err(format!("{words:?} failed").into()) }
    }

    /// What the keeper holds: memory and descriptors.
    fn weight(&self) -> Result<String> {
        fs::write(self.folder.join("mcp.json"), r#"{"mcpServers": {}}"#)?;
        let output = self.command(&["servers", "-o", "json"]).stdout(Stdio::piped()).output()?;
        let servers: Value = serde_json::from_slice(&output.stdout)?;
        let pid = &servers["kept"][0]["pid"];
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("?").trim().to_owned();
        Ok(format!("{memory}, {} descriptors", fs::read_dir(format!("/proc/{pid}/fd"))?.count()))
    }
}

/// One call over an open connection.
fn raw(socket: &Path) -> Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    writeln!(stream, "{}", request(1, "tools/call", r#"{"name":"t"}"#))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    if line.contains(r#""done""#) { Ok(()) } else { Err("there is no answer".into()) }
}

/// Answers one request a connection, as the trivial server does.
fn answer(listener: &UnixListener) {
    for stream in listener.incoming().flatten() {
        let mut line = String::new();
        let Ok(other) = stream.try_clone() else { return };
        if BufReader::new(other).read_line(&mut line).is_ok() {
            let result = trivial::result("tools/call").unwrap_or_default();
            drop(writeln!(&stream, r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
        }
    }
}
