//! The command line: the names of the commands, and how a command is run.

use clap::{ArgAction, Parser, Subcommand, builder::styling::Styles};

use crate::commands::{self, options::GlobalArgs};

mod grammar;
mod help;
mod program;
#[cfg(test)]
mod tests;

pub use program::{carry_out, context, run};

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
    /// Put a server into a configuration file
    Add(commands::add::AddArgs),
    /// Take a server out of its configuration file
    Remove(commands::remove::RemoveArgs),
    /// Switch servers on in their configuration file
    Enable(commands::switch::EnableArgs),
    /// Switch servers off in their configuration file
    Disable(commands::switch::DisableArgs),
    /// Copy servers of another client to your configuration file
    Import(commands::import::ImportArgs),
    /// Sign in to a server
    #[cfg(feature = "http")]
    Login(Box<commands::login::LoginArgs>),
    /// Sign out of one server or of all
    #[cfg(feature = "http")]
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
    /// What may come in place of the last word
    #[command(name = "__complete", hide = true, disable_help_flag = true)]
    Candidates(commands::candidates::CandidatesArgs),
    /// Run a small MCP server that asks questions, to try things out
    DemoServer(commands::demo_server::DemoServerArgs),
}
