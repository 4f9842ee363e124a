use std::{ffi::OsString, os::unix::net::UnixStream, process::ExitCode, sync::Arc};

use anyhow::Context as _;
use clap::{
    CommandFactory, FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{
    answers, call, candidates, complete, completions, context::Context, demo_server, doctor, down, instructions,
    keep_server, login, logout, logs, man, ping, prompt, prompts, read, resources, resume, servers, shell, tools, up,
    watch,
};
use crate::{
    cli::{Cli, Command, guess_output},
    config::ConfigError,
    error::Error,
    output::{OutputMode, Printer, Verbosity},
    words::{command_meant, commands_with, help_as_option, mark_tool_options, option_meant, subcommand_first},
};

/// How many files and pipes a run opens at least.
const DESCRIPTORS: usize = 16;

/// Runs the program with the words of its command line, its own name first, and gives its exit code.
pub fn run(words: Vec<OsString>) -> ExitCode {
    let mode = guess_output(words.get(1..).unwrap_or_default());
    let mut grammar = Cli::command();
    let (result, printer) = match parse(words, &mut grammar) {
        Ok(cli) => {
            let printer = Arc::new(Printer::new(cli.global.output, cli.global.verbosity()));
            let context = Context::new(cli.global, Arc::clone(&printer));
            (block_on(dispatch(cli.command, &context)), printer)
        }
        Err(error) => {
            let printer = Arc::new(Printer::new(mode, Verbosity::Normal));
            if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && mode == OutputMode::Text {
                printer.usage(&error.render().to_string());
                return ExitCode::from(Error::usage("").exit());
            }
            (help_or_usage(&error, &grammar, &printer), printer)
        }
    };
    let Err(error) = result else { return ExitCode::SUCCESS };
    let error = downcast(error);
    // A call that waits has said so already.
    if !matches!(error, Error::Deferred) {
        printer.error(&error.report());
    }
    ExitCode::from(error.exit())
}

/// Carries out a command line, the program's name first, in a program that goes on. Must be called in a runtime.
///
/// # Errors
/// [`Error`], which is not printed.
pub async fn carry_out(words: Vec<OsString>, context: &Context) -> Result<(), Error> {
    let mut grammar = Cli::command();
    let cli = match parse(words, &mut grammar) {
        Ok(cli) => cli,
        Err(error) => return help_or_usage(&error, &grammar, &context.printer).map_err(downcast),
    };
    let printer = Arc::new(Printer::new(cli.global.output, cli.global.verbosity()));
    dispatch(cli.command, &context.with(cli.global, printer)).await.map_err(downcast)
}

/// The words of a command line, the program's name first, as `grammar` understands them.
pub(super) fn parse(words: Vec<OsString>, grammar: &mut clap::Command) -> Result<Cli, clap::Error> {
    let words = mark_tool_options(subcommand_first(help_as_option(words), grammar), grammar);
    grammar.try_get_matches_from_mut(words).and_then(|matches| Cli::from_arg_matches(&matches))
}

/// Carries out one command.
pub(super) async fn dispatch(command: Command, context: &Context) -> anyhow::Result<()> {
    match command {
        Command::Call(args) => call::run(*args, context).await,
        Command::Tools(args) => tools::run(*args, context).await,
        Command::Resources(args) => resources::run(*args, context).await,
        Command::Read(args) => read::run(*args, context).await,
        Command::Prompts(args) => prompts::run(*args, context).await,
        Command::Prompt(args) => prompt::run(*args, context).await,
        Command::Complete(args) => complete::run(*args, context).await,
        Command::Instructions(args) => instructions::run(*args, context).await,
        Command::Watch(args) => watch::run(*args, context).await,
        Command::Ping(args) => ping::run(*args, context).await,
        Command::Shell(args) => shell::run(*args, context).await,
        Command::Servers(args) => servers::run(&args, context).await,
        Command::Login(args) => login::run(*args, context).await,
        Command::Logout(args) => logout::run(&args, context).await,
        Command::Resume(args) => resume::run(&args, context).await,
        Command::Up(args) => up::run(*args, context).await,
        Command::Down(args) => down::run(&args, context).await,
        Command::Logs(args) => logs::run(*args, context).await,
        Command::KeepServer(args) => keep_server::run(&args, context).await,
        Command::Answers(args) => answers::run(&args, context),
        Command::Doctor(args) => doctor::run(*args, context).await,
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
        Command::Candidates(args) => candidates::run(&args, context),
        Command::DemoServer(args) => demo_server::run(&args, context).await,
    }
}

pub(super) fn downcast(error: anyhow::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(other) => match other.downcast::<ConfigError>() {
            Ok(error) => error.into(),
            Err(other) => Error::Io(format!("{other:#}")),
        },
    }
}

/// Carries out `future` on this thread.
fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    descriptors()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("the program cannot start")?;
    let result = runtime.block_on(future);
    // A thread that waits for stdin must not keep the program.
    runtime.shutdown_background();
    result
}

/// Whether there are descriptors enough to wait for anything: the runtime ends the program where there are not.
fn descriptors() -> Result<(), Error> {
    let pairs: std::io::Result<Vec<_>> = (0..DESCRIPTORS / 2).map(|_| UnixStream::pair()).collect();
    pairs.map(drop).map_err(|error| Error::Io(format!("toolnexus may not open enough files (`ulimit -n`): {error}")))
}

/// What clap has to say instead of a command: help and the version are output, all else is a usage error.
pub(super) fn help_or_usage(error: &clap::Error, grammar: &clap::Command, printer: &Printer) -> anyhow::Result<()> {
    let text = error.render().to_string();
    if !error.use_stderr() {
        return Ok(printer.stdout(&text)?);
    }
    if matches!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand) {
        let hint = Some("--help shows what there is".to_owned());
        return Err(Error::Usage { message: "COMMAND is missing".to_owned(), hint }.into());
    }
    // `error: MESSAGE`, lines that belong to it, and after an empty line `tip: …`, `Usage: …`, `For more information …`.
    let message = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let tips = || text.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    let similar = tips().find(|tip| tip.contains("similar")).or(tips().next()).map(tip);
    let hint = meant(error, grammar)
        .or_else(|| owners(error, grammar))
        .or(similar)
        .unwrap_or_else(|| "--help shows what there is".to_owned());
    let message = message.trim_start_matches("error: ").to_owned();
    Err(Error::Usage { message, hint: Some(hint) }.into())
}

/// A tip of clap's. What it says of `--` is not so here, where a server's command stands behind it.
fn tip(tip: &str) -> String {
    if tip.starts_with("to pass ") && tip.contains(" as a value, use '-- ") {
        "what is for the tool is written key=value".to_owned()
    } else {
        tip.to_owned()
    }
}

/// What was meant by a word or an option of other programs.
fn meant(error: &clap::Error, grammar: &clap::Command) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let meant = command_meant(word(ContextKind::InvalidSubcommand)?)?;
            Some(format!("did you mean `toolnexus {meant}`?"))
        }
        ErrorKind::UnknownArgument => {
            let name = word(ContextKind::InvalidArg)?.strip_prefix("--")?;
            option_meant(grammar, "", name)
                .filter(|meant| meant == "-o json")
                .map(|meant| format!("{meant} prints JSON"))
        }
        _ => None,
    }
}

/// Which commands take the option that this one does not.
fn owners(error: &clap::Error, grammar: &clap::Command) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let owners = commands_with(grammar, option);
    let (last, others) = owners.split_last().filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let names = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
    Some(format!("{option} is an option of {names}"))
}
