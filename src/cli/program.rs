use std::{ffi::OsString, future, process::ExitCode, sync::Arc};

use anyhow::Context as _;
use clap::{CommandFactory as _, FromArgMatches as _, error::ErrorKind};
use futures_util::future::LocalBoxFuture;

use super::{Cli, Command, grammar::read};
use crate::{
    commands::{
        CommandLine, Context, add, answers,
        argv::guess_output,
        call, candidates, complete, completions, demo_server, doctor, down, downcast, help_or_usage, import,
        instructions,
        keep_server::{self, KeepServerArgs},
        logs, man,
        options::GlobalArgs,
        ping, prompt, prompts, read, remove, resources, resume, servers, shell, switch, tools, up, watch,
    },
    error::Error,
    output::{OutputMode, Printer, Verbosity},
    system::can_open,
    terminal::choose_colour,
};

/// This command line, for commands that run other commands.
const PROGRAM: CommandLine = CommandLine {
    grammar: Cli::command,
    read,
    dispatch: |words, context| match Cli::from_arg_matches(&words) {
        Ok(cli) => dispatch(cli.command, context),
        Err(error) => Box::pin(future::ready(Err(error.into()))),
    },
};

/// How many files and pipes a run needs at least.
const DESCRIPTORS: usize = 16;

/// Runs the program with the words of its command line, its own name first, and returns its exit code.
pub fn run(words: Vec<OsString>) -> ExitCode {
    let (result, printer) = match KeepServerArgs::of(&words) {
        Some(args) => (block_on(keep_server::run(&args)), Arc::new(Printer::new(OutputMode::Text, Verbosity::Normal))),
        None => match read_and_run(words) {
            Ok(ended) => ended,
            Err(code) => return code,
        },
    };
    let Err(error) = result else { return ExitCode::SUCCESS };
    let error = downcast(error);
    // A deferred call has already printed its own message.
    if !matches!(error, Error::Deferred) {
        printer.error(&error.report());
    }
    ExitCode::from(error.exit())
}

/// Runs the command line; returns how it ended and a printer for that, or an exit code if there is nothing to print.
fn read_and_run(words: Vec<OsString>) -> Result<(anyhow::Result<()>, Arc<Printer>), ExitCode> {
    let mode = guess_output(words.get(1..).unwrap_or_default());
    Ok(match parse(words) {
        Ok(cli) => {
            choose_colour(cli.global.color);
            let printer = Arc::new(
                Printer::new(cli.global.output, cli.global.verbosity())
                    .with_log(cli.global.log)
                    .with_pager(!cli.global.no_pager),
            );
            let context = Context::new(cli.global, Arc::clone(&printer), PROGRAM);
            (block_on(dispatch(cli.command, &context)), printer)
        }
        Err((error, grammar)) => {
            let printer = Arc::new(Printer::new(mode, Verbosity::Normal));
            if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && mode == OutputMode::Text {
                printer.usage(&error.render().to_string());
                return Err(ExitCode::from(Error::usage("").exit()));
            }
            (help_or_usage(&error, &grammar, &printer), printer)
        }
    })
}

/// A context for [`carry_out`].
pub fn context() -> Context {
    let printer = Arc::new(Printer::new(OutputMode::default(), Verbosity::Normal));
    Context::new(GlobalArgs::default(), printer, PROGRAM)
}

/// Runs a command line (the program's name first) inside a program that goes on afterwards. Must be called in a
/// runtime.
///
/// ```no_run
/// # async fn twice() -> Result<(), toolnexus::error::Error> {
/// use toolnexus::cli::{carry_out, context};
///
/// let context = context();
/// carry_out(vec!["toolnexus".into(), "ping".into(), "forms".into()], &context).await?;
/// carry_out(vec!["toolnexus".into(), "tools".into(), "forms".into()], &context).await
/// # }
/// ```
///
/// # Errors
/// [`Error`], which has not been printed.
pub async fn carry_out(words: Vec<OsString>, context: &Context) -> Result<(), Error> {
    let cli = match parse(words) {
        Ok(cli) => cli,
        Err((error, grammar)) => return help_or_usage(&error, &grammar, &context.printer).map_err(downcast),
    };
    let printer = Arc::new(
        Printer::new(cli.global.output, cli.global.verbosity())
            .with_log(cli.global.log)
            .with_pager(!cli.global.no_pager),
    );
    dispatch(cli.command, &context.with(cli.global, printer)).await.map_err(downcast)
}

