//! `toolnexus completions`: completion scripts for shells, which call the program itself for candidates.

use clap::{Args, ValueEnum};

use super::context::Context;

/// What `completions` takes.
#[derive(Args, Debug)]
#[command(
    after_help = "The script completes servers, tools, prompts, resources and arguments from the configuration and from the latest
listings. It never starts a server.

Examples:
  toolnexus completions bash > ~/.local/share/bash-completion/completions/toolnexus
  toolnexus completions zsh > ~/.zfunc/_toolnexus          (with fpath+=~/.zfunc before compinit)
  toolnexus completions fish > ~/.config/fish/completions/toolnexus.fish
  toolnexus completions powershell >> $PROFILE
  toolnexus completions elvish >> ~/.config/elvish/rc.elv"
)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: ShellKind,
}

/// The shells that have a script.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ShellKind {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell
    Powershell,
    /// elvish
    Elvish,
}

/// Prints the script.
///
/// # Errors
/// If stdout cannot be written.
pub fn run(args: &CompletionsArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let script = match args.shell {
        ShellKind::Bash => include_str!("completions/toolnexus.bash"),
        ShellKind::Zsh => include_str!("completions/toolnexus.zsh"),
        ShellKind::Fish => include_str!("completions/toolnexus.fish"),
        ShellKind::Powershell => include_str!("completions/toolnexus.ps1"),
        ShellKind::Elvish => include_str!("completions/toolnexus.elv"),
    };
    Ok(printer.stdout(script)?)
}
