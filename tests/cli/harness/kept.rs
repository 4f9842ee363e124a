use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use super::{Run, Test, fake, wait};

/// A separate folder for the sockets of kept servers. Whatever was started with it is ended when this is dropped, even
/// if a test fails.
pub(crate) struct Keepers(PathBuf);

impl Keepers {
    /// In `folder`.
    pub(crate) fn within(folder: &Path) -> Self {
        let path = folder.join("run");
        DirBuilder::new().mode(0o700).recursive(true).create(&path).expect("the folder is made");
        Self(path)
    }

    /// The value for `XDG_RUNTIME_DIR`.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The processes that were started with this folder and are still running, with their command lines.
    pub(crate) fn processes(&self) -> Vec<(i32, String)> {
        let wanted = format!("XDG_RUNTIME_DIR={}", self.0.display());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = entries.filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let is_ours = environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
            let words = String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).ok()?).replace('\0', " ");
            is_ours.then_some((pid, words))
        });
        ours.collect()
    }
}

impl Drop for Keepers {
    fn drop(&mut self) {
        // Twice: a killed process may have started something meanwhile.
        for _ in 0..2 {
            for (pid, _) in self.processes() {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }
}

/// Commands one after the other, or at the same time, with the same kept servers.
pub(crate) struct Kept {
    test: Test,
    pub(crate) keepers: Keepers,
}

impl Kept {
    pub(crate) fn new(test: Test) -> Self {
        let keepers = Keepers::within(test.folder());
        Self { test, keepers }
    }

    /// The folder in which everything runs.
    pub(crate) fn folder(&self) -> &Path {
        self.test.folder()
    }

    /// The program with these words.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.test.command();
        command.args(words).env("XDG_RUNTIME_DIR", self.keepers.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the program.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        self.command(words).spawn().expect("the program starts")
    }

    /// Runs the program to its end, whatever its exit code.
    #[track_caller]
    pub(crate) fn any(&self, words: &[&str]) -> Run {
        wait(self.start(words), Duration::from_secs(60))
    }

    /// Runs the program to its end, which must have this exit code.
    #[track_caller]
    pub(crate) fn run(&self, status: i32, words: &[&str]) -> Run {
        let run = self.any(words);
        assert_eq!(run.status, Some(status), "{words:?}: {}\n{}", run.stdout, run.stderr);
        run
    }

    /// The entry of `servers` for the kept server called `name`.
    pub(crate) fn standing(&self, name: &str) -> Option<Value> {
        let servers = self.run(0, &["servers", "-o", "json"]).json();
        servers["servers"][name].get("kept").cloned()
    }

    /// The messages that a scripted server received, in all its processes.
    pub(crate) fn received(&self, server: &str) -> Vec<Value> {
        fake::received(self.folder(), server)
    }

    /// How often a scripted server got a request of `method`.
    pub(crate) fn count(&self, server: &str, method: &str) -> usize {
        self.received(server).iter().filter(|message| message["method"] == method).count()
    }

    /// The only socket.
    pub(crate) fn socket(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.keepers.path().join("toolnexus")).ok()?.flatten();
        entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|ending| ending == "sock"))
    }
}

/// Waits until `is_so`, for at most 20 s.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "not so after 20 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
