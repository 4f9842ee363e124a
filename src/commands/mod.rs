//! One file for each subcommand, and what they share: the run itself, its signals, and its connection to servers.

pub mod answers;
mod answers_report;
mod arguments;
pub mod call;
pub mod demo_server;
mod ended;
mod kept_task;
mod questions;
pub mod resume;
mod run;
mod select;
pub mod servers;
mod session;
mod signals;
mod structured;
pub mod tools;

pub use run::run;
