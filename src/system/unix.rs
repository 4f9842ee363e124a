use std::{
    fs::File,
    io,
    os::{fd::AsFd as _, unix::net::UnixStream, unix::process::parent_id},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, SysconfVar, geteuid, gethostname, sysconf},
};

/// The user id that this process acts for.
pub(crate) fn user_id() -> u32 {
    geteuid().as_raw()
}

/// The name of this machine.
pub(crate) fn host_name() -> Option<String> {
    gethostname().ok().map(|name| name.to_string_lossy().into_owned())
}

/// The process that started this one.
pub(crate) fn parent_process() -> u32 {
    parent_id()
}

/// A separate file for standard error.
pub(crate) fn standard_error() -> io::Result<File> {
    Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?))
}

/// Whether this process may open this many files and pipes.
///
/// # Errors
/// If it may not.
pub(crate) fn can_open(descriptors: usize) -> io::Result<()> {
    let pairs: io::Result<Vec<_>> = (0..descriptors / 2).map(|_| UnixStream::pair()).collect();
    pairs.map(drop)
}

/// Kills a process immediately.
pub(crate) fn kill_process(id: i32) {
    _ = kill(Pid::from_raw(id), Signal::SIGKILL);
}

/// Whether there is such a process, even one that has ended and has not been waited for.
pub(crate) fn is_process(id: i32) -> bool {
    kill(Pid::from_raw(id), None).is_ok()
}

/// The size of a memory page, in bytes.
pub(crate) fn page_size() -> Option<u64> {
    sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|size| size.try_into().ok())
}
