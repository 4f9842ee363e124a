use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use futures_util::{FutureExt as _, future::BoxFuture};
use reqwest::{Method, header::HeaderMap};
use tokio::{sync::mpsc, task::AbortHandle, time::timeout};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    cookies::Cookies,
    exchange::Post,
    fetch::{FetchState, HttpPeer, HttpRequest},
    headers,
    tls::Clients,
};
use crate::{
    protocol::{FrameKind, Id, Revision},
    transport::{
        Closed, Credentials, Ended, Grace, HttpEndpoint, Incoming, Limits, Outgoing, Trace, Transport, TransportError,
    },
};

/// How many messages may wait for the client before reading stops.
const WAITING: usize = 64;
/// How long messages in progress may take to be sent, by default.
const UNDER_WAY: Duration = Duration::from_millis(200);
/// How long the request that ends the session may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// A connection to a server at a web address. Nothing is sent before the first message.
///
/// Speaks Streamable HTTP in every revision, and HTTP+SSE of 2024-11-05 if the endpoint says so or `initialize` is
/// refused with 400, 404 or 405. The `trace` gets HTTP exchanges, not frames.
///
/// # Errors
/// If the configured headers cannot be used.
pub fn connect(
    endpoint: &HttpEndpoint,
    limits: Limits,
    trace: Option<Trace>,
) -> Result<Box<dyn Transport>, TransportError> {
    connect_with(endpoint, limits, None, trace)
}

/// Like [`connect`], with `credentials` that are asked before each request.
///
/// # Errors
/// As for [`connect`].
pub fn connect_with(
    endpoint: &HttpEndpoint,
    limits: Limits,
    credentials: Option<Arc<dyn Credentials>>,
    trace: Option<Trace>,
) -> Result<Box<dyn Transport>, TransportError> {
    let (sender, receiver) = mpsc::channel(WAITING);
    let closed = CancellationToken::new();
    let peer = Arc::new(HttpPeer {
        url: endpoint.url.clone(),
        kind: endpoint.kind,
        trace,
        limits,
        headers: headers::configured(&endpoint.headers)?,
        credentials,
        clients: Clients::new(endpoint, limits.connect)?,
        cookies: Cookies::default(),
        posts_to: OnceLock::new(),
        incoming: sender,
        closed: closed.clone(),
        state: Mutex::new(FetchState::default()),
    });
    let gate = CancellationToken::new();
    gate.cancel();
    Ok(Box::new(HttpConnection {
        peer,
        incoming: receiver,
        open: HashMap::new(),
        quiet: TaskTracker::new(),
        gate,
        ended: None,
        _closes: closed.drop_guard(),
    }))
}

struct HttpConnection {
    peer: Arc<HttpPeer>,
    incoming: mpsc::Receiver<Incoming>,
    /// The requests in progress, and whether closing their stream tells the server.
    open: HashMap<Id, (AbortHandle, bool)>,
    /// Notifications and replies in progress.
    quiet: TaskTracker,
    /// Fires when messages may be sent: the last message of the handshake has to arrive first.
    gate: CancellationToken,
    ended: Option<Closed>,
    _closes: DropGuard,
}

impl HttpConnection {
    fn post(&mut self, out: Outgoing, mirrored: Option<HeaderMap>) -> Post {
        let gate = self.gate.clone();
        let opens = (out.frame.method() == Some("notifications/initialized")).then(|| {
            self.gate = CancellationToken::new();
            self.gate.clone().drop_guard()
        });
        Post { out, mirrored, gate, opens }
    }
}

impl Transport for HttpConnection {
    fn send(&mut self, out: Outgoing) -> Result<(), TransportError> {
        if let Some(closed) = &self.ended {
            return Err(TransportError::Closed(closed.clone()));
        }
        let mirrored = headers::mirrored(&out);
        let modern = mirrored.is_some();
        let kind = out.frame.kind().clone();
        if matches!(&kind, FrameKind::Request { method, .. } if method == "initialize") {
            self.peer.start_over();
        }
        let post = self.post(out, mirrored);
        let work = Arc::clone(&self.peer).exchange(post);
        match kind {
            FrameKind::Request { id, .. } => {
                self.open.retain(|_, (task, _)| !task.is_finished());
                self.open.insert(id, (self.peer.spawn(work), modern));
            }
            _ => {
                self.peer.spawn(self.quiet.track_future(work));
            }
        }
        Ok(())
    }

    fn next(&mut self) -> BoxFuture<'_, Incoming> {
        async {
            if let Some(closed) = &self.ended {
                return Incoming::Closed(closed.clone());
            }
            // The peer holds a sender, so the channel does not end before the connection does.
            let incoming = self.incoming.recv().await.unwrap_or_else(|| Incoming::Closed(gone()));
            if let Incoming::Closed(closed) = &incoming {
                self.ended = Some(closed.clone());
            }
            incoming
        }
        .boxed()
    }

    fn agree(&mut self, revision: Revision) {
        self.peer.agree(revision);
    }

    fn cancel(&mut self, id: &Id) -> bool {
        let Some((task, modern)) = self.open.remove(id) else { return false };
        task.abort();
        modern
    }

    fn close(self: Box<Self>, grace: Grace) -> BoxFuture<'static, Ended> {
        async move {
            let grace = match grace {
                Grace::Exactly(time) => time,
                Grace::AsNeeded | Grace::Brief => UNDER_WAY,
            };
            self.quiet.close();
            let _ = timeout(grace, self.quiet.wait()).await;
            self.peer.closed.cancel();
            if self.peer.has_session() {
                let (headers, url) = (self.peer.version_header(), &self.peer.url);
                let ask = HttpRequest { method: Method::DELETE, url, headers, body: None, is_repeatable: true };
                let goodbye = self.peer.fetch(ask);
                let _ = timeout(grace.max(GOODBYE), goodbye).await;
            }
            Ended::Otherwise
        }
        .boxed()
    }
}

fn gone() -> Closed {
    Closed { reason: "the connection is closed".into(), stderr: Vec::new() }
}
