use std::sync::Arc;

use tokio::time::timeout;

use super::{fetch::HttpPeer, listen::Cursor, redirect};
use crate::transport::{Closed, HttpKind, Incoming, TransportError, sse::Events};

impl HttpPeer {
    /// Opens the stream before the first message, if the endpoint is configured that way.
    pub(super) async fn open_if_two_endpoints(self: &Arc<Self>) -> Result<(), TransportError> {
        if self.kind == HttpKind::Sse && self.posts_to.get().is_none() {
            return self.open_two_endpoints().await;
        }
        Ok(())
    }

    /// Opens the stream of HTTP+SSE (2024-11-05, *transports*): the server names the address for messages in the first
    /// event, and answers on the stream.
    ///
    /// # Errors
    /// If there is no such stream, or it names an address of another origin.
    pub(super) async fn open_two_endpoints(self: &Arc<Self>) -> Result<(), TransportError> {
        let limit = self.limits.connect;
        let opened = timeout(limit, async {
            let mut events = self.open_stream(&Cursor::default()).await?;
            let address = endpoint(&mut events).await?;
            Ok((events, address))
        });
        let (events, address) = opened.await.map_err(|_| TransportError::Silent(limit))??;
        let wrong =
            |reason: &str| TransportError::NoAnswer(format!("the server expects messages at {address:?}, {reason}"));
        let url = self.url.join(&address).map_err(|_| wrong("which is not a valid address"))?;
        if !redirect::same_origin(&self.url, &url) {
            return Err(wrong("which is on another host"));
        }
        // It is set only once: a second attempt finds the same server.
        let _ = self.posts_to.set(url);
        let peer = Arc::clone(self);
        self.spawn(async move {
            let reason = peer.follow_all(events).await;
            peer.tell(Incoming::Closed(Closed { reason, stderr: Vec::new() })).await;
        });
        Ok(())
    }
}

/// The data of the first `endpoint` event.
async fn endpoint(events: &mut Events) -> Result<String, TransportError> {
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| TransportError::NoAnswer(error.to_string()))?;
        match (event.event.as_deref(), event.data) {
            (Some("endpoint"), Some(address)) => return Ok(address),
            (None | Some("" | "message"), Some(data)) if !data.is_empty() => break,
            _ => {}
        }
    }
    Err(TransportError::NoAnswer("the stream does not begin with an endpoint event".into()))
}
