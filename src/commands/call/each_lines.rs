use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use tokio::sync::mpsc;

use crate::error::Error;

/// The longest line, in bytes.
const LONGEST: u64 = 16 << 20;
/// How many bytes are read at a time.
const READ: usize = 64 << 10;
/// How many lines are handed over at a time.
const TOGETHER: usize = 256;

/// A line of arguments, or why it is not one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ArgumentsLine {
    /// The line number in the file, from 1.
    pub(crate) number: usize,
    /// The line without its end.
    pub(crate) text: Result<String, String>,
}

/// The lines of a file or of stdin, read on demand: only one batch is read ahead.
pub(crate) struct ArgumentsLines {
    batches: mpsc::Receiver<Vec<ArgumentsLine>>,
    /// The rest of the last batch.
    ready: VecDeque<ArgumentsLine>,
    /// The size in bytes, for a regular file.
    size: Option<u64>,
    /// How many bytes have been read.
    read: Arc<AtomicU64>,
}

impl ArgumentsLines {
    /// Opens the file at `path`; `-` is stdin.
    ///
    /// # Errors
    /// [`Error::Usage`] if it cannot be opened.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Self::of(io::stdin(), None);
        }
        let unreadable = |reason: String| Error::usage(format!("--each {} cannot be read: {reason}", path.display()));
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        match file.metadata() {
            Ok(data) if data.is_dir() => Err(unreadable("it is a folder".to_owned())),
            Ok(data) if data.is_file() => Self::of(file, Some(data.len())),
            _ => Self::of(file, None),
        }
    }

    /// Reads in a separate thread, which waits until a line is wanted, so that neither a silent pipe nor a large file
    /// blocks anything.
    fn of(source: impl Read + Send + 'static, size: Option<u64>) -> Result<Self, Error> {
        let (batches, receiver) = mpsc::channel(1);
        let count = Arc::new(AtomicU64::new(0));
        let read_so_far = Arc::clone(&count);
        let read = move || {
            let mut source = BufReader::with_capacity(READ, source);
            let (mut number, mut batch) = (0, Vec::new());
            loop {
                number += 1;
                let read = next(&mut source, number == 1);
                let is_last = read.as_ref().is_none_or(|(_, is_last, _)| *is_last);
                if let Some((text, _, length)) = read {
                    count.fetch_add(length, Ordering::Relaxed);
                    if !text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
                        batch.push(ArgumentsLine { number, text });
                    }
                }
                // A line that is already there is handed over immediately.
                let is_full = batch.len() >= TOGETHER || !source.buffer().contains(&b'\n');
                let is_due = is_last || (is_full && !batch.is_empty());
                if (is_due && batches.blocking_send(std::mem::take(&mut batch)).is_err()) || is_last {
                    return;
                }
            }
        };
        let started = thread::Builder::new().name("lines".to_owned()).spawn(read);
        let lines = Self { batches: receiver, ready: VecDeque::new(), size, read: read_so_far };
        started.map(|_| lines).map_err(|error| Error::Io(format!("--each cannot be read: {error}")))
    }

    /// The next line that is not blank; `None` at the end. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<ArgumentsLine> {
        while self.ready.is_empty() {
            self.ready = self.batches.recv().await?.into();
        }
        self.ready.pop_front()
    }

    /// How much has been read, from 0 to 1, if the size is known.
    #[expect(clippy::cast_precision_loss, reason = "a progress bar has only a few steps")]
    pub(crate) fn part(&self) -> Option<f64> {
        self.size.map(|size| self.read.load(Ordering::Relaxed) as f64 / size.max(1) as f64)
    }
}

/// The next line, whether nothing can be read after it, and its length in bytes; `None` at the end.
fn next(source: &mut impl BufRead, is_first: bool) -> Option<(Result<String, String>, bool, u64)> {
    let mut bytes = Vec::new();
    match source.take(LONGEST + 1).read_until(b'\n', &mut bytes) {
        Err(error) => return Some((Err(format!("it cannot be read: {error}")), true, 0)),
        Ok(0) => return None,
        Ok(_) if bytes.len() as u64 > LONGEST && bytes.last() != Some(&b'\n') => {
            return Some((Err(format!("it is longer than {} MiB", LONGEST >> 20)), true, 0));
        }
        Ok(_) => {}
    }
    let length = bytes.len() as u64;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
    let text = text.map(|text| {
        // Some editors put a byte order mark at the beginning of a file.
        let text = if is_first { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
        text.trim_end_matches(['\n', '\r']).to_owned()
    });
    Some((text, false, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &'static [u8]) -> Vec<(usize, Result<String, String>)> {
        let mut lines = ArgumentsLines::of(bytes, None).expect("a thread");
        let mut read = Vec::new();
        while let Some(line) = lines.next().await {
            read.push((line.number, line.text));
        }
        read
    }

    #[tokio::test]
    async fn blank_lines_are_counted_and_left_out() {
        let line = |text: &str| Ok(text.to_owned());
        assert_eq!(all(b"\xef\xbb\xbf{}\r\n\n  \n{\"a\":1}").await, [(1, line("{}")), (4, line("{\"a\":1}"))]);
        assert_eq!(all(b"").await, []);
        assert_eq!(all(b"\xff\n{}\n").await, [(1, Err("it is not UTF-8".to_owned())), (2, line("{}"))]);
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_given_up() {
        let mut lines = ArgumentsLines::of(io::repeat(b'x'), None).expect("a thread");
        let line = lines.next().await.expect("a line");
        assert_eq!((line.number, line.text), (1, Err("it is longer than 16 MiB".to_owned())));
        assert_eq!(lines.next().await, None);
    }
}
