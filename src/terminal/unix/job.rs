//! The shell's job control: Ctrl-Z, `fg`, and programs in the background.

use std::{io, os::fd::OwnedFd};

use nix::{
    sys::signal::{SigSet, Signal, raise},
    unistd::{getpgrp, tcgetpgrp},
};

/// How often the program stops before it gives up the terminal, if it is never put into the foreground.
const TRIES: usize = 100;

/// Stops the program until the shell continues it, like Ctrl-Z with a program that does not handle it. Without a shell
/// that could do that, nothing happens.
///
/// SIGTSTP itself is handled, and SIGSTOP would also stop a program that nobody can continue: so it is SIGTTIN, which
/// the system does not deliver to those.
pub fn suspend() {
    let mut signal = SigSet::empty();
    signal.add(Signal::SIGTTIN);
    let was_blocked = SigSet::thread_get_mask().is_ok_and(|mask| mask.contains(Signal::SIGTTIN));
    _ = signal.thread_unblock();
    _ = raise(Signal::SIGTTIN);
    if was_blocked {
        _ = signal.thread_block();
    }
}

/// Waits, stopped, until the program is in the foreground of its terminal, so that it takes no keys from another
/// program.
///
/// # Errors
/// If it never gets there.
pub(super) fn foreground(terminal: &OwnedFd) -> io::Result<()> {
    for _ in 0..TRIES {
        if tcgetpgrp(terminal).is_ok_and(|group| group != getpgrp()) {
            suspend();
        } else {
            return Ok(());
        }
    }
    Err(io::Error::other("another program is using it"))
}
