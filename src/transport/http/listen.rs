use std::time::Duration;

use reqwest::{
    Method,
    header::{ACCEPT, HeaderValue},
};
use tokio::time::{sleep, timeout};

use super::{
    answer,
    fetch::{HttpPeer, HttpRequest, challenge},
    headers::LAST_EVENT,
};
use crate::{
    protocol::Id,
    transport::{
        Incoming, Junk, TransportError,
        sse::{Events, SseError},
    },
};

/// How many consecutive attempts to open a stream may fail before it is given up.
const TRIES: u32 = 5;
/// The pause before a stream is opened again, if the server names none.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest and the longest pause, whatever the server names.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(30));
/// How long a stream may stay open after its answer, so that the connection can be reused.
const LINGER: Duration = Duration::from_secs(1);

/// How far a stream was read (2025-11-25, *transports*, Resumability).
#[derive(Default)]
pub(super) struct Cursor {
    last_event: Option<String>,
    retry: Option<Duration>,
}

impl Cursor {
    /// How long to wait before the next attempt, after this many consecutive failures.
    fn pause(&self, failures: u32) -> Duration {
        let first = self.retry.unwrap_or(PAUSE).max(PAUSES.0);
        first.saturating_mul(1 << failures.min(10)).min(PAUSES.1).max(first)
    }
}

/// Why a stream is no longer followed.
enum Stop {
    Answered,
    Ended,
    Broken(SseError),
}

impl HttpPeer {
    /// Reads the stream of request `id` up to its answer. A legacy stream that ends before is resumed where it stopped,
    /// if the server gave the position an id.
    pub(super) async fn follow_to_answer(
        &self,
        id: &Id,
        mut events: Events,
        mut cursor: Cursor,
        resumable: bool,
    ) -> Result<(), TransportError> {
        loop {
            let reason = match self.follow(&mut events, &mut cursor, Some(id)).await {
                Stop::Answered => {
                    // What follows the answer is passed on, too.
                    let _ = timeout(LINGER, self.follow(&mut events, &mut cursor, None)).await;
                    return Ok(());
                }
                Stop::Broken(SseError::TooLarge(limit)) => return Err(TransportError::TooLarge { limit }),
                Stop::Ended => "the stream ended before the answer".to_owned(),
                Stop::Broken(error) => format!("the stream was cut off before the answer: {error}"),
            };
            if !resumable || cursor.last_event.is_none() {
                return Err(TransportError::NoAnswer(reason));
            }
            events = self
                .resume(&cursor)
                .await
                .map_err(|error| TransportError::NoAnswer(format!("{reason}, and could not be resumed: {error}")))?;
        }
    }

    async fn resume(&self, cursor: &Cursor) -> Result<Events, TransportError> {
        let mut failures = 0;
        loop {
            sleep(cursor.pause(failures)).await;
            match self.open_stream(cursor).await {
                Err(TransportError::Unreachable { .. } | TransportError::Http { status: 500.., .. })
                    if failures + 1 < TRIES =>
                {
                    failures += 1;
                }
                opened => return opened,
            }
        }
    }

    /// Keeps the stream open on which a legacy server may send its own messages. Ends silently if the server offers
    /// none.
    pub(super) async fn listen(&self) {
        let session = self.listener();
        session.run_until_cancelled(self.listen_on()).await;
    }

    async fn listen_on(&self) {
        let (mut cursor, mut failures) = (Cursor::default(), 0);
        loop {
            match self.open_stream(&cursor).await {
                Ok(mut events) => {
                    let before = cursor.last_event.clone();
                    if let Stop::Broken(SseError::TooLarge(limit)) = self.follow(&mut events, &mut cursor, None).await {
                        let reason = format!("an event of more than {limit} bytes (maxMessage)");
                        self.tell(Incoming::Junk(Junk { preview: String::new(), reason })).await;
                        cursor.last_event = None;
                    }
                    // A server that keeps closing the stream is asked less and less often.
                    failures = if cursor.last_event == before { failures + 1 } else { 0 };
                }
                Err(TransportError::Unreachable { .. } | TransportError::Http { status: 500.., .. })
                    if failures + 1 < TRIES =>
                {
                    failures += 1;
                }
                Err(_) => return,
            }
            sleep(cursor.pause(failures)).await;
        }
    }

    /// Opens a stream with GET, after the event of `cursor` if there is one.
    pub(super) async fn open_stream(&self, cursor: &Cursor) -> Result<Events, TransportError> {
        let mut headers = self.version_header();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(value) = cursor.last_event.as_ref().and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(LAST_EVENT, value);
        }
        let ask = HttpRequest { method: Method::GET, url: &self.url, headers, body: None, is_repeatable: true };
        let response = self.fetch(ask).await?.response;
        let (status, kind) = (response.status(), answer::media_type(&response));
        if !status.is_success() {
            let challenge = challenge(&response);
            let retry_after = answer::retry_after(&response);
            let body = answer::quote(&answer::refusal(response, self.limits.between_bytes).await);
            return Err(TransportError::Http { status: status.as_u16(), body, challenge, retry_after });
        }
        if kind != "text/event-stream" {
            return Err(TransportError::NoAnswer(format!("HTTP {} without an event stream", status.as_u16())));
        }
        Ok(answer::events(response, &self.limits))
    }

    /// Passes on the messages of a stream until it ends or `asked` is answered.
    async fn follow(&self, events: &mut Events, cursor: &mut Cursor, asked: Option<&Id>) -> Stop {
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => return Stop::Broken(error),
            };
            if events.is_cut() {
                // Of an unfinished event only a complete answer counts, and it is passed on before the end is reported.
                let data = event.data.unwrap_or_default();
                let is_answer = self.pass_on_answer(data, asked).await;
                return if is_answer { Stop::Answered } else { Stop::Ended };
            }
            if let Some(id) = event.id {
                cursor.last_event = Some(id).filter(|id| !id.is_empty());
            }
            if let Some(retry) = event.retry {
                cursor.retry = Some(Duration::from_millis(retry));
            }
            let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
            let data = event.data.filter(|data| is_message && !data.is_empty());
            if let Some(data) = data
                && self.pass_on_data(data, asked).await
            {
                return Stop::Answered;
            }
        }
        Stop::Ended
    }

    /// Follows the stream of HTTP+SSE to its end, and returns why it ended.
    pub(super) async fn follow_all(&self, mut events: Events) -> String {
        match self.follow(&mut events, &mut Cursor::default(), None).await {
            Stop::Answered | Stop::Ended => "the server closed the event stream".to_owned(),
            Stop::Broken(error) => format!("the event stream was cut off: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_never_fall_below_what_the_server_asks_for() {
        let cursor = |retry: Option<u64>| Cursor { last_event: None, retry: retry.map(Duration::from_millis) };
        assert_eq!(cursor(None).pause(0), PAUSE);
        assert_eq!(cursor(Some(500)).pause(1), PAUSE);
        assert_eq!(cursor(Some(0)).pause(0), PAUSES.0);
        assert_eq!(cursor(None).pause(40), PAUSES.1);
        assert_eq!(cursor(Some(60_000)).pause(3), Duration::from_secs(60));
        assert_eq!(cursor(Some(u64::MAX)).pause(3), Duration::from_millis(u64::MAX));
    }
}
