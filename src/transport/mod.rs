//! Bytes to frames and back: one [`Transport`] for stdio, Streamable HTTP and HTTP+SSE.

mod challenge;
mod connect;
mod credentials;
mod ending;
mod endpoint;
mod error;
#[cfg(feature = "http")]
pub mod http;
mod incoming;
mod limits;
mod mask;
#[cfg(feature = "http")]
mod sse;
pub mod stdio;
mod trace;

pub use challenge::Challenge;
pub use connect::connect;
pub use credentials::{Credentials, CredentialsError, Grant, Refused};
pub use ending::{Ended, Grace};
pub use endpoint::{Endpoint, HttpEndpoint, HttpKind, StdioEndpoint};
pub use error::TransportError;
use error::is_passing;
#[cfg(feature = "http")]
pub(crate) use http::proxy_of;
#[cfg(feature = "http")]
pub use http::{Web, WebDocument};
pub use incoming::{Closed, Incoming, Junk, Outgoing};
pub use limits::Limits;
pub use mask::Mask;
pub(crate) use mask::{REDACTED, address};
#[cfg(feature = "fuzzing")]
pub(crate) use sse::fuzzed_events;
pub(crate) use stdio::{GroupId, MARK, groups, strays_of, watch_groups};
pub use trace::Trace;

use futures_util::future::BoxFuture;

use crate::protocol::{Id, Revision};

/// A connection to one server.
pub trait Transport: Send {
    /// Queues a frame to be written, in order. Never waits: a peer that does not read cannot block the reader.
    ///
    /// # Errors
    /// If the connection is closed. Later errors come out of [`Transport::next`].
    fn send(&mut self, out: Outgoing) -> Result<(), TransportError>;

    /// The next thing from the server. Cancel-safe. After [`Incoming::Closed`], returns that again.
    fn next(&mut self) -> BoxFuture<'_, Incoming>;

    /// Sets the revision that was agreed on.
    fn agree(&mut self, revision: Revision);

    /// The client gave up on request `id`. A transport with a stream for each request closes that one and returns
    /// `true` if that is enough to tell the server (2026-07-28, *Streamable HTTP*, Cancellation); otherwise
    /// `notifications/cancelled` is sent.
    fn cancel(&mut self, id: &Id) -> bool;

    /// Ends the connection, politely first and forcibly after `grace`, and returns how the server ended.
    fn close(self: Box<Self>, grace: Grace) -> BoxFuture<'static, Ended>;
}
