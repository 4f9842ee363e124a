//! The stdio transport: a program of ours in a process group of its own, one message a line (2026-07-28, *stdio*).

mod connection;
mod lines;
mod log;
mod program;
mod split;
mod writer;

#[cfg(unix)]
#[path = "unix.rs"]
mod group;
#[cfg(windows)]
#[path = "windows.rs"]
mod group;

pub use connection::Stdio;
pub(crate) use {
    group::{Group, describe},
    log::Log,
};

#[cfg(all(test, unix))]
mod tests;
