//! Events that are whole but for the empty line after them, on a stream that stays open.

use std::{collections::VecDeque, time::Duration};

use futures_util::{Stream, StreamExt as _};
use hyper::body::Bytes;
use serde::de::IgnoredAny;
use tokio::time::timeout;

use super::SseError;

/// How long nothing comes before an event that has no end is looked at.
const QUIET: Duration = Duration::from_secs(1);
/// How many bytes of it are looked at.
const KEPT: usize = 64 * 1024;

/// The chunks of `bytes`, and an empty line of ours where nothing comes after an event that holds a whole message.
pub(super) fn ended_when_quiet<S>(bytes: S) -> impl Stream<Item = Result<Bytes, SseError>> + Send
where
    S: Stream<Item = Result<Bytes, SseError>> + Send + 'static,
{
    let start = (Box::pin(bytes), Tail::default());
    futures_util::stream::unfold(start, |(mut bytes, mut tail)| async move {
        let next = if tail.is_looked_at {
            bytes.next().await
        } else if let Ok(next) = timeout(QUIET, bytes.next()).await {
            next
        } else {
            tail.is_looked_at = true;
            if tail.holds_message() { Some(Ok(Bytes::from_static(b"\n\n"))) } else { bytes.next().await }
        };
        let next = next?;
        if let Ok(chunk) = &next {
            tail.add(chunk);
        }
        Some((next, (bytes, tail)))
    })
}

/// The last bytes of a stream.
#[derive(Default)]
struct Tail {
    chunks: VecDeque<Bytes>,
    length: usize,
    /// Whether nothing has come since they were looked at.
    is_looked_at: bool,
}

impl Tail {
    fn add(&mut self, chunk: &Bytes) {
        self.is_looked_at = false;
        self.length += chunk.len();
        self.chunks.push_back(chunk.clone());
        while self.length > KEPT {
            let Some(first) = self.chunks.pop_front() else { break };
            self.length -= first.len();
        }
    }

    /// Whether they end with an event that has no end, and whose data is a JSON object or list.
    fn holds_message(&self) -> bool {
        let bytes: Vec<u8> = self.chunks.iter().flatten().copied().collect();
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\r', "\n");
        let event = text.rsplit_once("\n\n").map_or(text.as_str(), |(_, event)| event);
        let data: String = event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
        data.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(&data).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(chunks: &[&str]) -> bool {
        let mut tail = Tail::default();
        for chunk in chunks {
            tail.add(&Bytes::copy_from_slice(chunk.as_bytes()));
        }
        tail.holds_message()
    }

    #[test]
    fn a_whole_message_without_its_empty_line_is_known() {
        for whole in [
            &["data: {\"id\":1}"][..],
            &["data: {\"id\":1}\n"],
            &["event: message\r\ndata:{\"id\":", "1}\r\n"],
            &["data: {}\n\n: hi\n\nid: 7\ndata: {\ndata: }\n"],
        ] {
            assert!(holds(whole), "{whole:?}");
        }
        for other in
            [&["data: {\"id\":"][..], &["data: {}\n\n"], &[": {}\n"], &["data: 1\n"], &["data: {}\r\n\r\n"], &[]]
        {
            assert!(!holds(other), "{other:?}");
        }
        assert!(!holds(&["data: {\"a\":\"", &"x".repeat(KEPT), "\"}"]));
    }

    #[tokio::test(start_paused = true)]
    async fn an_empty_line_comes_once_where_nothing_else_does() {
        let chunks = futures_util::stream::iter([Ok(Bytes::from_static(b"data: {}\n"))]);
        let mut stream = Box::pin(ended_when_quiet(chunks.chain(futures_util::stream::pending())));
        assert_eq!(stream.next().await.and_then(Result::ok).as_deref(), Some(&b"data: {}\n"[..]));
        assert_eq!(stream.next().await.and_then(Result::ok).as_deref(), Some(&b"\n\n"[..]));
        assert!(timeout(10 * QUIET, stream.next()).await.is_err());
    }
}
