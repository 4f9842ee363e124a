//! Does anything grow? `cargo bench --bench soak -- MINUTES [WAY...]`; without a number it runs for a quarter of a minute.
//!
//! Runs a shell and a kept server, each over stdio and HTTP, side by side; nearly every call asks a question that a
//! file answers. Prints the resources of the process twenty times, and then a verdict: the most private memory and the
//! most file descriptors of the last quarter, compared with the second. The first quarter is for warming up.
//! `TOOLNEXUS` names another program to run.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How often the process is measured.
const LOOKS: u32 = 20;
/// How much memory may have grown at the end, in KiB: the normal variation of an allocator.
const MARGIN: u64 = 256;
const WAYS: [&str; 4] = ["shell-stdio", "shell-http", "kept-stdio", "kept-http"];
const ANSWERS: &str = r#"{"version": 1, "answers": [
    {"when": {"fields": ["name"]}, "content": {"name": "Ada"}, "repeat": true}]}"#;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let minutes = words.iter().find_map(|word| word.parse::<f64>().ok()).unwrap_or(0.25);
    let named =
        |way: &&str| !WAYS.iter().any(|way| words.iter().any(|word| word == way)) || words.iter().any(|w| w == way);
    let time = Duration::from_secs_f64(minutes * 60.0);
    let threads: Vec<_> =
        WAYS.into_iter().filter(named).map(|way| (way, thread::spawn(move || soak(way, time)))).collect();
    let mut is_flat = true;
    for (way, thread) in threads {
        let verdict = thread.join().unwrap_or_else(|_| Err("it panicked".into()));
        is_flat &= matches!(verdict, Ok(true));
        if let Err(error) = verdict {
            say(&format!("{way:<12} failed: {error}"));
        }
    }
    if is_flat { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn say(line: &str) {
    // If stdout is gone, there is nobody to tell.
    let _ = writeln!(io::stdout(), "{line}");
}

/// The resources of a process at one time.
#[derive(Clone, Copy)]
struct Look {
    /// All of its memory, in KiB, including pages of the program's file, which are loaded when they are used.
    resident: u64,
    /// Its private memory, in KiB.
    own: u64,
    descriptors: u64,
    calls: u64,
}

impl Look {
    fn at(pid: u32, calls: u64) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line?.split_whitespace().next()?.parse().ok()
        };
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))?.count() as u64;
        let (resident, own) = (of("VmRSS").ok_or("the process has ended")?, of("RssAnon").ok_or("no RssAnon")?);
        Ok(Self { resident, own, descriptors, calls })
    }
}

/// Makes calls in one of the ways until the time is over; returns whether the resources stayed the same.
fn soak(way: &'static str, time: Duration) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let (kind, transport) = way.split_once('-').ok_or("not a way")?;
    let (_server, entry) = match transport {
        "http" => {
            let (server, url) = http_server(folder.path())?;
            (Some(server), json!({"url": url}))
        }
        _ => (None, json!({"command": program(), "args": ["demo-server"]})),
    };
    fs::write(folder.path().join("mcp.json"), json!({"mcpServers": {"forms": entry}}).to_string())?;
    fs::write(folder.path().join("answers.json"), ANSWERS)?;
    let mut caller = match kind {
        "shell" => Caller::shell(folder.path())?,
        _ => Caller::kept(folder.path())?,
    };
    let looks = looks(way, &mut caller, time);
    let end = caller.end();
    let looks = looks?;
    end?;
    let most = |looks: &[Look]| {
        let own = looks.iter().map(|look| look.own).max().unwrap_or_default();
        (own, looks.iter().map(|look| look.descriptors).max().unwrap_or_default())
    };
    let quarter = looks.len() / 4;
    let (before, after) = (most(&looks[quarter..2 * quarter]), most(&looks[3 * quarter..]));
    let is_flat = after.0 <= before.0 + MARGIN && after.1 <= before.1;
    let verdict = if is_flat { "flat" } else { "GROWS" };
    let calls = looks.last().map_or(0, |look| look.calls);
    say(&format!(
        "{way:<12} {verdict}: {} -> {} KiB of its own, {} -> {} descriptors, {calls} calls in {:.1} min",
        before.0,
        after.0,
        before.1,
        after.1,
        time.as_secs_f64() / 60.0
    ));
    Ok(is_flat)
}

