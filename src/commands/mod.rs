//! One file for each subcommand, and what they share: the run itself, its signals, and its connection to servers.

pub mod call;
pub mod demo_server;
mod run;
mod select;
pub mod servers;
mod session;
mod signals;
pub mod tools;
mod trust;

pub use run::run;
