//! Scripted servers that misbehave: each fault has its exit code and its message, ends within its limit, and leaves no
//! process behind. `docs/reliability.md` lists them.

mod asking;
mod calling;
mod sockets;
mod standing;
mod starting;
mod system;
mod web;

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};

use super::harness::{Fake, Step, Test};

/// How long any of them may take.
const LIMIT: Duration = Duration::from_secs(20);

/// A fault of a stdio server: its name, what the server does, the exit code, and a part of stderr (or of stdout, if the
/// call succeeds).
struct Fault {
    name: &'static str,
    entry: fn(&Path) -> Value,
    status: i32,
    words: &'static str,
}

/// A call of the tool `t` of this server.
fn is(name: &'static str, entry: fn(&Path) -> Value, status: i32, words: &'static str) -> Fault {
    Fault { name, entry, status, words }
}

/// An entry that runs a shell.
fn shell(script: &str) -> Value {
    json!({"command": "sh", "args": ["-c", script], "timeout": 1500})
}

/// A scripted server's entry, with short limits.
fn scripted(folder: &Path, fake: &Fake) -> Value {
    let mut entry = fake.entry(folder, "s");
    entry["timeout"] = json!(3_000);
    entry
}

/// A legacy server whose call does this.
fn calls(folder: &Path, steps: impl IntoIterator<Item = Step>) -> Value {
    scripted(folder, &Fake::new().tool("t").on_call(steps))
}

/// A server of 2026-07-28 whose call does this.
fn modern(folder: &Path, steps: impl IntoIterator<Item = Step>) -> Value {
    scripted(folder, &Fake::new().modern().tool("t").on_call(steps))
}

fn text(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}], "resultType": "complete"})
}

#[track_caller]
fn all(faults: Vec<Fault>) {
    for Fault { name, entry, status, words } in faults {
        let test = Test::new();
        let entry = entry(test.folder());
        let mark = test.folder().join("mark").display().to_string();
        let mut entry = entry;
        entry["env"]["FAULT_MARK"] = json!(mark);
        let run = test.entry("s", entry).args(["call", "s", "t", "--no-keep"]).run_any();
        let shown = format!("{name}\n--- stdout\n{:.2000}\n--- stderr\n{:.2000}", run.stdout, run.stderr);
        assert_eq!(run.status, Some(status), "exit code; {shown}");
        let written = if status == 0 { &run.stdout } else { &run.stderr };
        assert!(written.contains(words), "{words:?} is missing; {shown}");
        assert!(!run.stderr.contains("panicked"), "{shown}");
        assert!(run.took < LIMIT, "it took {:?}; {shown}", run.took);
        assert_eq!(left(&mark), [0; 0], "processes are left; {shown}");
    }
}

/// The processes that have this mark in their environment.
fn left(mark: &str) -> Vec<i32> {
    let mark = format!("FAULT_MARK={mark}");
    let is_on = |id: &i32| {
        let variables = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
    ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_on).collect()
}
