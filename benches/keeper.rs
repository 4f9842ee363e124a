//! What a call of a kept server costs: `cargo bench --bench keeper`, and `-- long` for 10,000 calls one after the
//! other.
//!
//! Measures a `call` of the trivial server, and of `@modelcontextprotocol/server-everything` if `tests/peers/run` has
//! installed it, while it is kept, compared with a raw client in a separate process that writes one request to an open
//! pipe; 64 calls at the same time; and the memory of the keeper and the command.

#[expect(dead_code, reason = "the raw client here is a separate process")]
mod trivial;

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::fd::AsFd,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

use trivial::{INITIALIZE, INITIALIZED, Result, median, request};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolnexus");
const EVERYTHING: &str = "tests/peers/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
const ROUNDS: usize = 300;
const AT_ONCE: usize = 64;
const LONG: usize = 10_000;

fn main() -> Result<()> {
    let words: Vec<String> = env::args().collect();
    match words.get(1).map(String::as_str) {
        Some("serve") => return trivial::serve(trivial::result),
        Some("raw") => return raw(words.get(2).ok_or("the params are missing")?),
        _ => {}
    }
    let is_long = words.iter().any(|word| word == "long");
    let this = env::current_exe()?.display().to_string();
    measure("trivial", &[this, "serve".to_owned()], &["t"], &json!({"name": "t"}), is_long)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(EVERYTHING);
    if !script.exists() {
        writeln!(io::stderr(), "server-everything is left out: tests/peers/run installs it")?;
        return Ok(());
    }
    let command = ["node".to_owned(), script.display().to_string(), "stdio".to_owned()];
    let params = json!({"name": "echo", "arguments": {"message": "done"}});
    measure("server-everything", &command, &["echo", "message=done"], &params, false)
}

/// Measures calls of the server that `command` starts: our command line, and the raw client's params.
fn measure(name: &str, command: &[String], words: &[&str], params: &Value, is_long: bool) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let kept = Kept { folder: folder.path(), server: command, call: [&["call"], words].concat() };
    let measured = kept.run(&["up"]).and_then(|()| kept.measure(name, params, is_long));
    kept.command(&["down", "--all"]).status()?;
    measured
}

/// A server, kept in a separate folder.
struct Kept<'a> {
    folder: &'a Path,
    server: &'a [String],
    call: Vec<&'a str>,
}

impl Kept<'_> {
    fn measure(&self, name: &str, params: &Value, is_long: bool) -> Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{name}")?;
        let mut pipe = Pipe::open(self.server)?;
        let params = params.to_string();
        let theirs = median(ROUNDS, || pipe.call(&params))?;
        pipe.end()?;
        let ours = median(ROUNDS, || self.run(&self.call))?;
        let times = ours.as_secs_f64() / theirs.as_secs_f64();
        writeln!(out, "  raw client       {theirs:>9.2?}")?;
        writeln!(out, "  kept call        {ours:>9.2?}   {times:.2} times the raw client")?;
        let start = Instant::now();
        let children: Vec<_> = (0..AT_ONCE).map(|_| self.of_server(&self.call).spawn()).collect::<io::Result<_>>()?;
        for mut child in children {
            if !child.wait()?.success() {
                return Err("one of the calls at once failed".into());
            }
        }
        writeln!(out, "  {AT_ONCE} at once       {:>9.2?}", start.elapsed())?;
        // Linux counts in KiB.
        writeln!(out, "  command, peak    {:>6} KiB", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss())?;
        writeln!(out, "  keeper           {}", self.weight()?)?;
        if is_long {
            let start = Instant::now();
            for number in 1..=LONG {
                self.run(&self.call)?;
                if number % (LONG / 5) == 0 {
                    writeln!(out, "  {number:>6} calls  {:>9.2?}   keeper {}", start.elapsed(), self.weight()?)?;
                }
            }
        }
        Ok(())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).env("HOME", self.folder).env("XDG_RUNTIME_DIR", self.folder).current_dir(self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn of_server(&self, words: &[&str]) -> Command {
        let mut command = self.command(words);
        command.arg("--").args(self.server);
        command
    }

    fn run(&self, words: &[&str]) -> Result<()> {
        if self.of_server(words).status()?.success() { Ok(()) } else { Err(format!("{words:?} failed").into()) }
    }

    /// The keeper's memory and file descriptors.
    fn weight(&self) -> Result<String> {
        fs::write(self.folder.join("mcp.json"), r#"{"mcpServers": {}}"#)?;
        let output = self.command(&["servers", "-o", "json"]).stdout(Stdio::piped()).output()?;
        let servers: Value = serde_json::from_slice(&output.stdout)?;
        let pid = &servers["kept"][0]["pid"];
        // Memory shared with others is counted in part (proc(5)): the program itself, which the commands share.
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        let line =
            |name: &str| rollup.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim().to_owned();
        let (whole, part, own) = (line("Rss:"), line("Pss:"), line("Private_Dirty:"));
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))?.count();
        Ok(format!("{whole}, {part} proportionally, {own} its own; {descriptors} descriptors"))
    }
}

/// A server behind an open pipe, which one raw client after the other inherits.
struct Pipe {
    server: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Pipe {
    /// Starts the server and does the handshake.
    fn open(command: &[String]) -> Result<Self> {
        let [program, args @ ..] = command else { return Err("there is no command".into()) };
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn()?;
        let mut input = server.stdin.take().ok_or("no stdin")?;
        let mut output = server.stdout.take().ok_or("no stdout")?;
        writeln!(input, "{}", request(0, "initialize", INITIALIZE))?;
        response(&mut output)?;
        writeln!(input, "{INITIALIZED}")?;
        Ok(Self { server, input, output })
    }

    fn call(&mut self, params: &str) -> Result<()> {
        let mut client = Command::new(env::current_exe()?);
        client.args(["raw", params]).stdin(self.output.as_fd().try_clone_to_owned()?);
        client.stdout(self.input.as_fd().try_clone_to_owned()?);
        if client.status()?.success() { Ok(()) } else { Err("the raw client failed".into()) }
    }

    fn end(mut self) -> Result<()> {
        self.server.kill()?;
        self.server.wait()?;
        Ok(())
    }
}

/// One call over the pipe that this process was given: the server reads what is written here.
fn raw(params: &str) -> Result<()> {
    let mut server = io::stdout().lock();
    writeln!(server, "{}", request(1, "tools/call", params))?;
    server.flush()?;
    if response(&mut io::stdin().lock())?.contains("done") { Ok(()) } else { Err("there is no answer".into()) }
}

/// The next response; other messages from the server are skipped.
fn response(output: &mut impl Read) -> Result<String> {
    let mut lines = BufReader::new(output).lines();
    loop {
        let line = lines.next().ok_or("the server has ended")??;
        if line.contains(r#""id":"#) && !line.contains(r#""method":"#) {
            return Ok(line);
        }
    }
}
