//! How a command line is parsed: quickly, with the grammar of one command, if that is enough.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, CommandFactory as _, error::ErrorKind};

use super::{Cli, help::examples_first};
use crate::commands::{
    argv::{mark_tool_options, read_words},
    call::CallArgs,
    complete::CompleteArgs,
    options::GlobalArgs,
    ping::PingArgs,
    prompt::PromptArgs,
    prompts::PromptsArgs,
    read::ReadArgs,
    resources::ResourcesArgs,
    resume::ResumeArgs,
    servers::ServersArgs,
    tools::ToolsArgs,
};

/// The parsed `words` (the program's name first), or clap's error, with the grammar that was used.
pub(super) fn read(words: Vec<OsString>) -> Result<ArgMatches, (clap::Error, Command)> {
    match read_one(&words) {
        Some(Ok(matches)) => return Ok(matches),
        Some(Err(error)) if error.kind() == ErrorKind::DisplayVersion => return Err((error, with([]))),
        // Help, errors and options before the command need the grammar of all commands, which takes longer than the
        // rest of a short run.
        _ => {}
    }
    let mut grammar = examples_first(Cli::command());
    read_words(words, &mut grammar).map_err(|error| (error, grammar))
}

/// The same, with only the grammar of the command that `words` begin with; `None` if that is not enough.
fn read_one(words: &[OsString]) -> Option<Result<ArgMatches, clap::Error>> {
    let name = words.get(1)?.to_str()?;
    if words.len() == 2 && matches!(name, "--version" | "-V") {
        return Some(with([]).try_get_matches_from(words));
    }
    let grammar = with([one(name)?]);
    if name != "call" {
        return Some(grammar.try_get_matches_from(words));
    }
    let words = mark_tool_options(words.to_vec(), &with(["call", "tools"].into_iter().filter_map(one)));
    // `call SERVER TOOL --help` is handled elsewhere.
    let grammar = if words.get(1)? == name { grammar } else { with(one(words.get(1)?.to_str()?)) };
    Some(grammar.try_get_matches_from(words))
}

/// A command that is often run.
fn one(name: &str) -> Option<Command> {
    Some(match name {
        "call" => CallArgs::augment_args(Command::new("call")),
        "tools" => ToolsArgs::augment_args(Command::new("tools")),
        "resources" => ResourcesArgs::augment_args(Command::new("resources")),
        "read" => ReadArgs::augment_args(Command::new("read")),
        "prompts" => PromptsArgs::augment_args(Command::new("prompts")),
        "prompt" => PromptArgs::augment_args(Command::new("prompt")),
        "complete" => CompleteArgs::augment_args(Command::new("complete")),
        "ping" => PingArgs::augment_args(Command::new("ping")),
        "servers" => ServersArgs::augment_args(Command::new("servers")),
        "resume" => ResumeArgs::augment_args(Command::new("resume")),
        _ => return None,
    })
}

/// The program's own options, and these commands.
fn with(commands: impl IntoIterator<Item = Command>) -> Command {
    let program = Command::new("toolnexus")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .disable_help_flag(true)
        .disable_version_flag(true);
    GlobalArgs::augment_args(program)
        .arg(Arg::new("version").short('V').long("version").action(ArgAction::Version))
        .subcommands(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_by_itself_is_that_of_the_whole_grammar() {
        let whole = Cli::command();
        let names = |command: &Command| command.get_arguments().map(|arg| format!("{arg:?}")).collect::<Vec<_>>();
        let keys = |command: &Command| {
            let key = |arg: &Arg| (arg.get_id().clone(), arg.get_long().map(str::to_owned), arg.get_short());
            command.get_arguments().map(key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&with([])), keys(&whole));
        let commands: Vec<_> = whole.get_subcommands().filter_map(|of| Some((of, one(of.get_name())?))).collect();
        assert_eq!(commands.len(), 10);
        for (of, alone) in commands {
            assert_eq!(names(of), names(&alone), "{}", of.get_name());
        }
    }

    #[test]
    fn words_are_read_as_by_the_whole_grammar() {
        for words in [
            "call s t a=b -o json --query rust --answers a.json -- x -y",
            "call s t --help",
            "tools s --config c.json -q",
            "servers",
            "-q call s t",
            "call s t --version",
            "call",
            "tools --nonsense",
            "--version",
            "-V",
        ] {
            let words: Vec<OsString> = ["toolnexus"].into_iter().chain(words.split(' ')).map(OsString::from).collect();
            let whole = read_words(words.clone(), &mut examples_first(Cli::command()));
            match (read(words.clone()), whole) {
                (Ok(one), Ok(whole)) => assert_eq!(one.subcommand(), whole.subcommand(), "{words:?}"),
                (Err((one, _)), Err(whole)) => assert_eq!(one.to_string(), whole.to_string(), "{words:?}"),
                (one, whole) => panic!("{words:?}: {one:?} and {whole:?}"),
            }
        }
    }
}
