//! One file for each subcommand, and what they share: the run itself, its signals, and its connection to servers.

pub mod answers;
mod answers_report;
mod arguments;
pub mod call;
pub mod complete;
pub mod demo_server;
pub mod down;
mod ended;
pub mod everywhere;
pub mod instructions;
pub mod keep_server;
mod kept;
mod kept_task;
pub mod login;
pub mod logout;
pub mod logs;
mod one_server;
pub mod ping;
pub mod prompt;
pub mod prompts;
mod questions;
pub mod read;
pub mod resources;
pub mod resume;
mod run;
mod select;
pub mod servers;
mod session;
mod shown;
mod signals;
mod slips;
mod structured;
pub mod tools;
pub mod up;
pub mod watch;

pub use run::run;
