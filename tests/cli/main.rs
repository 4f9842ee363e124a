//! Everything that a user sees, through the built binary. The tests need nothing but Rust.

mod harness;

mod answers;
mod budget;
mod by_handshake;
mod call;
mod config;
mod demo;
mod docs;
mod forms;
mod hostile;
mod http;
mod lifecycle;
mod listing;
mod offers;
mod programs;
mod prompts;
mod questions;
mod readme;
mod required_links;
mod results;
mod resume;
mod rows;
mod secrets;
mod shell;
mod tasks;
mod typed;
mod usage;
mod variables;
