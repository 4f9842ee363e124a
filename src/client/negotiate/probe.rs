use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

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
        conversation::Manner,
        wire::{Failure, Wire, WireRequest, gone},
    },
    protocol::{Frame, Revision},
    transport::{Closed, TransportError},
};

pub(super) const METHOD: &str = "server/discover";

/// How long to wait for the second answer, once one of the two requests is answered.
const OTHER: Duration = Duration::from_secs(2);

/// The result of probing with both requests.
#[derive(Debug)]
pub(super) enum Probed {
    /// As this.
    Known(Box<KnownServer>),
    /// It exited because of the probe.
    Gone(Closed),
}

/// The negotiated revision.
#[derive(Debug)]
pub(super) struct KnownServer {
    /// What is spoken now.
    pub(super) info: ServerInfo,
    /// What to speak next time: modern, if the server is modern; `None` if that is not certain.
    pub(super) next: Option<ServerInfo>,
}

/// The request that every modern server answers.
pub(super) fn question(manner: &Manner) -> WireRequest {
    WireRequest::new(METHOD, manner.with_meta(None, Revision::NEWEST_MODERN, None)).uncancellable()
}

/// Sends `server/discover`, and if that is refused, or there is no answer for `silence`, `initialize` on the same
/// connection; whichever is answered counts. A slow server answers both; a legacy server that ignores the first answers
/// the second.
pub(super) async fn probe(
    wire: &Wire,
    manner: &Manner,
    silence: Duration,
    patience: Patience,
    stop: &CancellationToken,
) -> Result<Probed, ClientError> {
    let is_held = AtomicBool::new(false);
    let discover = wire.request_held(question(manner), patience, None, stop, &is_held);
    tokio::pin!(discover);
    let answer = tokio::select! {
        biased;
        answer = &mut discover => answer,
        () = tokio::time::sleep(silence) => {
            // A server that says "later" is not silent.
            if !is_held.load(Ordering::Relaxed) {
                let handshake = initialize(wire, manner, Revision::NEWEST_LEGACY, patience, stop);
                return both(discover, handshake).await;
            }
            discover.await
        }
    };
    let failed = match judge(answer)? {
        Judged::Modern(info) => return Ok(known(info)),
        Judged::Gone(closed) => return Ok(Probed::Gone(closed)),
        Judged::Legacy => None,
        Judged::Failed(error) => Some(error),
    };
    match initialize(wire, manner, Revision::NEWEST_LEGACY, patience, stop).await {
        Ok(info) => {
            // A gateway's answer is not the server's: the next run asks again.
            let is_sure = !matches!(failed, Some(TransportError::Http { status, .. }) if status != 500);
            Ok(Probed::Known(Box::new(KnownServer { next: is_sure.then(|| info.clone()), info })))
        }
        // It refused the request and exited; or it is broken, and the first failure says more.
        Err(error) => conclude(None, Some(failed.map_or(error, ClientError::Connect))),
    }
}

/// Waits for the answers to both requests, as long as they matter.
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
                // The handshake decides how this connection continues: it may bind a server of both eras.
                Ok(info) => {
                    let next = match discovered {
                        Some(Judged::Modern(next)) => Some(next),
                        Some(Judged::Failed(_)) => None,
                        _ => Some(info.clone()),
                    };
                    return Ok(Probed::Known(Box::new(KnownServer { info, next })));
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
            // The server is awake: its answer to the other request arrives soon or never.
            deadline.get_or_insert_with(|| Instant::now() + OTHER);
        }
    }
}

/// What the answers mean if the handshake did not succeed.
fn conclude(discovered: Option<Judged>, refused: Option<ClientError>) -> Result<Probed, ClientError> {
    match (discovered, refused) {
        (Some(Judged::Modern(info)), _) => Ok(known(info)),
        (_, Some(ClientError::Connect(TransportError::Closed(closed)))) => Ok(Probed::Gone(closed)),
        (_, Some(error)) => Err(error),
        (_, None) => Err(ClientError::Connect(gone())),
    }
}

fn known(info: ServerInfo) -> Probed {
    Probed::Known(Box::new(KnownServer { next: Some(info.clone()), info }))
}

#[derive(Debug)]
enum Judged {
    Modern(ServerInfo),
    Legacy,
    /// It failed because of the probe, as some legacy servers do, or a gateway did.
    Failed(TransportError),
    Gone(Closed),
}

/// What an answer to the probe means.
fn judge(answer: Result<Frame, Failure>) -> Result<Judged, ClientError> {
    let discovered = match answer {
        Ok(frame) => discover::read(&frame),
        Err(Failure::Transport(TransportError::Closed(closed))) => return Ok(Judged::Gone(closed)),
        Err(Failure::Transport(
            error @ (TransportError::Http { status: 401, .. }
            | TransportError::Http { status: 403, challenge: Some(_), .. }
            | TransportError::Credentials(_)),
        )) => {
            return Err(Failure::Transport(error).into_error(METHOD, false));
        }
        Err(Failure::Transport(error @ TransportError::Http { status: 500.., .. })) => {
            return Ok(Judged::Failed(error));
        }
        Err(Failure::Transport(error)) if error.is_passing() => return Ok(Judged::Failed(error)),
        Err(Failure::Transport(error)) => discover::read_failure(error),
        Err(failure) => return Err(failure.into_error(METHOD, false)),
    };
    match discovered {
        Discovered::Modern(info) => Ok(Judged::Modern(info)),
        Discovered::Legacy => Ok(Judged::Legacy),
        Discovered::Failed(error) => Err(error),
    }
}
