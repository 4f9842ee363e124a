//! The desktop notification that a question is waiting.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{call, chrome::tool};

/// How long to wait for a notification.
const LIMIT: Duration = Duration::from_secs(30);

/// A session bus, and a desktop on it that reports what it shows.
struct Desktop {
    bus: Child,
    desktop: Child,
    address: String,
    shown: Receiver<Value>,
}

/// A program that ends when its input does.
fn start(command: &mut Command) -> (Child, BufReader<ChildStdout>) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let stdout = BufReader::new(child.stdout.take().expect("stdout"));
    (child, stdout)
}

impl Desktop {
    fn open() -> Self {
        let mut line = String::new();
        let (bus, mut said) = start(Command::new("dbus-daemon").args(["--session", "--nofork", "--print-address=1"]));
        said.read_line(&mut line).expect("an address");
        let address = line.trim().to_owned();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/desktop.cjs");
        let modules = tool("dbus-next");
        let (desktop, said) = start(
            Command::new("node")
                .arg(script)
                .env("NODE_PATH", modules.parent().expect("a folder"))
                .env("DBUS_SESSION_BUS_ADDRESS", &address),
        );
        let mut lines = said.lines().map_while(Result::ok);
        assert_eq!(lines.next().as_deref(), Some("ready"));
        let (sender, shown) = mpsc::channel();
        thread::spawn(move || {
            for line in lines {
                // The test may have ended.
                let _ = sender.send(serde_json::from_str(&line).expect("JSON"));
            }
        });
        Self { bus, desktop, address, shown }
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in [&mut self.desktop, &mut self.bus] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_question_that_waits_is_shown_on_the_desktop_unless_quiet() {
    let desktop = Desktop::open();
    let ask = |more: &[&str], bus: &str| {
        let test = call("greet").args(more.iter().copied()).env("DBUS_SESSION_BUS_ADDRESS", bus);
        let run = test.at_browser();
        // With `--quiet` nobody learns where the page is.
        let asked = (!more.contains(&"--quiet")).then(|| run.asked());
        (run, asked)
    };
    // The quiet one comes first: its notification would arrive before the other's.
    let (quiet, _) = ask(&["--quiet", "--elicit-timeout", "2"], &desktop.address);
    assert!(!quiet.end_any().stderr.contains("notif"));
    assert!(desktop.shown.try_recv().is_err(), "nothing is shown when all is quiet");

    let (run, asked) = ask(&[], &desktop.address);
    let shown = desktop.shown.recv_timeout(LIMIT).expect("a notification");
    let words = "A question is waiting in your browser.";
    assert_eq!(shown, json!({"program": "toolnexus", "summary": "forms asks", "body": words}));
    let (tab, page) = asked.expect("a page");
    tab.send(&page, "decline", &[]);
    run.end(0);

    // A missing bus does no harm.
    let (run, asked) = ask(&[], "unix:path=/nowhere/at/all");
    let (tab, page) = asked.expect("a page");
    tab.send(&page, "decline", &[]);
    assert_eq!(run.end(0).stderr.lines().count(), 1);
}
