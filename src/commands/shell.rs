//! `toolnexus shell`: many commands over connections that stay open.

use std::{io::IsTerminal, sync::Arc};

use clap::Args;

use super::{
    context::Context,
    options::{QuestionArgs, ServerArgs},
    server::{
        command_host::CommandHost,
        entered::entered,
        questions::Questions,
        select::{Selected, ServerWord},
    },
    shell::line::Shell,
};
use crate::{
    config::{self, Config, Environment},
    error::Error,
    output::Printer,
};

mod completion;
pub(crate) mod connections;
mod history;
mod line;
mod values;

/// What `shell` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus shell [OPTIONS] [SERVER]...\n       toolnexus shell [OPTIONS] -- COMMAND...",
    after_help = "Each line is a toolnexus command without the word `toolnexus`. Connections stay open; the SERVERs you name are
connected immediately. Tab completes, Ctrl-C stops the call, Ctrl-D ends the shell.
If stdin is not a terminal, its lines are run as a script, which ends at the first line that fails.

  $user = call people find name=Ada        keeps the result
  call mail send to=${user.email}          uses a part of it (structured content or JSON text)
  # a comment

Examples:
  toolnexus shell files
  toolnexus shell < steps.txt
  toolnexus shell -o json --answers answers.json < steps.txt"
)]
pub struct ShellArgs {
    /// The servers to connect to immediately
    #[arg(value_name = "SERVER", hide = true)]
    pub words: Vec<String>,
    /// A server to start: everything after `--`; its name is `adhoc`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// In a script: continue after a line that fails
    #[arg(long)]
    pub keep_going: bool,
    /// Options for the servers that are named.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Options for answering questions.
    #[command(flatten)]
    pub questions: QuestionArgs,
}

/// Runs lines until their end.
///
/// # Errors
/// [`Error`]: if nothing can be started, and in a script that of the failed line.
pub async fn run(args: ShellArgs, context: &Context) -> anyhow::Result<()> {
    let is_script = !std::io::stdin().is_terminal();
    // In a script, results are distinguished by their lines.
    let in_lines = || {
        Arc::new(
            Printer::new(context.global.output, context.global.verbosity()).with_log(context.global.log).in_lines(),
        )
    };
    let printer = if is_script { in_lines() } else { Arc::clone(&context.printer) };
    let context = &context.with(context.global.clone(), printer);
    let printer = &context.printer;
    if is_script && args.questions.takes_stdin() {
        let hint = Some("put the answers in a file".to_owned());
        let message = "--answers - cannot be used here: stdin is the script".to_owned();
        return Err(Error::Usage { message, hint }.into());
    }
    let (config, names) = servers(args.words, args.command, context, &args.server).await?;
    let questions = Questions::new(&args.questions, is_script, printer)?;
    let session = CommandHost::new(config, &args.server, &questions, None, context)?;
    if !is_script {
        session.signals.interrupt_lines();
    }
    let mut shell = Shell::new(&session, context, &questions, args.server.timeout);
    shell.greet(&names, is_script).await;
    let ended = match questions.terminal() {
        Some(terminal) if !is_script => shell.talk(terminal).await,
        _ => shell.script(args.keep_going).await,
    };
    session.close().await;
    questions.finish(printer, ended.is_ok()).await?;
    ended.map_err(Into::into)
}

/// The configuration with all usable servers, and the names of those to connect to immediately.
async fn servers(
    words: Vec<String>,
    command: Vec<String>,
    context: &Context,
    args: &ServerArgs,
) -> anyhow::Result<(Config, Vec<String>)> {
    if words.is_empty() && command.is_empty() {
        let config = config::discover(context.global.config.as_deref(), &Environment::current())?;
        return Ok((entered(config, |_| true, context).await?, Vec::new()));
    }
    if !command.is_empty() {
        if let Some(word) = words.first() {
            return Err(Error::usage(format!("{word:?} is one word too many: COMMAND is the server")).into());
        }
        let Selected { server, .. } = Selected::new(words, command);
        let (config, name) = server.unwrap_or(ServerWord::Named(String::new())).ready(context, args).await?;
        return Ok((config, vec![name]));
    }
    let mut merged: Option<Config> = None;
    let mut names = Vec::new();
    for word in words {
        let Selected { server: Some(server), .. } = Selected::new(vec![word], Vec::new()) else { continue };
        let (config, name) = server.ready(context, args).await?;
        let merged = merged.get_or_insert_with(|| config.clone());
        for entry in config.servers.into_iter().filter(|entry| entry.name.as_str() == name) {
            match merged.servers.iter_mut().find(|known| known.name == entry.name) {
                Some(known) => *known = entry,
                None => merged.servers.push(entry),
            }
        }
        names.push(name);
    }
    merged.map(|config| (config, names)).ok_or_else(|| Error::usage("SERVER is missing").into())
}
