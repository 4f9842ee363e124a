//! The program: parse, run, exit code.

use std::process::ExitCode;

use toolnexus::cli;

fn main() -> ExitCode {
    cli::run(std::env::args_os().collect())
}
