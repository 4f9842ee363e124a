use std::{
    io::Read,
    path::Path,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code; `None` if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// How long it took.
    pub(crate) took: Duration,
    /// Its peak memory in KiB, as seen shortly before its end; 0 if the system does not report it.
    pub(crate) peak: u64,
    folder: Option<TempDir>,
}

impl Run {
    pub(super) fn in_folder(mut self, folder: TempDir) -> Self {
        self.folder = Some(folder);
        self
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.as_ref().expect("the run has a folder").path()
    }

    /// The error object on the last line of stderr.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        let line = self.stderr.lines().last().unwrap_or_default();
        let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON error in {}", self.stderr));
        value["error"].clone()
    }

    /// stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// stdout as JSON lines.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
    }

    pub(super) fn stdout_start(&self) -> &str {
        let end = self.stdout.char_indices().nth(4000).map_or(self.stdout.len(), |(end, _)| end);
        &self.stdout[..end]
    }
}

/// How long a test waits for anything. Tests that start other people's servers set `TEST_SECONDS`.
pub(crate) fn patience() -> Duration {
    let seconds = std::env::var("TEST_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(30))
}

/// Waits for the end of `child` and all its output; kills it, and fails, when `time` is over.
pub(crate) fn wait(mut child: Child, time: Duration) -> Run {
    let start = Instant::now();
    let stdout = child.stdout.take().map(|mut pipe| thread::spawn(move || read(&mut pipe)));
    let stderr = child.stderr.take().map(|mut pipe| thread::spawn(move || read(&mut pipe)));
    let mut peak = 0;
    let status = loop {
        peak = held(child.id()).unwrap_or(peak);
        if let Some(status) = child.try_wait().expect("the child is ours") {
            break status;
        }
        if start.elapsed() > time {
            child.kill().expect("the child is ours");
            let text = stderr.map(|thread| thread.join().expect("stderr is read"));
            panic!("still running after {time:?}; stderr: {}", text.unwrap_or_default());
        }
        thread::sleep(Duration::from_millis(2));
    };
    let text =
        |thread: Option<thread::JoinHandle<String>>| thread.map_or_else(String::new, |t| t.join().expect("read"));
    Run { status: status.code(), took: start.elapsed(), peak, stdout: text(stdout), stderr: text(stderr), folder: None }
}

/// The peak memory of a process so far, in KiB.
fn held(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn read(pipe: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).expect("the pipe is read");
    String::from_utf8_lossy(&bytes).into_owned()
}
