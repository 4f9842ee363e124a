//! One file for each subcommand, and what they share: the run itself, its signals, and its connection to servers.

pub mod answers;
mod answers_report;
mod arguments;
pub mod call;
pub mod complete;
pub mod demo_server;
mod ended;
pub mod everywhere;
pub mod instructions;
mod kept_task;
pub mod login;
pub mod logout;
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
pub mod shell;
mod shell_complete;
mod shell_history;
mod shell_line;
mod shell_values;
mod shown;
mod signals;
mod slips;
mod structured;
pub mod tools;
pub mod watch;

pub use run::run;
