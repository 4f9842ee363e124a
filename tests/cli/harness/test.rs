use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::{Fake, Run, fake};

/// One run of the program: set up, run, and checked.
///
/// ```ignore
/// Test::new().server("s", Fake::new().tool("t")).args(["call", "s", "t"]).stdout("done\n").run();
/// ```
#[must_use]
pub(crate) struct Test {
    folder: TempDir,
    servers: Map<String, Value>,
    args: Vec<String>,
    env: Vec<(String, String)>,
    stdin: Option<Vec<u8>>,
    status: i32,
    stdout: Option<String>,
    stdout_parts: Vec<String>,
    stderr: Option<String>,
    stderr_parts: Vec<String>,
    time: Duration,
    /// The most memory that the program may map, in KiB.
    memory: Option<u64>,
}

/// Whether SIGINT is ignored, if the system says so.
fn is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
}

impl Test {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            servers: Map::new(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: None,
            status: 0,
            stdout: None,
            stdout_parts: Vec::new(),
            stderr: None,
            stderr_parts: Vec::new(),
            time: super::run::patience(),
            memory: None,
        }
    }

    /// Another run, in a folder with the same files.
    pub(crate) fn again(&self) -> Self {
        let again = Self::new();
        for entry in fs::read_dir(self.folder()).expect("the folder").flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), again.folder().join(entry.file_name())).expect("a copy");
            }
        }
        again
    }

    /// The folder in which the program runs; its HOME is `home` inside it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes `mcp.json`.
    pub(crate) fn config(self, text: &str) -> Self {
        self.file("mcp.json", text)
    }

    /// Puts a scripted server into `mcp.json`.
    pub(crate) fn server(self, name: &str, server: &Fake) -> Self {
        let entry = server.entry(self.folder.path(), name);
        self.entry(name, entry)
    }

    /// Puts the demo server into `mcp.json`, called `forms`.
    pub(crate) fn demo(self) -> Self {
        self.entry("forms", json!({"command": "toolnexus", "args": ["demo-server"]}))
    }

    /// Puts any entry into `mcp.json`.
    pub(crate) fn entry(mut self, name: &str, entry: Value) -> Self {
        self.servers.insert(name.to_owned(), entry);
        let text = json!({"mcpServers": self.servers}).to_string();
        self.config(&text)
    }

    /// Writes a file.
    pub(crate) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        fs::write(path, text).expect("the file is written");
        self
    }

    /// Adds words to the command line.
    pub(crate) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The content of stdin; empty by default.
    pub(crate) fn stdin(mut self, text: impl AsRef<[u8]>) -> Self {
        self.stdin = Some(text.as_ref().to_vec());
        self
    }

    /// The content of stdin, as text.
    pub(super) fn stdin_text(&self) -> &[u8] {
        self.stdin.as_deref().unwrap_or_default()
    }

    /// Limits the memory that the program, and what it starts, may map, in MiB.
    pub(crate) fn memory(mut self, most: u64) -> Self {
        self.memory = Some(most * 1024);
        self
    }

    /// The expected exit code; 0 by default.
    pub(crate) fn status(mut self, status: i32) -> Self {
        self.status = status;
        self
    }

    /// All of stdout.
    pub(crate) fn stdout(mut self, text: &str) -> Self {
        self.stdout = Some(text.to_owned());
        self
    }

    /// A part of stdout.
    pub(crate) fn stdout_contains(mut self, text: &str) -> Self {
        self.stdout_parts.push(text.to_owned());
        self
    }

    /// All of stderr.
    pub(crate) fn stderr(mut self, text: &str) -> Self {
        self.stderr = Some(text.to_owned());
        self
    }

    /// A part of stderr.
    pub(crate) fn stderr_contains(mut self, text: &str) -> Self {
        self.stderr_parts.push(text.to_owned());
        self
    }

    /// The command, ready to be started, for tests that start it in their own way.
    pub(crate) fn command(&self) -> Command {
        let mut command = match self.memory {
            None if is_ignored() => {
                // If the tests run in the background, SIGINT is ignored, which the program would respect.
                let mut env = Command::new("/usr/bin/env");
                env.args(["--default-signal=INT", env!("CARGO_BIN_EXE_toolnexus")]);
                env
            }
            None => Command::new(env!("CARGO_BIN_EXE_toolnexus")),
            Some(most) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("ulimit -v {most}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_toolnexus")]);
                shell
            }
        };
        let home = self.folder.path().join("home");
        command
            .args(&self.args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", home)
            .env("PATH", "/usr/bin:/bin")
            // Where there are no servers that somebody else keeps.
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The folder, for the outcome of a run.
    pub(super) fn into_folder(self) -> TempDir {
        self.folder
    }

    /// Runs the program to its end, and checks the expectations.
    #[track_caller]
    pub(crate) fn run(self) -> Run {
        let output = self.start();
        self.check(&output);
        output.in_folder(self.folder)
    }

    /// Runs the program to its end, whatever its exit code.
    pub(crate) fn run_any(self) -> Run {
        let output = self.start();
        output.in_folder(self.folder)
    }

    fn start(&self) -> Run {
        let mut child = self
            .command()
            .stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stdin = child.stdin.take();
        let text = self.stdin.clone().unwrap_or_default();
        // The program may end without reading all of it.
        let writer = thread::spawn(move || stdin.map(|mut stdin| drop(stdin.write_all(&text))));
        let output = super::run::wait(child, self.time);
        writer.join().expect("stdin is written");
        output
    }

    #[track_caller]
    fn check(&self, run: &Run) {
        let shown = format!("args {:?}\n--- stdout\n{}\n--- stderr\n{}", self.args, run.stdout_start(), run.stderr);
        assert_eq!(run.status, Some(self.status), "exit code; {shown}");
        if let Some(stdout) = &self.stdout {
            assert_eq!(&run.stdout, stdout, "stdout; {shown}");
        }
        if let Some(stderr) = &self.stderr {
            assert_eq!(&run.stderr, stderr, "stderr; {shown}");
        }
        for part in &self.stdout_parts {
            assert!(run.stdout.contains(part), "stdout lacks {part:?}; {shown}");
        }
        for part in &self.stderr_parts {
            assert!(run.stderr.contains(part), "stderr lacks {part:?}; {shown}");
        }
    }
}

