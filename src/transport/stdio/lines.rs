use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::transport::TransportError;

/// How many bytes are read at a time.
const CHUNK: usize = 64 * 1024;
/// A longer line gets a buffer of this size, in bytes, of which nothing is used before it is written to. Allocators can
/// grow blocks from this size on without copying; smaller ones would be left behind.
const LONG: usize = 8 << 20;
const ROOM: usize = 64 << 20;

/// The lines of a stream, each of any length up to a limit. A line is stored once, and each byte is scanned only once.
pub(super) struct StreamLines<R> {
    stream: BufReader<R>,
    line: Vec<u8>,
    limit: u64,
}

/// Why there are no more lines.
#[derive(Debug)]
pub(super) enum LineError {
    /// A line is longer than the limit.
    TooLong(TransportError),
    /// The stream failed.
    Io(io::Error),
}

impl<R: AsyncRead + Unpin> StreamLines<R> {
    /// The lines of `stream`, each of at most `limit` bytes.
    pub(super) fn new(stream: R, limit: u64) -> Self {
        Self { stream: BufReader::with_capacity(CHUNK, stream), line: Vec::new(), limit }
    }

    /// The stream behind the lines; data that was read ahead is dropped.
    pub(super) fn into_inner(self) -> R {
        self.stream.into_inner()
    }

    /// The next line without its end, or `None` at the end of the stream. Cancel-safe: a partly read line is kept.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        loop {
            let available = self.stream.fill_buf().await.map_err(LineError::Io)?;
            if available.is_empty() {
                // A last line without a line end is a line, too.
                return Ok(if self.line.is_empty() { None } else { Some(std::mem::take(&mut self.line)) });
            }
            let end = memchr::memchr(b'\n', available);
            let part = &available[..end.unwrap_or(available.len())];
            if (self.line.len() + part.len()) as u64 > self.limit {
                return Err(LineError::TooLong(TransportError::TooLarge { limit: self.limit }));
            }
            if self.line.len() > LONG && self.line.capacity() < ROOM {
                self.line.reserve_exact(ROOM - self.line.len());
            }
            self.line.extend_from_slice(part);
            let used = part.len() + usize::from(end.is_some());
            self.stream.consume(used);
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &[u8], limit: u64) -> Vec<Option<Vec<u8>>> {
        let mut lines = StreamLines::new(text, limit);
        let mut all = Vec::new();
        loop {
            match lines.next().await {
                Ok(None) => return all,
                Ok(line) => all.push(line),
                Err(_) => {
                    all.push(None);
                    return all;
                }
            }
        }
    }

    #[tokio::test]
    async fn lines_have_any_length_up_to_the_limit() {
        let long = vec![b'x'; CHUNK * 3 + 7];
        let text = [b"a\n\n", long.as_slice(), b"\nend"].concat();
        let expected = [b"a".to_vec(), Vec::new(), long, b"end".to_vec()].map(Some);
        assert_eq!(all(&text, u64::MAX).await, expected);
        assert_eq!(all(b"1234\n12345\n", 4).await, [Some(b"1234".to_vec()), None]);
    }
}
