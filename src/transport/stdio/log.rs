use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    sync::mpsc,
};

/// How many of the last lines are kept.
const KEPT: usize = 20;
/// How much of a line is kept, in bytes.
const LINE: usize = 2000;
/// How many lines wait to be taken before the server's writing waits too.
const WAITING: usize = 256;

/// A server's standard error: drained always, so that the server never blocks on it, its last lines kept.
pub(crate) struct StderrLog {
    lines: mpsc::Receiver<String>,
    tail: Arc<Mutex<VecDeque<String>>>,
}

impl StderrLog {
    /// Starts a task that drains `stderr` until its end, also after the log itself is dropped.
    pub(crate) fn drain(stderr: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let (sender, lines) = mpsc::channel(WAITING);
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        tokio::spawn(drain(stderr, sender, Arc::clone(&tail)));
        Self { lines, tail }
    }

    /// The next line, or `None` when the server has closed its standard error. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// The last lines, oldest first.
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
    {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == KEPT {
            tail.pop_front();
        }
        tail.push_back(text.clone());
    }
    // Nobody takes the lines any more once the connection closes; draining goes on.
    drop(lines.send(text).await);
}
