//! Somebody at a browser, while the program waits.

use std::{
    io::Read,
    process::{Child, Stdio},
    time::Duration,
};

use url::Url;

use super::World;
use crate::harness::{Run, Test, pages, until, wait};

/// A link that the program opened or showed, and what can be done with it.
pub(crate) struct Link(pub(crate) Url);

impl Link {
    /// A value of the query.
    #[track_caller]
    pub(crate) fn of(&self, key: &str) -> String {
        query(&self.0, key).unwrap_or_else(|| panic!("no {key} in {}", self.0))
    }

    /// The page to which the authorization server redirects a browser with this link.
    #[track_caller]
    pub(crate) fn follow(&self) -> Url {
        let (head, _) = pages::request(self.0.as_str(), "GET", &[("Connection", "close")], "");
        let to = head.lines().find_map(|line| line.strip_prefix("Location: "));
        Url::parse(to.unwrap_or_else(|| panic!("leads nowhere: {head}"))).expect("an address")
    }

    /// Goes there and back; returns the last page, including its head.
    #[track_caller]
    pub(crate) fn visit(&self) -> String {
        visit(&self.follow())
    }
}

/// The page at `url`, including its head.
pub(crate) fn visit(url: &Url) -> String {
    let (head, body) = pages::get(url.as_str());
    format!("{head}\n{body}")
}

/// A value of a query.
pub(crate) fn query(url: &Url, key: &str) -> Option<String> {
    url.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
}

/// A run that has not ended.
pub(crate) struct Running<'a> {
    child: Child,
    world: &'a World,
    /// Its folder is removed when this is dropped.
    test: Test,
}

impl World {
    /// Starts a command without a terminal.
    pub(crate) fn start(&self, words: &[&str]) -> Running<'_> {
        self.start_test(self.test(words))
    }

    /// The same for a prepared command.
    pub(crate) fn start_test(&self, test: Test) -> Running<'_> {
        let mut command = test.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running { child: command.spawn().expect("the program starts"), world: self, test }
    }

    /// The link with which the browser was started.
    #[track_caller]
    pub(crate) fn opened(&self) -> Link {
        let path = self.home().join("opened");
        until("the browser is started", || path.exists());
        let link = std::fs::read_to_string(&path).expect("a link");
        std::fs::remove_file(path).expect("removed");
        Link(Url::parse(&link).expect("an address"))
    }

    /// Signs in, with nothing unusual.
    #[track_caller]
    pub(crate) fn sign_in(&self, words: &[&str]) -> Run {
        self.sign_in_test(self.test(words))
    }

    /// The same for a prepared command.
    #[track_caller]
    pub(crate) fn sign_in_test(&self, test: Test) -> Run {
        let run = self.start_test(test);
        run.visit();
        run.end(0)
    }
}

impl Running<'_> {
    /// The link, and the page to which it led.
    #[track_caller]
    pub(crate) fn visit(&self) -> String {
        self.world.opened().visit()
    }

    /// The next line of standard output.
    #[track_caller]
    pub(crate) fn line(&mut self) -> serde_json::Value {
        let line = self.next(|child| child.stdout.as_mut().map(|pipe| pipe as &mut dyn Read));
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))
    }

    /// The address that is shown on standard error.
    #[track_caller]
    pub(crate) fn shown(&mut self) -> Link {
        loop {
            let line = self.next(|child| child.stderr.as_mut().map(|pipe| pipe as &mut dyn Read));
            if line.starts_with("http") {
                return Link(Url::parse(line.trim()).expect("an address"));
            }
        }
    }

    /// Reads a line byte by byte, so that the rest stays unread.
    #[track_caller]
    fn next(&mut self, pipe: impl Fn(&mut Child) -> Option<&mut dyn Read>) -> String {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let mut byte = [0];
            let pipe = pipe(&mut self.child).expect("a pipe");
            assert_eq!(pipe.read(&mut byte).expect("readable"), 1, "{}", String::from_utf8_lossy(&line));
            line.push(byte[0]);
        }
        String::from_utf8(line).expect("UTF-8")
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_some()
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn end(self, status: i32) -> Run {
        self.end_with_test(status).0
    }

    /// The same, with the owner of its folder.
    #[track_caller]
    pub(crate) fn end_with_test(self, status: i32) -> (Run, Test) {
        let run = wait(self.child, Duration::from_secs(30));
        assert_eq!(run.status, Some(status), "{}\n{}", run.stdout, run.stderr);
        (run, self.test)
    }
}
