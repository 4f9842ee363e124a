//! The shell's job control: Ctrl-Z, `fg`, and programs in the background.

use std::{io, os::fd::OwnedFd};

use nix::{
    sys::signal::{SigSet, Signal, raise},
    unistd::{getpgrp, tcgetpgrp},
};

/// How often the program stops before it gives the terminal up, where nobody lets it have that.
const TRIES: usize = 100;

/// Stops the program until the shell lets it go on, as Ctrl-Z does to one that does not handle it. Where no shell could
/// do that nothing happens.
///
/// SIGTSTP itself is handled, and SIGSTOP would stop also a program that nobody can wake: so it is SIGTTIN, which the
/// system keeps from those.
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

/// Waits, stopped, until the program is in the foreground of its terminal, so that it takes no keys from another.
///
/// # Errors
/// When it never comes there.
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
