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

/// Call the tools of MCP servers, and answer what the servers ask.
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
  toolnexus call forms greet --answer name=Ada    the same without a person
  toolnexus call https://mcp.example.com/mcp search query=rust
  toolnexus call echo message=hi -- npx -y @modelcontextprotocol/server-everything
  toolnexus tools                                 what every server offers

`toolnexus COMMAND --help` has each command's options. Options may stand before COMMAND, too.

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
    /// List the tools of a server, or of all of them
    Tools(Box<commands::tools::ToolsArgs>),
    /// List the resources and templates of a server, or of all of them
    Resources(Box<commands::resources::ResourcesArgs>),
    /// Read a resource
    Read(Box<commands::read::ReadArgs>),
    /// List the prompts of a server, or of all of them
    Prompts(Box<commands::prompts::PromptsArgs>),
    /// Get a prompt, filled in by its server
    Prompt(Box<commands::prompt::PromptArgs>),
    /// Ask a server what it suggests for an argument
    Complete(Box<commands::complete::CompleteArgs>),
    /// Show what servers say of themselves
    Instructions(Box<commands::instructions::InstructionsArgs>),
    /// Show a server's log, and what changes
    Watch(Box<commands::watch::WatchArgs>),
    /// See whether servers answer
    Ping(Box<commands::ping::PingArgs>),
    /// Run many commands over connections that stay
    Shell(Box<commands::shell::ShellArgs>),
    /// List the configured servers
    Servers(commands::servers::ServersArgs),
    /// Sign in to a server
    Login(Box<commands::login::LoginArgs>),
    /// Sign out of a server, or of all of them
    Logout(commands::logout::LogoutArgs),
    /// Go on with a call that was put aside with --defer
    Resume(Box<commands::resume::ResumeArgs>),
    /// Start servers and keep them for later commands
    Up(Box<commands::up::UpArgs>),
    /// End kept servers
    Down(commands::down::DownArgs),
    /// Show what a kept server wrote to its log
    Logs(Box<commands::logs::LogsArgs>),
    /// Keep one server (started by other commands)
    #[command(hide = true)]
    KeepServer(commands::keep_server::KeepServerArgs),
    /// Check and show answers files
    Answers(commands::answers::AnswersArgs),
    /// See whether servers are well, and what is wrong with them
    Doctor(Box<commands::doctor::DoctorArgs>),
    /// Print a script that completes commands, servers, tools and arguments in a shell
    Completions(commands::completions::CompletionsArgs),
    /// Print the manual page, or write all pages
    Man(commands::man::ManArgs),
    /// What may stand in place of the last word
    #[command(name = "__complete", hide = true, disable_help_flag = true)]
    Candidates(commands::candidates::CandidatesArgs),
    /// Run a small MCP server on stdio that asks questions
    DemoServer(commands::demo_server::DemoServerArgs),
}

/// Options that every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "General options")]
pub struct GlobalArgs {
    /// The configuration file [default: mcp.json and others, here and in the folders above]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How to print the result: text, json (as the server sent it), data (what the result is about, as JSON), or events (a JSON line for all that happens)
    #[arg(short, long, global = true, value_name = "FORMAT", value_enum, default_value_t, hide_possible_values = true)]
    pub output: OutputMode,
    /// Show what servers write to their standard error, and all of their log
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Show no progress and no warnings
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
    /// A header for every HTTP request to the server (may be repeated)
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Send the value of this environment variable as the bearer token
    #[arg(long, value_name = "VAR")]
    pub bearer_env: Option<String>,
    /// Run this program for the bearer token when it is needed, and again when it was refused; no shell
    #[arg(long, value_name = "COMMAND", conflicts_with = "bearer_env")]
    pub bearer_command: Option<String>,
    /// An environment variable for the server's process (may be repeated)
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// The working directory of the server's process
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A folder to declare to the server as a root (may be repeated)
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
    /// Speak this protocol revision; `auto` finds out, whatever the configuration says
    #[arg(long, value_name = "REVISION", value_parser = parse_protocol)]
    pub protocol: Option<ProtocolChoice>,
    /// Write everything that passes between client and server to this file (`-` is stderr), as JSON lines without secrets
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// How many seconds a call may go without a sign of life; progress and questions start them again
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub timeout: Option<std::time::Duration>,
    /// How many seconds a call may take in all, time for questions apart [default: 3600]
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub max_time: Option<std::time::Duration>,
    /// Keep the server for later commands, until nobody has used it for IDLE (90s, 15m, 8h) [default: 15m]
    #[arg(long, value_name = "IDLE", num_args = 0..=1, require_equals = true, default_missing_value = "15m",
        value_parser = parse_idle, conflicts_with = "no_keep")]
    pub keep: Option<std::time::Duration>,
    /// Use no kept server, and keep none, this once
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
    /// Answer from this file (`-` is stdin)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Answer the field KEY with VALUE, over what the file says (may be repeated)
    #[arg(long = "answer", value_name = "KEY=VALUE")]
    pub answer: Vec<String>,
    /// Ask this program, with its arguments: one JSON line in, an answer out; no shell
    #[arg(long, value_name = "COMMAND")]
    pub on_elicit: Option<String>,
    /// How many seconds the program may take for an answer [default: 60]
    #[arg(long, value_name = "SECS", value_parser = parse_seconds, requires = "on_elicit")]
    pub elicit_timeout: Option<std::time::Duration>,
    /// Put the call aside in this file when the server asks; `toolnexus resume` goes on
    #[arg(long, value_name = "FILE")]
    pub defer: Option<PathBuf>,
    /// What else happens to a question: prompt, decline, cancel, fail (cancel, and exit code 8), or off (the server may
    /// not ask) [default: prompt at a terminal, else fail]
    #[arg(long, value_name = "POLICY", value_enum, hide_possible_values = true)]
    pub elicit: Option<ElicitPolicy>,
    /// Write what was answered to an answers file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Do not start a browser; only show links
    #[arg(long)]
    pub no_browser: bool,
    /// How many seconds to wait for what happens behind an accepted link
    #[arg(long, value_name = "SECS", value_parser = parse_seconds)]
    pub url_wait: Option<std::time::Duration>,
}

/// What happens to a question that nothing answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ElicitPolicy {
    /// Ask the person at the terminal
    Prompt,
    /// Tell the server no
    Decline,
    /// Tell the server that the question was closed
    Cancel,
    /// Close the question, and end with exit code 8
    Fail,
    /// Do not let the server ask at all
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
        _ => Err("expected a number of seconds above 0".to_owned()),
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
