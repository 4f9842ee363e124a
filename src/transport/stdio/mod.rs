//! The stdio transport: a program in its own process group, one message per line (2026-07-28, *stdio*).

mod activity;
mod connection;
mod farewell;
mod group;
mod lines;
mod log;
mod program;
mod split;
mod strays;
mod writer;

pub use connection::Stdio;
pub(crate) use {
    group::{Group, GroupId, describe, groups, kill_all, watch_groups},
    log::StderrLog,
    strays::{MARK, strays_of},
};

#[cfg(feature = "fuzzing")]
pub(crate) use split::fuzzed_line;

#[cfg(test)]
mod tests;
