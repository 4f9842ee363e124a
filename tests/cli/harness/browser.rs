//! A person at a browser, as far as HTTP is concerned: fetches pages, and sends their forms.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Run, Test, pages, run::wait};

/// How long to wait for anything.
const LIMIT: Duration = Duration::from_secs(60);

/// A run whose questions are asked on a page.
pub(crate) struct AtBrowser {
    test: Test,
    child: Child,
    urls: Receiver<String>,
    stderr: JoinHandle<()>,
    /// The output so far, of both streams.
    heard: Arc<Mutex<String>>,
    stdout: JoinHandle<String>,
}

/// A browser with one cookie jar.
#[derive(Clone)]
pub(crate) struct Tab {
    /// The address of the site.
    pub(crate) url: String,
    pub(crate) cookie: Option<String>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Its path below the site's own.
    pub(crate) path: String,
}

impl Test {
    /// Starts the program without a terminal; its questions appear as pages.
    pub(crate) fn at_browser(self) -> AtBrowser {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let (sender, urls) = mpsc::channel();
        let heard = Arc::<Mutex<String>>::default();
        let note = |heard: &Mutex<String>, line: &str| {
            let mut heard = heard.lock().expect("nobody panics");
            heard.push_str(line);
            heard.push('\n');
        };
        let (stderr, errors) = (child.stderr.take().expect("stderr"), Arc::clone(&heard));
        let stderr = thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some((_, url)) = line.split_once("asks in the browser: ") {
                    // The test may have ended.
                    let _ = sender.send(url.trim().to_owned());
                }
                note(&errors, &line);
            }
        });
        let (stdout, results) = (child.stdout.take().expect("stdout"), Arc::clone(&heard));
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                note(&results, &line);
                text.push_str(&line);
                text.push('\n');
            }
            text
        });
        AtBrowser { test: self, child, urls, stderr, heard, stdout }
    }
}

impl AtBrowser {
    /// A browser that has opened the page of the next question. Each call is for another question.
    pub(crate) fn asked(&self) -> (Tab, Page) {
        let tab = Tab { url: self.url(), cookie: None };
        let page = tab.get("");
        let cookie = Some(pages::cookie(&page.head));
        (Tab { cookie, ..tab }, page)
    }

