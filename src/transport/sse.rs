//! Server-sent events (HTML standard, section 9.2), with a size limit.

mod unfinished;

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use futures_util::{Stream, StreamExt as _};
use hyper::body::Bytes;
use sse_stream::{Sse, SseByteStream};

/// Why a stream of events ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum SseError {
    /// An event is larger than the limit.
    #[error("an event of more than {0} bytes")]
    TooLarge(u64),
    /// The connection failed.
    #[error("{0}")]
    Cut(String),
    /// Not UTF-8.
    #[error("the event stream is not UTF-8")]
    NotText,
}

type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, SseError>> + Send>>;

/// The events of one response.
pub(super) struct Events {
    stream: SseByteStream<ByteStream>,
    /// Bytes received since the last event.
    pending: Arc<AtomicU64>,
    at_end: Arc<AtomicBool>,
    limit: u64,
}

impl Events {
    /// Decodes `bytes`; no event may be larger than `limit` bytes.
    pub(super) fn new<S>(bytes: S, limit: u64) -> Self
    where
        S: Stream<Item = Result<Bytes, SseError>> + Send + 'static,
    {
        let pending = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&pending);
        // A blank line at the end completes what the server left open; whether that counts is for the reader to decide.
        let (at_end, tail) = (Arc::new(AtomicBool::new(false)), b"\n\n".as_slice());
        let bytes = unfinished::ended_when_quiet(bytes);
        let ended = Arc::clone(&at_end);
        let last = futures_util::stream::once(async move {
            ended.store(true, Ordering::Relaxed);
            Ok(Bytes::from_static(tail))
        });
        let bounded = bytes.chain(last).map(move |chunk| {
            let chunk = chunk?;
            let length = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
            let seen = counter.fetch_add(length, Ordering::Relaxed);
            // A chunk may contain many events, so only what came before it counts; `next` checks the rest.
            if seen > limit { Err(SseError::TooLarge(limit)) } else { Ok(chunk) }
        });
        Self { stream: SseByteStream::new(Box::pin(bounded)), pending, at_end, limit }
    }

    /// Whether the last event was returned only because the stream has ended: its blank line never came.
    pub(super) fn is_cut(&self) -> bool {
        self.at_end.load(Ordering::Relaxed)
    }

    /// The next block of fields; `None` at the end. An unfinished block is returned last, and [`Events::is_cut`] says
    /// so. Cancel-safe. Blocks without data are returned too: they may contain an `id` or a `retry`.
    pub(super) async fn next(&mut self) -> Option<Result<Sse, SseError>> {
        let next = self.stream.next().await?;
        self.pending.store(0, Ordering::Relaxed);
        Some(match next {
            Ok(event) if event.data.as_ref().is_some_and(|data| data.len() as u64 > self.limit) => {
                Err(SseError::TooLarge(self.limit))
            }
            Ok(event) => Ok(event),
            Err(sse_stream::Error::Body(inner)) => Err(match inner.downcast::<SseError>() {
                Ok(error) => *error,
                Err(other) => SseError::Cut(other.to_string()),
            }),
            Err(_) => Err(SseError::NotText),
        })
    }
}

/// The blocks of a stream that arrives in `chunks`, for [`crate::fuzzing::sse_frames`]; the error last, if there is
/// one.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzzed_events(chunks: Vec<Bytes>) -> Vec<Result<Sse, String>> {
    use futures_util::FutureExt as _;
    // Whether a stream has gone quiet is measured with the runtime's clock.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let mut events = Events::new(futures_util::stream::iter(chunks.into_iter().map(Ok)), u64::MAX);
        let mut all = Vec::new();
        while let Some(Some(event)) = events.next().now_or_never() {
            let is_error = event.is_err();
            all.push(event.map_err(|error| error.to_string()));
            if is_error {
                break;
            }
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn decode(chunks: &[&[u8]], limit: u64) -> Vec<Result<Sse, String>> {
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let mut events = Events::new(futures_util::stream::iter(chunks), limit);
        let mut all = Vec::new();
        while let Some(event) = events.next().await {
            all.push(event.map_err(|error| error.to_string()));
        }
        all
    }

    fn data(text: &str) -> Sse {
        Sse::default().data(text)
    }

    #[tokio::test]
    async fn every_line_end_comments_and_a_byte_order_mark_are_read() {
        let stream: &[&[u8]] =
            &["\u{feff}data: a\r\n\r\n: hi\ndata:b\n\ndata: c\r".as_bytes(), b"\rdata: d\r", b"\n\r\n"];
        assert_eq!(decode(stream, 1000).await, [Ok(data("a")), Ok(data("b")), Ok(data("c")), Ok(data("d"))]);
    }

    #[tokio::test]
    async fn ids_and_pauses_come_without_data_too() {
        let stream: &[&[u8]] = &[b"id: 7\ndata:\n\nretry: 250\n\nid: a\0b\ndata: x\n\nretry: soon\nid\ndata: y\n\n"];
        let expected =
            [Sse::default().id("7").data(""), Sse::default().retry(250), data("x"), Sse::default().id("").data("y")];
        assert_eq!(decode(stream, 1000).await, expected.map(Ok));
    }

    #[tokio::test]
    async fn characters_may_be_split_and_lines_are_joined() {
        let text = "data: caf\u{e9}\ndata: two\n\n".as_bytes();
        let parts: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(decode(&parts, 1000).await, [Ok(data("caf\u{e9}\ntwo"))]);
    }

    #[tokio::test]
    async fn a_cut_off_event_is_recognized() {
        let chunks = [Ok(Bytes::from_static(b"data: a\n\ndata: {\"half\":"))];
        let mut events = Events::new(futures_util::stream::iter(chunks), 1000);
        assert_eq!(events.next().await.and_then(Result::ok), Some(data("a")));
        assert!(!events.is_cut());
        assert_eq!(events.next().await.and_then(Result::ok), Some(data("{\"half\":")));
        assert!(events.is_cut() && events.next().await.is_none());
        assert_eq!(decode(&[b"data: a\n"], 1000).await, [Ok(data("a"))]);
        assert_eq!(decode(&[b"data: a\n\n"], 1000).await, [Ok(data("a"))]);
    }

    #[tokio::test]
    async fn events_are_bounded_one_by_one() {
        let fits: &[&[u8]] = &[b"data: 12345678\n\ndata: 12345678\n\n", b"data: 12345678\n\n"];
        assert!(decode(fits, 10).await.iter().all(Result::is_ok));
        let chunk = [b'x'; 30];
        let huge: &[&[u8]] = &[b"data: ", &chunk, &chunk, &chunk];
        assert_eq!(decode(huge, 20).await, [Err("an event of more than 20 bytes".to_owned())]);
        let whole: &[&[u8]] = &[b"data: 123456789012345678901\n\n"];
        assert_eq!(decode(whole, 20).await, [Err("an event of more than 20 bytes".to_owned())]);
        assert_eq!(decode(&[b"data: \xff\xfe\n\n"], 20).await, [Err("the event stream is not UTF-8".to_owned())]);
    }
}
