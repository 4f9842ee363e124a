use std::sync::Arc;

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::json;

use super::{
    Credentials, Ended, Endpoint, Grace, Incoming, Limits, Outgoing, Trace, Transport, TransportError, stdio::Stdio,
};
use crate::protocol::{Id, Revision};
use crate::text::with_causes;

/// Starts the program or prepares the connection for `endpoint`; requests to a web address carry the headers of
/// `credentials`. All messages are written to `trace`, if there is one.
///
/// # Errors
/// If the program cannot be started, or the settings cannot be used.
pub fn connect(
    endpoint: &Endpoint,
    limits: Limits,
    credentials: Option<Arc<dyn Credentials>>,
    trace: Option<Trace>,
) -> Result<Box<dyn Transport>, TransportError> {
    let transport = match endpoint {
        Endpoint::Stdio(endpoint) => Stdio::start(endpoint, limits)?,
        #[cfg(feature = "http")]
        Endpoint::Http(endpoint) => super::http::connect_with(endpoint, limits, credentials, trace.clone())?,
        #[cfg(not(feature = "http"))]
        Endpoint::Http(_) => {
            drop(credentials);
            let reason = "this build can only start programs; a build with the feature `http` can reach web addresses";
            return Err(TransportError::Settings(reason.to_owned()));
        }
    };
    Ok(match trace {
        Some(trace) => Box::new(Traced { transport, trace }),
        None => transport,
    })
}

/// A transport whose frames are written to a trace.
struct Traced {
    transport: Box<dyn Transport>,
    trace: Trace,
}

impl Transport for Traced {
    fn send(&mut self, out: Outgoing) -> Result<(), TransportError> {
        self.trace.sent(&out.frame);
        self.transport.send(out)
    }

    fn next(&mut self) -> BoxFuture<'_, Incoming> {
        async {
            let incoming = self.transport.next().await;
            match &incoming {
                Incoming::Frame(frame) | Incoming::During(_, frame) => self.trace.received(frame),
                Incoming::Junk(junk) => {
                    self.trace.note("junk", &json!({"preview": junk.preview, "reason": junk.reason}));
                }
                Incoming::Log(line) => self.trace.note("log", &json!(line)),
                Incoming::Failed { id, error } => {
                    self.trace.note("failed", &json!({"id": id.to_value(), "error": with_causes(&error)}));
                }
                Incoming::Undelivered { what, error } => {
                    self.trace.note("undelivered", &json!({"message": what, "error": with_causes(&error)}));
                }
                Incoming::Closed(closed) => self.trace.note("closed", &json!(closed.reason)),
            }
            incoming
        }
        .boxed()
    }

    fn agree(&mut self, revision: Revision) {
        self.transport.agree(revision);
    }

    fn cancel(&mut self, id: &Id) -> bool {
        self.transport.cancel(id)
    }

    fn close(self: Box<Self>, grace: Grace) -> BoxFuture<'static, Ended> {
        self.transport.close(grace)
    }
}
