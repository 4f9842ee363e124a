//! What the program costs beside a raw client: `cargo bench --bench start`.
//!
//! Measures `--version`, and a `call` of a tool of a trivial stdio server, against a client that writes the same few lines
//! by hand; and the peak memory of all of it.

mod trivial;

use std::{
    env,
    io::{self, Write},
    process::{Command, Stdio},
};

use nix::sys::resource::{UsageWho, getrusage};

use trivial::{Raw, Result, median};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolnexus");
const ROUNDS: usize = 40;

fn main() -> Result<()> {
    if env::args().nth(1).as_deref() == Some("serve") {
        return trivial::serve(trivial::result);
    }
    let server = env::current_exe()?;
    let home = tempfile::tempdir()?;
    let toolnexus = |words: &[&str]| -> Result<()> {
        let mut command = Command::new(PROGRAM);
        command.args(words).env("HOME", home.path()).stdin(Stdio::null()).stdout(Stdio::null());
        if command.status()?.success() { Ok(()) } else { Err(format!("toolnexus {words:?} failed").into()) }
    };
    let path = server.to_str().ok_or("the path is no text")?;

    let version = median(ROUNDS, || toolnexus(&["--version"]))?;
    let call = median(ROUNDS, || toolnexus(&["call", "t", "--", path, "serve"]))?;
    let memory = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    let raw = median(ROUNDS, || raw_call(path))?;

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

/// What a client cannot do without: start, shake hands, list, call, end.
fn raw_call(server: &str) -> Result<()> {
    let mut raw = Raw::start(server)?;
    raw.initialize()?;
    raw.ask("tools/list", "{}")?;
    raw.ask("tools/call", r#"{"name":"t"}"#)?;
    raw.end()
}
