//! The groups of options that commands share.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args, ValueEnum};

use crate::{
    config::parse_span,
    keeper::Keep,
    output::{LogLevel, OutputMode, Verbosity},
    protocol::ProtocolChoice,
    terminal::Colour,
};

/// Options that every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "General options")]
pub struct GlobalArgs {
    /// The configuration file [default: mcp.json or a similar file, in this folder or one above it]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How to print the result: text, json (as the server sent it), data (only its content, as JSON), or events (one JSON
    /// line for everything that happens)
    #[arg(short, long, global = true, value_name = "FORMAT", value_enum, default_value_t, hide_possible_values = true)]
    pub output: OutputMode,
    /// Show all log messages of servers, and what they write to stderr
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Hide progress and warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// When to use colours: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, hide_possible_values = true)]
    pub color: Colour,
    /// Show log messages of servers from this level on: debug, info, notice, warning, error, critical, alert or emergency
    /// [default: warning]
    #[arg(long, global = true, value_name = "LEVEL", value_enum, hide_possible_values = true)]
    pub log: Option<LogLevel>,
    /// Show long text without a pager (PAGER, or less)
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// Show this help
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

impl GlobalArgs {
    /// How much goes to stderr.
    pub fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

/// Options for connecting to a server.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Server options")]
pub struct ServerArgs {
    /// Send this header with every HTTP request to the server (may be repeated)
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Send the value of this environment variable as the bearer token
    #[arg(long, value_name = "VAR")]
    pub bearer_env: Option<String>,
    /// Run this program to get the bearer token, and again when the token is refused (no shell)
    #[arg(long, value_name = "COMMAND", conflicts_with = "bearer_env")]
    pub bearer_command: Option<String>,
    /// Set an environment variable for the server's process (may be repeated)
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Run the server's process in this folder
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Declare this folder to the server as a root (may be repeated)
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
    /// Speak this protocol revision; `auto` finds out which one the server speaks
    #[arg(long, value_name = "REVISION", value_parser = parse_protocol)]
    pub protocol: Option<ProtocolChoice>,
    /// Write all messages between client and server to this file (`-` is stderr), as JSON lines without secrets
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Give up a call after this many seconds without a sign of life; progress and questions restart the count
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub timeout: Option<Duration>,
    /// Give up a call after this many seconds in all, not counting questions [default: 3600]
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub max_time: Option<Duration>,
    /// Keep the server running for later commands until it has been idle for this long (90s, 15m, 8h) [default: 15m]
    #[arg(long, value_name = "IDLE", num_args = 0..=1, require_equals = true, default_missing_value = "15m",
        value_parser = parse_idle, conflicts_with = "no_keep")]
    pub keep: Option<Duration>,
    /// Start the server only for this command, even if it is kept
    #[arg(long)]
    pub no_keep: bool,
}

impl ServerArgs {
    /// The keeping policy.
    pub(crate) fn keep(&self) -> Keep {
        match (self.no_keep, self.keep) {
            (true, _) => Keep::Never,
            (false, None) => Keep::AsConfigured,
            (false, Some(time)) => Keep::For(time),
        }
    }
}

/// Options for answering what the server asks.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options for questions")]
pub struct QuestionArgs {
    /// Answer questions from this file (`-` is stdin)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Answer the field KEY with VALUE; this overrides the file (may be repeated)
    #[arg(long = "answer", value_name = "KEY=VALUE")]
    pub answer: Vec<String>,
    /// Ask this program (no shell): it reads the question as a JSON line and prints an answer such as
    /// {"action": "accept", "content": {"name": "Ada"}}
    #[arg(long, value_name = "COMMAND")]
    pub on_elicit: Option<String>,
    /// Give the program, or the person in the browser, this many seconds to answer [default: 60 and 1800]
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub elicit_timeout: Option<Duration>,
    /// Put the call aside in this file when the server asks; `toolnexus resume` continues it
    #[arg(long, value_name = "FILE")]
    pub defer: Option<PathBuf>,
    /// What to do with a question that is still open: prompt (ask at the terminal), browser (ask on a page on this machine),
    /// ask (at the terminal, or else in the browser), decline, cancel, fail (cancel, and exit with 8), or off (the server may
    /// not ask) [default: $TOOLNEXUS_ELICIT, or else prompt at a terminal, or else fail]
    #[arg(long, value_name = "POLICY", value_enum, hide_possible_values = true)]
    pub elicit: Option<ElicitPolicy>,
    /// Record the answers in an answers file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Show links, but do not open them in a browser
    #[arg(long)]
    pub no_browser: bool,
    /// Wait this many seconds for the step behind an accepted link [default: 120]
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub url_wait: Option<Duration>,
}

/// The variable with the policy for questions, if no option sets it.
pub(crate) const ELICIT_VARIABLE: &str = "TOOLNEXUS_ELICIT";

/// What to do with a question that nothing answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ElicitPolicy {
    /// Ask the person at the terminal
    Prompt,
    /// Ask the person in a browser on this machine
    Browser,
    /// Ask the person at the terminal, or else in a browser
    Ask,
    /// Decline it
    Decline,
    /// Cancel it
    Cancel,
    /// Cancel it, and exit with 8
    Fail,
    /// Tell the server that it may not ask
    Off,
}

fn parse_protocol(text: &str) -> Result<ProtocolChoice, String> {
    ProtocolChoice::parse(text).ok_or_else(|| format!("expected one of {}", ProtocolChoice::known()))
}

fn parse_idle(text: &str) -> Result<Duration, String> {
    parse_span(text).ok_or_else(|| "expected a time such as 90s, 15m or 8h".to_owned())
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("expected a number of seconds greater than 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        assert!(parse_seconds("0").is_err() && parse_seconds("-1").is_err() && parse_seconds("NaN").is_err());
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
    }
}
