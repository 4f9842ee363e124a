use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{
    ClientError,
    clock::Patience,
    conversation::Conversation,
    direct_client::{DirectClient, Route},
    scope::CallScope,
    wire::{Failure, WireRequest},
};
use crate::{
    protocol::{Era, Frame, FrameKind},
    transport::{Closed, TransportError},
};

/// A request with everything that it needs on the way.
pub(super) struct Exchange<'a> {
    /// The request.
    pub(super) ask: WireRequest,
    /// How long it may take.
    pub(super) patience: Patience,
    /// The call that it belongs to.
    pub(super) scope: Option<&'a CallScope>,
    /// Whether it may be sent again if its outcome is not known.
    pub(super) is_repeatable: bool,
    /// The connection to use.
    pub(super) line: Route,
}

impl DirectClient {
    /// Sends a request and waits for the response, a result or an error frame; also returns the session that it arrived
    /// on.
    ///
    /// A request that the server did not process is sent again once: after an HTTP session has ended, or if a server no
    /// longer speaks the remembered revision. A lost request is sent again once if that can do no harm.
    ///
    /// # Errors
    /// If there is no response.
    pub(super) async fn exchange(
        &self,
        exchange: Exchange<'_>,
        stop: &CancellationToken,
    ) -> Result<(Arc<Conversation>, Frame), ClientError> {
        let Exchange { ask, patience, scope, is_repeatable, line } = exchange;
        let method = ask.method.clone();
        let mut again = true;
        loop {
            let session = self.session_of(line, &method, stop).await?;
            let answer = session.request(ask.clone(), patience, scope, stop).await;
            let is_proven = session.is_proven();
            let mut fate = fate(&answer, is_proven, is_repeatable);
            if matches!(fate, RequestFate::Doubtful) {
                fate = if self.opener.confirm(&session, stop).await {
                    RequestFate::Final
                } else {
                    RequestFate::SpeaksOtherwise
                };
            }
            let is_passing = matches!(&answer, Err(Failure::Transport(error)) if error.is_passing());
            if !is_proven && answer.is_err() && !is_passing && !stop.is_cancelled() {
                // Whatever happened, the next run negotiates again.
                self.opener.forget();
            }
            match fate {
                RequestFate::SpeaksOtherwise if again => self.replace(&session, stop).await?,
                RequestFate::SessionEnded if again => self.opener.renew(&session, stop).await?,
                RequestFate::Lost if again => {
                    session.wire.setup().warn(format!("the answer to {method} was lost; it is sent again"));
                }
                _ => {
                    if answer.is_ok() {
                        session.prove();
                    }
                    let frame = answer.map_err(|failure| failure.into_error(&method, is_proven))?;
                    return Ok((session, frame));
                }
            }
            again = false;
        }
    }
}

/// What happened to a request.
enum RequestFate {
    /// The outcome is final.
    Final,
    /// The server refused it, perhaps because it no longer speaks the remembered revision.
    Doubtful,
    /// The server no longer speaks this revision, and has not understood the request.
    SpeaksOtherwise,
    /// The server has ended the session without processing the request.
    SessionEnded,
    /// The outcome is not known, and sending it again does no harm.
    Lost,
}

fn fate(answer: &Result<Frame, Failure>, is_proven: bool, is_repeatable: bool) -> RequestFate {
    let error = match answer {
        Ok(frame) if !is_proven && matches!(frame.kind(), FrameKind::Error { .. }) => return RequestFate::Doubtful,
        Err(Failure::Transport(error)) => error,
        Ok(_) | Err(Failure::TimedOut(_) | Failure::Stopped) => return RequestFate::Final,
    };
    let is_refused = matches!(error, TransportError::Http { status: 400..=499, .. }) && !error.is_passing();
    let is_lost =
        matches!(error, TransportError::Closed(_) | TransportError::NoAnswer(_) | TransportError::Unreachable { .. });
    match error {
        TransportError::SessionLost { .. } => RequestFate::SessionEnded,
        _ if !is_proven && (is_refused || (is_lost && is_repeatable)) => RequestFate::SpeaksOtherwise,
        _ if is_lost && is_repeatable => RequestFate::Lost,
        _ => RequestFate::Final,
    }
}

impl Conversation {
    /// Whether the connection is over and another one has to be opened.
    pub(super) fn is_over(&self) -> bool {
        self.wire.is_over()
    }

    /// How the server ended the connection, if it did.
    pub(super) fn ended(&self) -> Option<&Closed> {
        self.wire.ended()
    }

    /// Whether the server speaks a modern revision.
    pub(super) fn is_modern(&self) -> bool {
        self.info.era() == Era::Modern
    }
}