    /// The address, once there is another question.
    pub(crate) fn url(&self) -> String {
        self.urls.recv_timeout(LIMIT).expect("a question comes")
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The folder in which it runs.
    pub(crate) fn folder(&self) -> &Path {
        self.test.folder()
    }

    /// Writes an empty file into the folder in which it runs.
    pub(crate) fn write(&self, name: &str) {
        std::fs::write(self.folder().join(name), "").expect("written");
    }

    /// Waits until a line with these words was written, to either stream, and returns it.
    #[track_caller]
    pub(crate) fn hear(&self, words: &str) -> String {
        let begin = Instant::now();
        loop {
            let heard = self.heard.lock().expect("nobody panics").clone();
            if let Some(line) = heard.lines().find(|line| line.contains(words)) {
                return line.to_owned();
            }
            assert!(begin.elapsed() < LIMIT, "{words:?} does not come; there is\n{heard}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for an event of this name.
    #[track_caller]
    pub(crate) fn hear_event(&self, name: &str) -> Value {
        serde_json::from_str(&self.hear(&format!("\"event\":\"{name}\""))).expect("a JSON line")
    }

    /// Waits for the end of the run, which must have this exit code.
    #[track_caller]
    pub(crate) fn end(self, status: i32) -> Run {
        let run = self.end_any();
        assert_eq!(run.status, Some(status), "exit code\n--- stdout\n{}\n--- stderr\n{}", run.stdout, run.stderr);
        run
    }

    /// Waits for the end of the run, whatever its exit code.
    #[track_caller]
    pub(crate) fn end_any(self) -> Run {
        let mut run = wait(self.child, LIMIT);
        self.stderr.join().expect("stderr is read");
        run.stdout = self.stdout.join().expect("stdout is read");
        let heard = self.heard.lock().expect("nobody panics").clone();
        let results: Vec<&str> = run.stdout.lines().collect();
        run.stderr = heard.lines().filter(|line| !results.contains(line)).flat_map(|line| [line, "\n"]).collect();
        run.in_folder(self.test.into_folder())
    }
}

impl Tab {
    /// The page at a path below the site's own.
    pub(crate) fn get(&self, path: &str) -> Page {
        self.request(path, "GET", &[], "")
    }

    /// Sends the form on `page`, as a browser would, and returns the page that it leads to.
    pub(crate) fn send(&self, page: &Page, act: &str, fields: &[(&str, &str)]) -> Page {
        let path = page.action();
        let sent = self.post(&path, &page.filled(act, fields));
        assert_eq!(sent.status, 303, "{}\n{}", sent.head, sent.body);
        self.get(&sent.leads_to())
    }

    /// Posts a form to a path.
    pub(crate) fn post(&self, path: &str, body: &str) -> Page {
        let origin: String = self.url.split_inclusive('/').take(3).collect();
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        self.request(path, "POST", &[("Origin", origin.trim_end_matches('/')), kind], body)
    }

    /// Sends a request with these headers and the cookie.
    pub(crate) fn request(&self, path: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Page {
        let mut headers = headers.to_vec();
        headers.extend(self.cookie.as_deref().map(|cookie| ("Cookie", cookie)));
        let url = format!("{}{}", self.url, path.split('#').next().unwrap_or_default());
        let (head, body) = pages::request(&url, method, &headers, body);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Page { status, head, body, path: path.to_owned() }
    }
}

impl Page {
    /// Checks that these words are on the page, as text.
    #[track_caller]
    pub(crate) fn see(&self, words: &str) -> &Self {
        assert!(self.text().contains(words), "{words:?} is not in {} {}\n{}", self.status, self.path, self.text());
        self
    }

    #[track_caller]
    pub(crate) fn not_see(&self, words: &str) -> &Self {
        assert!(!self.body.contains(words), "{words:?} is in {}", self.body);
        self
    }

    /// The text of the page, without markup, with entities decoded and white space collapsed.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let main = self.body.split_once("<main>").map_or(self.body.as_str(), |(_, main)| main);
        let main = main.split("<script").next().unwrap_or_default();
        for part in main.split('<') {
            let Some((tag, words)) = part.split_once('>') else { continue };
            let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
            // Inline elements.
            text.push_str(if matches!(name, "a" | "span" | "strong") { "" } else { " " });
            text.push_str(words);
        }
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The target of a redirect, below the site's own path.
    #[track_caller]
    pub(crate) fn leads_to(&self) -> String {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with("location:")).expect("a redirect");
        let path = line["location:".len()..].trim().trim_start_matches('/');
        path.split_once('/').map_or("", |(_, path)| path).to_owned()
    }

    /// The form on this page, filled in.
    pub(crate) fn filled(&self, act: &str, fields: &[(&str, &str)]) -> String {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.append_pair("_token", &pages::token(&self.body)).append_pair("do", act);
        if let Some(revision) = self.hidden("revision") {
            body.append_pair("revision", &revision);
        }
        body.extend_pairs(fields).finish()
    }

    /// The action of the form on the page.
    #[track_caller]
    pub(crate) fn action(&self) -> String {
        let rest = self.body.split_once(r#"<form method="post" action=""#).expect("a form").1;
        rest.split('"').next().unwrap_or_default().to_owned()
    }

    /// The value of a hidden input.
    pub(crate) fn hidden(&self, name: &str) -> Option<String> {
        let rest = self.body.split_once(&format!(r#"<input type="hidden" name="{name}" value=""#))?.1;
        rest.split('"').next().map(str::to_owned)
    }
}
