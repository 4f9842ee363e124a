//! The Unix part of keepers: sockets that only their owner can reach, and detaching from the terminal.

use std::{io, os::fd::OwnedFd, path::Path, process::ChildStdin};

use nix::{
    sys::stat::{Mode, umask},
    unistd::setsid,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::system::user_id;

/// A connection between a command and a keeper, and its reading half.
pub(super) type Stream = tokio::net::UnixStream;
pub(super) type ReadHalf = tokio::net::unix::OwnedReadHalf;
/// Where commands connect to a keeper.
pub(super) type Listener = tokio::net::UnixListener;

/// Listens on `socket`, only for this user.
pub(super) fn listen(socket: &Path) -> io::Result<Listener> {
    // Only for the socket: the server's files get the usual permissions.
    let usual = umask(Mode::from_bits_truncate(0o077));
    let bound = Listener::bind(socket);
    umask(usual);
    bound
}

/// Whether somebody listens on `socket`.
pub(super) fn is_heard(socket: &Path) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}

/// Whether the same user is at the other end.
///
/// # Errors
/// If the system does not say.
pub(super) fn is_own_peer(stream: &Stream) -> io::Result<bool> {
    Ok(stream.peer_cred()?.uid() == user_id())
}

/// Detaches from the terminal and from the parent process, whose signals must not end this one.
pub(super) fn leave_terminal() {
    // A session leader is already detached from the terminal.
    let _ = setsid();
}

/// The signals that a keeper handles.
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

    /// Waits until the keeper should end. Signals for the programs of a terminal are ignored. Cancel-safe.
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

/// The pipe to a child process as a file.
pub(super) fn file_of(pipe: ChildStdin) -> std::fs::File {
    OwnedFd::from(pipe).into()
}
