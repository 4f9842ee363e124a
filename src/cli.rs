//! The command line, as clap types.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, builder::styling::Styles};

use crate::{
    commands,
    config::parse_span,
    keeper::Keep,
    output::{OutputMode, Verbosity},
    protocol::ProtocolChoice,
};

/// Call the tools of MCP servers, and answer their questions.
#[derive(Debug, Parser)]
#[command(
    name = "toolnexus",
    version,
    max_term_width = 100,
    styles = Styles::plain(),
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true,
    override_usage = "toolnexus COMMAND [OPTIONS] ...",
    after_help = "Examples:
  toolnexus call forms greet                      call a tool of a server in mcp.json
  toolnexus call forms greet --answer name=Ada    the same, answered in advance
  toolnexus call https://mcp.example.com/mcp search query=rust
  toolnexus call echo message=hi -- npx -y @modelcontextprotocol/server-everything
  toolnexus tools                                 what every server offers

`toolnexus COMMAND --help` shows the options of a command. You can write them before COMMAND, too.

Exit codes:
   0  success                           6  protocol error, unknown tool
   1  the tool failed                   7  timed out
   2  wrong option or argument          8  a question was not answered
   3  configuration, answers file      75  put aside with --defer
   4  server not started or reached   130  interrupted
   5  authorization                   143  terminated"
)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// Show the version
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = "General options")]
    version: Option<bool>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Call a tool
    Call(Box<commands::call::CallArgs>),
    /// List the tools of one server or of all
    Tools(Box<commands::tools::ToolsArgs>),
    /// List the resources and templates of one server or of all
    Resources(Box<commands::resources::ResourcesArgs>),
    /// Read a resource
    Read(Box<commands::read::ReadArgs>),
    /// List the prompts of one server or of all
    Prompts(Box<commands::prompts::PromptsArgs>),
    /// Get a prompt, filled in by its server
    Prompt(Box<commands::prompt::PromptArgs>),
    /// Ask a server for suggestions for an argument
    Complete(Box<commands::complete::CompleteArgs>),
    /// Show what servers say about themselves
    Instructions(Box<commands::instructions::InstructionsArgs>),
    /// Follow a server's log and its changes
    Watch(Box<commands::watch::WatchArgs>),
    /// Check whether servers answer
    Ping(Box<commands::ping::PingArgs>),
    /// Run many commands over connections that stay open
    Shell(Box<commands::shell::ShellArgs>),
    /// List the configured servers
    Servers(commands::servers::ServersArgs),
    /// Sign in to a server
    Login(Box<commands::login::LoginArgs>),
    /// Sign out of one server or of all
    Logout(commands::logout::LogoutArgs),
    /// Continue a call that was put aside with --defer
    Resume(Box<commands::resume::ResumeArgs>),
    /// Start servers and keep them running for later commands
    Up(Box<commands::up::UpArgs>),
    /// Stop kept servers
    Down(commands::down::DownArgs),
    /// Show the log of a kept server
    Logs(Box<commands::logs::LogsArgs>),
    /// Keep one server (started by other commands)
    #[command(hide = true)]
    KeepServer(commands::keep_server::KeepServerArgs),
    /// Check and show answers files
    Answers(commands::answers::AnswersArgs),
    /// Check servers step by step and say what is wrong with them
    Doctor(Box<commands::doctor::DoctorArgs>),
    /// Print a shell script that completes commands, servers, tools and arguments
    Completions(commands::completions::CompletionsArgs),
    /// Print the manual page, or write all manual pages to a folder
    Man(commands::man::ManArgs),
    /// What may stand in place of the last word
    #[command(name = "__complete", hide = true, disable_help_flag = true)]
    Candidates(commands::candidates::CandidatesArgs),
    /// Run a small MCP server that asks questions, to try things out
    DemoServer(commands::demo_server::DemoServerArgs),
}

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
    /// Show this help
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

impl GlobalArgs {
    /// How much stderr gets.
    pub fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

/// The output mode that `words` ask for: for an error in the words themselves, which clap then cannot read.
pub fn guess_output(words: &[OsString]) -> OutputMode {
    let words: Vec<&str> = words.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let after = |index: usize| words.get(index + 1).copied();
    let found = words.iter().enumerate().find_map(|(index, word)| {
        if let Some(value) = word.strip_prefix("--output") {
            return value.strip_prefix('=').or_else(|| after(index).filter(|_| value.is_empty()));
        }
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        // Switches may stand together with it: `-qojson`.
        let value = letters.trim_start_matches(['q', 'v', 'h', 'V']).strip_prefix('o')?;
        if value.is_empty() { after(index) } else { Some(value.trim_start_matches('=')) }
    });
    found.and_then(|value| OutputMode::from_str(value, false).ok()).unwrap_or_default()
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
    pub timeout: Option<std::time::Duration>,
    /// Give up a call after this many seconds in all, not counting questions [default: 3600]
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub max_time: Option<std::time::Duration>,
    /// Keep the server running for later commands until it has been idle for this long (90s, 15m, 8h) [default: 15m]
    #[arg(long, value_name = "IDLE", num_args = 0..=1, require_equals = true, default_missing_value = "15m",
        value_parser = parse_idle, conflicts_with = "no_keep")]
    pub keep: Option<std::time::Duration>,
    /// Start the server for this command alone, even if it is kept
    #[arg(long)]
    pub no_keep: bool,
}

impl ServerArgs {
    /// Whether servers are kept.
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
    /// Ask this program: it reads the question as a JSON line and prints an answer (no shell)
    #[arg(long, value_name = "COMMAND")]
    pub on_elicit: Option<String>,
    /// Give the program this many seconds to answer [default: 60]
    #[arg(long, value_name = "SECS", value_parser = parse_seconds, requires = "on_elicit")]
    pub elicit_timeout: Option<std::time::Duration>,
    /// Put the call aside in this file when the server asks; `toolnexus resume` continues it
    #[arg(long, value_name = "FILE")]
    pub defer: Option<PathBuf>,
    /// What to do with a question that is still open: prompt, decline, cancel, fail (cancel, and exit with 8), or off (the
    /// server may not ask) [default: prompt at a terminal, else fail]
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
    pub url_wait: Option<std::time::Duration>,
}

/// What happens to a question that nothing answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ElicitPolicy {
    /// Ask the person at the terminal
    Prompt,
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

fn parse_idle(text: &str) -> Result<std::time::Duration, String> {
    parse_span(text).ok_or_else(|| "expected a time such as 90s, 15m or 8h".to_owned())
}

fn parse_seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    match std::time::Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("expected a number of seconds greater than 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_mode_is_found_in_words_that_do_not_parse() {
        let guess = |words: &[&str]| guess_output(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(guess(&["call", "-o", "json", "--nonsense"]), OutputMode::Json);
        assert_eq!(guess(&["--output=events", "cal"]), OutputMode::Events);
        assert_eq!(guess(&["call", "-ojson"]), OutputMode::Json);
        assert_eq!(guess(&["call", "-qojson", "--nonsense"]), OutputMode::Json);
        assert_eq!(guess(&["-vo", "json", "cal"]), OutputMode::Json);
        assert_eq!(guess(&["call", "--", "x", "-o", "json"]), OutputMode::Text);
    }

    #[test]
    fn values_are_checked() {
        assert!(parse_seconds("0").is_err() && parse_seconds("-1").is_err() && parse_seconds("NaN").is_err());
        assert_eq!(parse_seconds("0.5"), Ok(std::time::Duration::from_millis(500)));
    }
}
