use std::{ffi::OsString, os::unix::net::UnixStream, process::ExitCode, sync::Arc};

use clap::{
    CommandFactory, FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{
    answers, call, candidates, complete, completions, demo_server, doctor, down, instructions, keep_server, login,
    logout, logs, man, ping, prompt, prompts, read, resources, resume, servers, shell, tools, up, watch,
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
    let words = mark_tool_options(subcommand_first(help_as_option(words), &grammar), &grammar);
    let parsed = grammar.try_get_matches_from_mut(words).and_then(|matches| Cli::from_arg_matches(&matches));
    let (result, printer) = match parsed {
        Ok(cli) => {
            let printer = Arc::new(Printer::new(cli.global.output, cli.global.verbosity()));
            (dispatch(cli, &printer), printer)
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

fn dispatch(cli: Cli, printer: &Arc<Printer>) -> anyhow::Result<()> {
    match cli.command {
        Command::Call(args) => call::run(*args, &cli.global, printer),
        Command::Tools(args) => tools::run(*args, &cli.global, printer),
        Command::Resources(args) => resources::run(*args, &cli.global, printer),
        Command::Read(args) => read::run(*args, &cli.global, printer),
        Command::Prompts(args) => prompts::run(*args, &cli.global, printer),
        Command::Prompt(args) => prompt::run(*args, &cli.global, printer),
        Command::Complete(args) => complete::run(*args, &cli.global, printer),
        Command::Instructions(args) => instructions::run(*args, &cli.global, printer),
        Command::Watch(args) => watch::run(*args, &cli.global, printer),
        Command::Ping(args) => ping::run(*args, &cli.global, printer),
        Command::Shell(args) => shell::run(*args, &cli.global, printer),
        Command::Servers(args) => servers::run(&args, &cli.global, printer),
        Command::Login(args) => login::run(*args, &cli.global, printer),
        Command::Logout(args) => logout::run(&args, &cli.global, printer),
        Command::Resume(args) => resume::run(&args, &cli.global, printer),
        Command::Up(args) => up::run(*args, &cli.global, printer),
        Command::Down(args) => down::run(&args, printer),
        Command::Logs(args) => logs::run(*args, &cli.global, printer),
        Command::KeepServer(args) => keep_server::run(&args),
        Command::Answers(args) => answers::run(&args, printer),
        Command::Doctor(args) => doctor::run(*args, &cli.global, printer),
        Command::Completions(args) => completions::run(&args, printer),
        Command::Man(args) => man::run(&args, printer),
        Command::Candidates(args) => candidates::run(&args, printer),
        Command::DemoServer(args) => demo_server::run(&args, printer),
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
pub(super) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    descriptors()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(future);
    // A thread that waits for stdin must not keep the program.
    runtime.shutdown_background();
    result
}

/// Whether there are descriptors enough to wait for anything: the runtime ends the program where there are not.
fn descriptors() -> Result<(), Error> {
    let pairs: std::io::Result<Vec<_>> = (0..DESCRIPTORS / 2).map(|_| UnixStream::pair()).collect();
    pairs.map(drop).map_err(|error| Error::Io(format!("start with so few open files allowed (`ulimit -n`): {error}")))
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
