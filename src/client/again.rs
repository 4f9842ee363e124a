use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{
    clock::Patience,
    scope::CallScope,
    wire::{Failure, Wire, WireRequest},
};
use crate::{protocol::Frame, transport::TransportError};

/// How often a request is repeated if a gateway says that it cannot forward it.
const TRIES: u32 = 3;
/// The same after status 500, which is more often the server's own failure.
const TRIES_AFTER_500: u32 = 1;
/// The first pause, if the server names none; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);

impl Wire {
    /// Sends a request and waits for the response, a result or an error frame. Dropping the future gives up the
    /// request.
    ///
    /// If a gateway or a busy server answers with a temporary status, the request is sent again after a pause, within
    /// its time limit. A `tools/call` is repeated only after 429, or 503 with `Retry-After`, which both mean that it
    /// was not processed.
    ///
    /// # Errors
    /// See [`Failure`].
    pub(super) async fn request(
        &self,
        ask: WireRequest,
        patience: Patience,
        scope: Option<&CallScope>,
        stop: &CancellationToken,
    ) -> Result<Frame, Failure> {
        self.request_held(ask, patience, scope, stop, &AtomicBool::new(false)).await
    }

    /// Like [`Wire::request`]; also sets `is_held` once an answer says that the request has to wait.
    pub(super) async fn request_held(
        &self,
        ask: WireRequest,
        patience: Patience,
        scope: Option<&CallScope>,
        stop: &CancellationToken,
        is_held: &AtomicBool,
    ) -> Result<Frame, Failure> {
        let mut tries = 0;
        loop {
            let answer = self.request_once(ask.clone(), patience, scope, stop).await;
            let pause = match &answer {
                Err(Failure::Transport(error)) => pause(error, &ask.method, tries),
                _ => None,
            };
            let fits = |pause: &Duration| self.clock().now() + *pause < patience.until;
            let (Some(pause), Err(Failure::Transport(error))) = (pause.filter(fits), &answer) else { return answer };
            is_held.store(true, Ordering::Relaxed);
            self.setup().warn(format!("{}: trying again in {} s", status(error), pause.as_secs_f64()));
            tokio::select! {
                () = stop.cancelled() => return Err(Failure::Stopped),
                () = sleep(pause) => {}
            }
            tries += 1;
        }
    }
}

/// How long to wait before `method` is sent again after `error`; `None` if it is not.
fn pause(error: &TransportError, method: &str, tries: u32) -> Option<Duration> {
    let TransportError::Http { status, retry_after, .. } = error else { return None };
    let was_not_taken = *status == 429 || (*status == 503 && retry_after.is_some());
    let limit = if *status == 500 { TRIES_AFTER_500 } else { TRIES };
    if !error.is_passing() || tries >= limit || (method == "tools/call" && !was_not_taken) {
        return None;
    }
    let usual = PAUSE.saturating_mul(1 << tries);
    // "Retry after 0 seconds" means soon, not immediately and over and over.
    Some(retry_after.map_or(usual, |named| named.max(PAUSE / 5)))
}

fn status(error: &TransportError) -> String {
    match error {
        TransportError::Http { status, .. } => format!("HTTP {status}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_repeated_only_where_it_was_not_taken() {
        let error = |status, retry_after: Option<u64>| TransportError::Http {
            status,
            body: String::new(),
            challenge: None,
            retry_after: retry_after.map(Duration::from_secs),
        };
        let pauses = |method: &str, status, after| pause(&error(status, after), method, 0).map(|it| it.as_millis());
        for status in [408, 425, 429, 500, 502, 503, 504, 520, 522, 529, 530] {
            assert_eq!(pauses("initialize", status, None), Some(500), "{status}");
        }
        for status in [400, 401, 404, 501] {
            assert_eq!(pauses("initialize", status, None), None, "{status}");
        }
        assert_eq!(pauses("tools/list", 503, Some(3)), Some(3000));
        assert_eq!(pauses("tools/list", 503, Some(0)), Some(100));
        assert_eq!(pauses("tools/call", 429, None), Some(500));
        assert_eq!(pauses("tools/call", 503, Some(1)), Some(1000));
        for (status, after) in [(503, None), (500, Some(1)), (502, Some(1)), (504, None), (408, None)] {
            assert_eq!(pauses("tools/call", status, after), None, "{status}");
        }
        assert_eq!(pause(&error(502, None), "ping", 2), Some(Duration::from_secs(2)));
        assert_eq!(pause(&error(502, None), "ping", TRIES), None);
        assert_eq!(pause(&error(500, None), "ping", 1), None);
    }
}
