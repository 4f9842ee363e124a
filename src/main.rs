//! The program: parse, run, exit code.

use std::process::ExitCode;

use toolnexus::commands;

fn main() -> ExitCode {
    commands::run(std::env::args_os().collect())
}
