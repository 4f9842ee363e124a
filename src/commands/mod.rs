//! One file for each subcommand, with a folder if it needs more than one, and what commands share: their `context`,
//! `options` and `signals`; the preparation of words for clap (`argv`); how a `server` is reached; how a `result` is
//! shown; `listing`s; and the `config_files` that some of them edit.

pub mod add;
pub mod answers;
pub(crate) mod argv;
pub mod call;
pub mod candidates;
pub mod complete;
pub mod completions;
mod config_files;
mod context;
pub mod demo_server;
pub mod doctor;
pub mod down;
pub mod import;
pub mod instructions;
pub mod keep_server;
mod listing;
#[cfg(feature = "http")]
pub mod login;
#[cfg(feature = "http")]
pub mod logout;
pub mod logs;
pub mod man;
pub mod options;
pub mod ping;
pub mod prompt;
pub mod prompts;
pub mod read;
pub mod remove;
pub mod resources;
mod result;
pub mod resume;
mod server;
pub mod servers;
pub mod shell;
mod signals;
pub mod switch;
pub mod tools;
pub mod up;
pub mod watch;

pub(crate) use argv::refusal::help_or_usage;
pub use context::Context;
pub(crate) use context::{CommandLine, downcast};