impl Run {
    /// The messages that a scripted server received.
    pub(crate) fn received(&self, server: &str) -> Vec<Value> {
        fake::received(self.folder(), server)
    }

    /// The params of the `n`th request of `method` that a scripted server received.
    #[track_caller]
    pub(crate) fn params(&self, server: &str, method: &str, n: usize) -> Value {
        let received = self.received(server);
        let mut requests = received.iter().filter(|message| message["method"] == method);
        requests.nth(n).unwrap_or_else(|| panic!("no {method} number {n} in {received:#?}"))["params"].clone()
    }

    /// The reply that the server received to its request with this id: the result, or the error.
    #[track_caller]
    pub(crate) fn reply(&self, server: &str, id: &Value) -> Value {
        let received = self.received(server);
        let mut replies = received.iter().filter(|message| &message["id"] == id && message.get("method").is_none());
        let reply = replies.next().unwrap_or_else(|| panic!("no reply to {id} in {received:#?}")).clone();
        assert!(replies.next().is_none(), "two replies to {id}");
        reply.get("result").or(reply.get("error")).cloned().unwrap_or_default()
    }

    /// The stdout of another run in the same folder.
    pub(crate) fn command_again(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolnexus"));
        command.args(args).current_dir(self.folder()).env_clear().stdin(Stdio::null());
        command.env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin");
        String::from_utf8_lossy(&command.output().expect("it runs").stdout).into_owned()
    }

    /// A path in the run's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }
}
