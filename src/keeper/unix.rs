//! What keepers need of Unix: sockets that only their owner reaches, and a life away from the terminal.

use std::{io, os::fd::OwnedFd, path::Path, process::ChildStdin};

use nix::{
    sys::stat::{Mode, umask},
    unistd::setsid,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::system::user_id;

/// A conversation between a command and a keeper, and the half of it that is read.
pub(super) type Stream = tokio::net::UnixStream;
pub(super) type ReadHalf = tokio::net::unix::OwnedReadHalf;
/// Where a keeper is reached.
pub(super) type Listener = tokio::net::UnixListener;

/// Listens at `socket`, for this user alone.
pub(super) fn listen(socket: &Path) -> io::Result<Listener> {
    // For the socket alone: the server makes its files as it would without a keeper.
    let usual = umask(Mode::from_bits_truncate(0o077));
    let bound = Listener::bind(socket);
    umask(usual);
    bound
}

/// Whether somebody listens at `socket`.
pub(super) fn is_heard(socket: &Path) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}

/// Whether this user is at the other end.
///
/// # Errors
/// When the system does not tell.
pub(super) fn is_own_peer(stream: &Stream) -> io::Result<bool> {
    Ok(stream.peer_cred()?.uid() == user_id())
}

/// Leaves the terminal, and whoever started this process: what is sent to their programs does not end it.
pub(super) fn leave_terminal() {
    // Whoever leads a session already is away from the terminal, too.
    let _ = setsid();
}

/// The signals that a keeper hears.
pub(super) struct KeeperSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl KeeperSignals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Until the keeper is to end. Those that are for the programs of a terminal are not for it. Cancel-safe.
    pub(super) async fn end(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => {}
                _ = self.hangup.recv() => {}
            }
        }
    }
}

/// The pipe to a child as a file.
pub(super) fn file_of(pipe: ChildStdin) -> std::fs::File {
    OwnedFd::from(pipe).into()
}