/// Runs one command. Each future is boxed separately; one future for all would be as large as the largest.
fn dispatch(command: Command, context: &Context) -> LocalBoxFuture<'_, anyhow::Result<()>> {
    match command {
        Command::Call(args) => Box::pin(call::run(*args, context)),
        Command::Tools(args) => Box::pin(tools::run(*args, context)),
        Command::Resources(args) => Box::pin(resources::run(*args, context)),
        Command::Read(args) => Box::pin(read::run(*args, context)),
        Command::Prompts(args) => Box::pin(prompts::run(*args, context)),
        Command::Prompt(args) => Box::pin(prompt::run(*args, context)),
        Command::Complete(args) => Box::pin(complete::run(*args, context)),
        Command::Instructions(args) => Box::pin(instructions::run(*args, context)),
        Command::Watch(args) => Box::pin(watch::run(*args, context)),
        Command::Ping(args) => Box::pin(ping::run(*args, context)),
        Command::Shell(args) => Box::pin(shell::run(*args, context)),
        Command::Servers(args) => Box::pin(async move { servers::run(&args, context).await }),
        Command::Add(args) => Box::pin(future::ready(add::run(&args, context))),
        Command::Remove(args) => Box::pin(future::ready(remove::run(&args, context))),
        Command::Enable(args) => Box::pin(future::ready(switch::run(&args.switch, true, context))),
        Command::Disable(args) => Box::pin(future::ready(switch::run(&args.switch, false, context))),
        Command::Import(args) => Box::pin(future::ready(import::run(&args, context))),
        #[cfg(feature = "http")]
        Command::Login(args) => Box::pin(crate::commands::login::run(*args, context)),
        #[cfg(feature = "http")]
        Command::Logout(args) => Box::pin(async move { crate::commands::logout::run(&args, context).await }),
        Command::Resume(args) => Box::pin(async move { resume::run(&args, context).await }),
        Command::Up(args) => Box::pin(up::run(*args, context)),
        Command::Down(args) => Box::pin(async move { down::run(&args, context).await }),
        Command::Logs(args) => Box::pin(logs::run(*args, context)),
        Command::KeepServer(args) => Box::pin(async move { keep_server::run(&args).await }),
        Command::Answers(args) => Box::pin(future::ready(answers::run(&args, context))),
        Command::Doctor(args) => Box::pin(doctor::run(*args, context)),
        Command::Completions(args) => Box::pin(future::ready(completions::run(&args, context))),
        Command::Man(args) => Box::pin(future::ready(man::run(&args, context))),
        Command::Candidates(args) => Box::pin(future::ready(candidates::run(&args, context))),
        Command::DemoServer(args) => Box::pin(async move { demo_server::run(&args, context).await }),
    }
}

/// Runs `future` on this thread.
fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    descriptors()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("the program cannot start")?;
    let result = runtime.block_on(future);
    // A thread that waits for stdin must not keep the program alive.
    runtime.shutdown_background();
    result
}

/// Whether there are enough file descriptors for the runtime, which would otherwise panic.
fn descriptors() -> Result<(), Error> {
    can_open(DESCRIPTORS)
        .map_err(|error| Error::Io(format!("toolnexus is not allowed to open enough files (`ulimit -n`): {error}")))
}

/// The parsed `words`, or clap's error, with the grammar that was used.
fn parse(words: Vec<OsString>) -> Result<Cli, (clap::Error, clap::Command)> {
    Cli::from_arg_matches(&read(words)?).map_err(|error| (error, Cli::command()))
}
