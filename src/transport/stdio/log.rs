use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    sync::mpsc,
};

/// How many of the last meaningful lines are kept.
const KEPT: usize = 6;
/// How much of a line is kept, in bytes.
const LINE: usize = 2000;
/// How many lines may wait to be taken before the server's writing blocks.
const WAITING: usize = 256;

/// A server's standard error: always drained, so that the server never blocks on it; the last lines are kept.
pub(crate) struct StderrLog {
    lines: mpsc::Receiver<String>,
    tail: Arc<Mutex<VecDeque<String>>>,
}

impl StderrLog {
    /// Starts a task that drains `stderr` until its end, even after the log itself is dropped.
    pub(crate) fn drain(stderr: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let (sender, lines) = mpsc::channel(WAITING);
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        tokio::spawn(drain(stderr, sender, Arc::clone(&tail)));
        Self { lines, tail }
    }

    /// The next line, or `None` if the server has closed its standard error. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// The last meaningful lines, oldest first.
    pub(super) fn tail(&self) -> Vec<String> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

async fn drain(stderr: impl AsyncRead + Unpin, lines: mpsc::Sender<String>, tail: Arc<Mutex<VecDeque<String>>>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        let available = match stderr.fill_buf().await {
            Ok([]) | Err(_) => break,
            Ok(available) => available,
        };
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        line.extend_from_slice(&part[..part.len().min(LINE - line.len())]);
        let used = part.len() + usize::from(end.is_some());
        stderr.consume(used);
        if end.is_some() {
            keep(&mut line, &lines, &tail).await;
        }
    }
    if !line.is_empty() {
        keep(&mut line, &lines, &tail).await;
    }
}

async fn keep(line: &mut Vec<u8>, lines: &mpsc::Sender<String>, tail: &Mutex<VecDeque<String>>) {
    let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
    line.clear();
    if let Some(said) = said(&text) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == KEPT {
            tail.pop_front();
        }
        tail.push_back(said);
    }
    // Nobody takes the lines any more once the connection closes; draining continues.
    drop(lines.send(text).await);
}

/// The content of a line, without a frame around it and without colours; `None` if there is none.
fn said(line: &str) -> Option<String> {
    let is_frame = |c: char| {
        matches!(c, '\u{2500}'..='\u{259f}' | '|' | '+' | '*' | '=' | '#' | '-' | '_' | '~') || c.is_whitespace()
    };
    let plain = without_escapes(line);
    let bare = plain.trim_matches(|c: char| matches!(c, '\u{2500}'..='\u{259f}')).trim_end();
    // Characters of plain frames may also be part of the text.
    let bare = if bare.len() == plain.trim_end().len() { plain.trim_end() } else { bare.trim() };
    (!bare.chars().all(is_frame)).then(|| bare.to_owned())
}

/// `text` without escape sequences.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            plain.push(c);
        } else if rest.next_if_eq(&'[').is_some() {
            // A control sequence ends with its first letter or the like.
            rest.by_ref().find(|c| matches!(c, '\u{40}'..='\u{7e}'));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_colours_say_nothing() {
        for (line, expected) in [
            ("╭──────────────╮", None),
            ("│              │", None),
            ("│  FastMCP 4.2  │", Some("FastMCP 4.2")),
            ("==============", None),
            ("+----+----+", None),
            ("", None),
            ("   ", None),
            ("| a | b |", Some("| a | b |")),
            ("  File \"x.py\", line 3", Some("  File \"x.py\", line 3")),
            ("\u{1b}[31mError:\u{1b}[0m no key", Some("Error: no key")),
            ("── Starting ──", Some("Starting")),
            ("- one", Some("- one")),
        ] {
            assert_eq!(said(line).as_deref(), expected, "{line}");
        }
    }
}
