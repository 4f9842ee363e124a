//! What the program costs, compared with a raw client: `cargo bench --bench start`.
//!
//! Measures `--version` compared with `/bin/true`, and a `call` of a tool of a trivial stdio server compared with a
//! client that writes the same few lines by hand, and over HTTPS, in turn: times, page faults, and the peak memory of
//! any process. `cargo bench --bench start -- quick` takes only a few rounds, which is enough for everything but the
//! times.

mod https;
#[expect(dead_code, reason = "the cases here are run in turn")]
#[path = "../trivial/mod.rs"]
mod trivial;

use std::{
    env, fs,
    io::{self, Write},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;

use trivial::{Raw, Result};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolnexus");
const ROUNDS: usize = 40;
const FEW_ROUNDS: usize = 5;

/// A command line that is measured.
struct Case {
    name: &'static str,
    words: Vec<String>,
    times: Vec<Duration>,
    faults: i64,
}

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("serve") => return trivial::serve(trivial::result),
        Some("raw") => return raw_call(&words[1]),
        Some("memory") => return memory_of(&words[1..]),
        _ => {}
    }
    let rounds = if words.iter().any(|word| word == "quick") { FEW_ROUNDS } else { ROUNDS };
    let this = env::current_exe()?.to_str().ok_or("the path is no text")?.to_owned();
    let home = tempfile::tempdir()?;
    let secure = https::serve()?;
    fs::write(home.path().join("ca.pem"), &secure.authority)?;
    let config = json!({"mcpServers": {"s": {"url": secure.url, "caFile": "ca.pem"}}});
    fs::write(home.path().join("mcp.json"), config.to_string())?;
    // Everything that the program remembers and looks up is in this folder.
    env::set_current_dir(home.path())?;

    let case = |name, words: &[&str]| Case {
        name,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        times: Vec::with_capacity(rounds),
        faults: 0,
    };
    let mut cases = [
        case("/bin/true", &["/bin/true"]),
        case("--version", &[PROGRAM, "--version"]),
        case("raw client", &[&this, "raw", &this]),
        case("call, stdio", &[PROGRAM, "call", "t", "--", &this, "serve"]),
        case("call, HTTPS", &[PROGRAM, "call", "s", "t"]),
    ];
    // The first one fills caches.
    for round in 0..=rounds {
        for case in &mut cases {
            case.run(round > 0)?;
        }
    }

    let mut out = io::stdout().lock();
    writeln!(out, "size             {:>9} KiB", fs::metadata(PROGRAM)?.len() / 1024)?;
    for at in 0..cases.len() {
        let (time, faults) = (cases[at].median(), cases[at].faults / i64::try_from(rounds)?);
        write!(out, "{:<16} {time:>9.2?} {faults:>6} page faults {:>7} KiB", cases[at].name, cases[at].memory(&this)?)?;
        // The baseline comes before each of ours.
        if matches!(at, 1 | 3) {
            let other = &cases[at - 1];
            write!(out, "   {:.2} times {}", time.as_secs_f64() / other.median().as_secs_f64(), other.name)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

impl Case {
    fn run(&mut self, counts: bool) -> Result<()> {
        let before = getrusage(UsageWho::RUSAGE_CHILDREN)?.minor_page_faults();
        let start = Instant::now();
        carry_out(&self.words)?;
        if counts {
            self.times.push(start.elapsed());
            self.faults += getrusage(UsageWho::RUSAGE_CHILDREN)?.minor_page_faults() - before;
        }
        Ok(())
    }

    fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort();
        times[times.len() / 2]
    }

    /// The peak memory of one of its processes, in KiB, measured in a process that has had no other children.
    fn memory(&self, this: &str) -> Result<u64> {
        let output = Command::new(this).arg("memory").args(&self.words).stderr(Stdio::inherit()).output()?;
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    }
}

fn carry_out(words: &[String]) -> Result<()> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("HOME", env::current_dir()?).stdin(Stdio::null()).stdout(Stdio::null());
    if command.status()?.success() { Ok(()) } else { Err(format!("{words:?} failed").into()) }
}

fn memory_of(words: &[String]) -> Result<()> {
    carry_out(words)?;
    let most = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    // Linux counts in KiB.
    writeln!(io::stdout(), "{}", if cfg!(target_os = "macos") { most / 1024 } else { most })?;
    Ok(())
}

/// The minimum of a client: start, handshake, list, call, end.
fn raw_call(server: &str) -> Result<()> {
    let mut raw = Raw::start(server)?;
    raw.initialize()?;
    raw.ask("tools/list", "{}")?;
    raw.ask("tools/call", r#"{"name":"t"}"#)?;
    raw.end()
}