fn looks(way: &str, caller: &mut Caller, time: Duration) -> Result<Vec<Look>> {
    let start = Instant::now();
    let mut calls = 0;
    let mut looks = Vec::new();
    for look in 1..=LOOKS {
        while start.elapsed() < time * look / LOOKS {
            caller.call(calls)?;
            calls += 1;
            // Growth depends on the number of calls, not on their speed; leave time for other processes.
            thread::sleep(Duration::from_millis(20));
        }
        let seen = Look::at(caller.pid, calls)?;
        let seconds = start.elapsed().as_secs();
        say(&format!(
            "{way:<12} {seconds:>5} s {:>7} KiB resident {:>6} KiB of its own {:>3} descriptors {calls:>7} calls",
            seen.resident, seen.own, seen.descriptors
        ));
        looks.push(seen);
    }
    Ok(looks)
}

fn program() -> String {
    env::var("TOOLNEXUS").unwrap_or_else(|_| env!("CARGO_BIN_EXE_toolnexus").to_owned())
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(words).current_dir(folder).env("HOME", folder).env("XDG_RUNTIME_DIR", folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// A child that ends with its owner.
struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn http_server(folder: &Path) -> Result<(Owned, String)> {
    let mut server = Owned(command(folder, &["demo-server", "--http", "0"]).stderr(Stdio::piped()).spawn()?);
    let mut told = BufReader::new(server.0.stderr.take().ok_or("no stderr")?).lines();
    let line = told.next().ok_or("the server does not start")??;
    let url = line.split_whitespace().last().ok_or("no address")?.to_owned();
    // Later output is read, so that it never blocks.
    thread::spawn(move || told.for_each(drop));
    Ok((server, url))
}

/// The process that makes the calls, and that is measured.
struct Caller {
    pid: u32,
    way: Way,
}

enum Way {
    Shell { shell: Owned, input: ChildStdin, output: BufReader<ChildStdout> },
    Kept { folder: std::path::PathBuf },
}

/// The command line of one call, and its output.
fn words(number: u64) -> (&'static [&'static str], &'static str) {
    match number % 50 {
        1 => (&["call", "forms", "countdown", "from=1"], "Counted down from 1.\n"),
        _ => (&["call", "forms", "greet"], "Hello, Ada!\n"),
    }
}

impl Caller {
    fn shell(folder: &Path) -> Result<Self> {
        let words = ["shell", "forms", "--answers", "answers.json"];
        let mut shell = Owned(command(folder, &words).stdin(Stdio::piped()).spawn()?);
        let input = shell.0.stdin.take().ok_or("no stdin")?;
        let output = BufReader::new(shell.0.stdout.take().ok_or("no stdout")?);
        Ok(Self { pid: shell.0.id(), way: Way::Shell { shell, input, output } })
    }

    fn kept(folder: &Path) -> Result<Self> {
        if !command(folder, &["up", "forms"]).status()?.success() {
            return Err("the server is not kept".into());
        }
        let servers: Value = serde_json::from_slice(&command(folder, &["servers", "-o", "json"]).output()?.stdout)?;
        let pid = servers["servers"]["forms"]["kept"]["pid"].as_u64().ok_or("no keeper")?;
        Ok(Self { pid: u32::try_from(pid)?, way: Way::Kept { folder: folder.to_owned() } })
    }

    fn call(&mut self, number: u64) -> Result<()> {
        let (words, wanted) = words(number);
        let printed = match &mut self.way {
            Way::Shell { input, output, .. } => {
                writeln!(input, "{}", words.join(" "))?;
                let mut line = String::new();
                output.read_line(&mut line)?;
                line
            }
            Way::Kept { folder } => {
                let output = command(folder, words).args(["--answers", "answers.json"]).output()?;
                String::from_utf8(output.stdout)?
            }
        };
        if printed == wanted { Ok(()) } else { Err(format!("call {number} printed {printed:?}").into()) }
    }

    fn end(self) -> Result<()> {
        match self.way {
            Way::Shell { mut shell, input, .. } => {
                drop(input);
                let status = shell.0.wait()?;
                if status.success() { Ok(()) } else { Err(format!("the shell ended with {status}").into()) }
            }
            Way::Kept { folder } => {
                command(&folder, &["down", "--all"]).status()?;
                Ok(())
            }
        }
    }
}
