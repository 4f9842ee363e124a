use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{
    discover::{self, Discovered},
    initialize,
};
use crate::{
    client::{
        ClientError, ServerInfo,
        clock::Patience,
        session::Manner,
        wire::{Ask, Failure, Wire, gone},
    },
    protocol::{Frame, Revision},
    transport::{Closed, TransportError},
};

pub(super) const METHOD: &str = "server/discover";

/// How long the rest is waited for, once one of the two questions is answered.
const OTHER: Duration = Duration::from_secs(2);

/// How a server that was asked both ways turned out to speak.
#[derive(Debug)]
pub(super) enum Probed {
    /// As this.
    Known(Box<Known>),
    /// It ended itself over the question.
    Gone(Closed),
}

/// How a server speaks.
#[derive(Debug)]
pub(super) struct Known {
    /// How it is spoken to now.
    pub(super) info: ServerInfo,
    /// How it is spoken to next time: modern, where the server is.
    pub(super) next: ServerInfo,
}

/// The question that every modern server answers.
pub(super) fn question(manner: &Manner) -> Ask {
    Ask::new(METHOD, manner.dress(None, Revision::NEWEST_MODERN, None)).uncancellable()
}

/// Asks `server/discover`, and when that is refused, or nothing is heard for `silence`, `initialize` on the same
/// connection; whichever is answered counts. A slow server answers both, a legacy one that ignores the first the second.
pub(super) async fn probe(
    wire: &Wire,
    manner: &Manner,
    silence: Duration,
    patience: Patience,
    stop: &CancellationToken,
) -> Result<Probed, ClientError> {
    let discover = wire.request(question(manner), patience, None, stop);
    tokio::pin!(discover);
    tokio::select! {
        biased;
        answer = &mut discover => match judge(answer)? {
            Judged::Modern(info) => Ok(known(info)),
            Judged::Gone(closed) => Ok(Probed::Gone(closed)),
            Judged::Legacy => {
                match initialize(wire, manner, Revision::NEWEST_LEGACY, patience, stop).await {
                    Ok(info) => Ok(known(info)),
                    // It refused the question and ended.
                    Err(error) => conclude(None, Some(error)),
                }
            }
        },
        () = tokio::time::sleep(silence) => {
            let handshake = initialize(wire, manner, Revision::NEWEST_LEGACY, patience, stop);
            both(discover, handshake).await
        }
    }
}

/// Waits for the answers to both questions, as long as they matter.
async fn both(
    mut discover: impl Future<Output = Result<Frame, Failure>> + Unpin,
    handshake: impl Future<Output = Result<ServerInfo, ClientError>>,
) -> Result<Probed, ClientError> {
    tokio::pin!(handshake);
    let (mut discovered, mut refused): (Option<Judged>, Option<ClientError>) = (None, None);
    let mut deadline: Option<Instant> = None;
    loop {
        tokio::select! {
            biased;
            answer = &mut discover, if discovered.is_none() => match judge(answer)? {
                Judged::Gone(closed) => return Ok(Probed::Gone(closed)),
                judged => discovered = Some(judged),
            },
            answer = &mut handshake, if refused.is_none() => match answer {
                // The handshake decides how this connection goes on: it may bind a server of both eras.
                Ok(info) => {
                    let next = match discovered {
                        Some(Judged::Modern(next)) => next,
                        _ => info.clone(),
                    };
                    return Ok(Probed::Known(Box::new(Known { info, next })));
                }
                Err(error) => refused = Some(error),
            },
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                return conclude(discovered, refused);
            }
        }
        if discovered.is_some() && refused.is_some() {
            return conclude(discovered, refused);
        }
        if refused.is_some() || matches!(discovered, Some(Judged::Modern(_))) {
            // The server is awake: what it has to say to the other question comes soon or never.
            deadline.get_or_insert_with(|| Instant::now() + OTHER);
        }
    }
}

/// What the answers mean, when the handshake did not succeed.
fn conclude(discovered: Option<Judged>, refused: Option<ClientError>) -> Result<Probed, ClientError> {
    match (discovered, refused) {
        (Some(Judged::Modern(info)), _) => Ok(known(info)),
        (_, Some(ClientError::Connect(TransportError::Closed(closed)))) => Ok(Probed::Gone(closed)),
        (_, Some(error)) => Err(error),
        (_, None) => Err(ClientError::Connect(gone())),
    }
}

fn known(info: ServerInfo) -> Probed {
    Probed::Known(Box::new(Known { next: info.clone(), info }))
}

#[derive(Debug)]
enum Judged {
    Modern(ServerInfo),
    Legacy,
    Gone(Closed),
}

/// What an answer to the question means.
fn judge(answer: Result<Frame, Failure>) -> Result<Judged, ClientError> {
    let discovered = match answer {
        Ok(frame) => discover::read(&frame),
        Err(Failure::Transport(TransportError::Closed(closed))) => return Ok(Judged::Gone(closed)),
        Err(Failure::Transport(
            error @ (TransportError::Http { status: 401, .. }
            | TransportError::Http { status: 403, challenge: Some(_), .. }),
        )) => {
            return Err(Failure::Transport(error).into_error(METHOD, false));
        }
        Err(Failure::Transport(error)) => discover::read_failure(error),
        Err(failure) => return Err(failure.into_error(METHOD, false)),
    };
    match discovered {
        Discovered::Modern(info) => Ok(Judged::Modern(info)),
        Discovered::Legacy => Ok(Judged::Legacy),
        Discovered::Failed(error) => Err(error),
    }
}
