//! One file for each subcommand, and what they share: their context, options, signals, and connections to servers.

pub mod add;
pub mod answers;
mod answers_report;
mod arguments;
pub(crate) mod argv;
pub mod call;
pub mod candidates;
mod command_host;
pub mod complete;
pub mod completions;
mod context;
pub mod demo_server;
mod discovered;
pub mod doctor;
mod doctor_surroundings;
pub mod down;
pub mod each;
mod each_lines;
mod each_outcome;
mod edit_arguments;
mod ended;
mod entered;
pub mod everywhere;
mod examine;
pub mod import;
pub mod instructions;
pub mod keep_server;
mod kept;
mod kept_task;
#[cfg(feature = "http")]
pub mod login;
#[cfg(feature = "http")]
pub mod logout;
pub mod logs;
pub mod man;
mod names;
pub mod one_or_all;
mod one_server;
pub mod options;
#[cfg(feature = "http")]
mod over_http;
pub mod ping;
pub mod prompt;
pub mod prompts;
mod questions;
pub mod read;
mod refusal;
pub mod remove;
pub mod resources;
pub mod resume;
mod select;
pub mod servers;
pub mod shell;
mod shell_complete;
mod shell_connections;
mod shell_history;
mod shell_line;
mod shell_values;
mod shown;
mod signals;
mod slips;
mod structured;
pub mod switch;
mod target_file;
pub mod tools;
pub mod up;
mod waits;
pub mod watch;
#[cfg(not(feature = "http"))]
mod without_http;

#[cfg(not(feature = "http"))]
use without_http as over_http;

pub use context::Context;
pub(crate) use context::{CommandLine, downcast};
pub(crate) use refusal::help_or_usage;
