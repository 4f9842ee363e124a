use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{
    clock::{Clock, Patience},
    driver::{self, DriverCommand, DriverRequest, DriverSetup},
    scope::{CallScope, OpenScope},
};
use crate::{
    protocol::{Frame, Id, Revision},
    transport::{Closed, Outgoing, Transport, TransportError},
};

/// A handle to the driver of one connection; answers come back as futures.
pub(super) struct Wire {
    commands: mpsc::UnboundedSender<DriverCommand>,
    setup: Arc<DriverSetup>,
    ids: Arc<AtomicU64>,
}

/// A request, before it has an id.
#[derive(Clone, Debug)]
pub(super) struct WireRequest {
    /// The method.
    pub(super) method: String,
    /// The params, whole.
    pub(super) params: Option<Map<String, Value>>,
    /// HTTP headers that mirror some of them.
    pub(super) headers: Vec<(String, String)>,
    /// Whether the server is told if the request is given up.
    pub(super) is_cancellable: bool,
}

impl WireRequest {
    /// A request that can be cancelled.
    pub(super) fn new(method: &str, params: Option<Map<String, Value>>) -> Self {
        Self { method: method.to_owned(), params, headers: Vec::new(), is_cancellable: true }
    }

    /// The request, whose cancellation is never sent to the server.
    pub(super) fn uncancellable(mut self) -> Self {
        self.is_cancellable = false;
        self
    }
}

/// Why a request has no response.
#[derive(Debug)]
pub(super) enum Failure {
    /// It could not be delivered.
    Transport(TransportError),
    /// It took too long.
    TimedOut(Duration),
    /// It was given up by us.
    Stopped,
}

impl Wire {
    /// Starts the driver of `transport`. `ids` is the counter of request ids, none of which is used twice.
    pub(super) fn start(transport: Box<dyn Transport>, setup: DriverSetup, ids: Arc<AtomicU64>) -> Self {
        let setup = Arc::new(setup);
        Self { commands: driver::spawn(transport, Arc::clone(&setup)), setup, ids }
    }

    /// Whether the connection is over.
    pub(super) fn is_over(&self) -> bool {
        self.setup.over.is_cancelled() || self.commands.is_closed()
    }

    /// How the server ended the connection, if it did.
    pub(super) fn ended(&self) -> Option<&Closed> {
        self.setup.ended.get()
    }

    /// What the driver knows.
    pub(super) fn setup(&self) -> &Arc<DriverSetup> {
        &self.setup
    }

    /// The clock that is paused while questions are open.
    pub(super) fn clock(&self) -> &Clock {
        &self.setup.clock
    }

    /// Sends a request once and waits for the response. Dropping the future gives up the request.
    ///
    /// # Errors
    /// See [`Failure`].
    pub(super) async fn request_once(
        &self,
        ask: WireRequest,
        patience: Patience,
        scope: Option<&CallScope>,
        stop: &CancellationToken,
    ) -> Result<Frame, Failure> {
        if stop.is_cancelled() {
            return Err(Failure::Stopped);
        }
        let id = Id::from(self.ids.fetch_add(1, Ordering::Relaxed));
        let frame = Frame::request(&id, &ask.method, ask.params.map(Value::Object).as_ref());
        let (reply, response) = oneshot::channel();
        let out = Outgoing { frame, headers: ask.headers };
        let token = scope.map(|scope| scope.token);
        let clock = scope.map_or(self.clock(), |scope| &scope.clock);
        let now = clock.now();
        let own = watch::Sender::new(now);
        let heard = scope.map_or(&own, |scope| &scope.heard);
        heard.send_replace(now);
        if self.commands.send(DriverCommand::Request(DriverRequest { id: id.clone(), out, token, reply })).is_err() {
            return Err(Failure::Transport(gone()));
        }
        let mut abandon =
            Abandon { wire: self, id, reason: ask.is_cancellable.then_some("no longer needed"), armed: true };
        tokio::select! {
            biased;
            response = response => {
                abandon.armed = false;
                response.unwrap_or_else(|_| Err(gone())).map_err(Failure::Transport)
            }
            never = stand_still(self.setup.asking.clone(), self.clock()) => match never {},
            () = stop.cancelled() => {
                abandon.because("interrupted");
                Err(Failure::Stopped)
            }
            after = patience.over(clock, heard.subscribe()) => {
                abandon.because("timed out");
                Err(Failure::TimedOut(after))
            }
        }
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: Option<Map<String, Value>>) {
        let frame = Frame::notification(method, params.map(Value::Object).as_ref());
        self.tell(DriverCommand::Notify(frame));
    }

    /// This revision was agreed on.
    pub(super) fn agree(&self, revision: Revision) {
        self.tell(DriverCommand::Agree(revision));
    }

    /// `done` fires when the notification for this link arrives.
    pub(super) fn expect_link(&self, id: String, done: CancellationToken) {
        self.tell(DriverCommand::ExpectLink { id, done });
    }

    /// Opens the scope of a call here, or opens it again after its connection was lost.
    pub(super) fn open_scope(&self, scope: Arc<CallScope>) -> OpenScope {
        OpenScope::open(self.commands.clone(), scope)
    }

    /// Ends the connection, and waits until it is over.
    pub(super) async fn close(&self) {
        let (done, ended) = oneshot::channel();
        self.tell(DriverCommand::Close(done));
        // If the driver is gone, the connection is closed already.
        drop(ended.await);
    }

    fn tell(&self, command: DriverCommand) {
        // If the driver is gone, all waiting requests have already failed.
        drop(self.commands.send(command));
    }
}

/// Pauses the clock while a person signs in.
async fn stand_still(asking: Option<watch::Receiver<bool>>, clock: &Clock) -> std::convert::Infallible {
    let Some(mut asking) = asking else { return std::future::pending().await };
    loop {
        if asking.wait_for(|asking| *asking).await.is_err() {
            return std::future::pending().await;
        }
        let _pause = clock.pause();
        if asking.wait_for(|asking| !*asking).await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Gives up a request if it is dropped before its response has arrived.
struct Abandon<'a> {
    wire: &'a Wire,
    id: Id,
    reason: Option<&'static str>,
    armed: bool,
}

impl Abandon<'_> {
    fn because(&mut self, reason: &'static str) {
        self.reason = self.reason.map(|_| reason);
    }
}

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.wire.tell(DriverCommand::Abandon { id: self.id.clone(), reason: self.reason });
        }
    }
}

/// The connection is over, for an unknown reason.
pub(super) fn gone() -> TransportError {
    TransportError::Closed(Closed { reason: "the connection is closed".into(), stderr: Vec::new() })
}
