//! Everything that a user sees, through the built binary. The tests need nothing but Rust.

mod harness;

mod answers;
mod budget;
mod by_handshake;
mod call;
mod completions;
mod config;
mod demo;
mod docs;
mod doctor;
mod each;
mod forms;
mod harm;
mod hostile;
mod http;
mod keeping;
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
mod slips;
mod tasks;
mod twice;
mod typed;
mod usage;
mod variables;
