use std::{
    fs::OpenOptions,
    io::{self, IsTerminal},
    os::fd::{AsFd, OwnedFd},
};

/// Where keys are read.
pub(in crate::terminal) type Input = OwnedFd;

/// Standard input if it is a terminal, or, with `stdin_is_taken`, `/dev/tty`.
pub(in crate::terminal) fn open_input(stdin_is_taken: bool) -> Option<Input> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return stdin.as_fd().try_clone_to_owned().ok();
    }
    let tty = || OpenOptions::new().read(true).write(true).open("/dev/tty").ok();
    stdin_is_taken.then(tty)?.map(Into::into)
}
