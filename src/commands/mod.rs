//! One file for each subcommand, and what they share: the run itself, its signals, and its connection to servers.

pub mod call;
pub mod demo_server;
mod run;
mod select;
mod session;
mod signals;

pub use run::run;
