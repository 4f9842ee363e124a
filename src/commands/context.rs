use std::{
    ffi::OsString,
    io,
    sync::{Arc, Mutex, OnceLock},
};

use clap::ArgMatches;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::{options::GlobalArgs, shell::connections::ShellConnections, signals::Signals};
use crate::{
    config::{self, Config, ConfigError, Environment},
    error::Error,
    output::Printer,
};

/// The whole command line, which individual commands do not know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandLine {
    /// Its grammar.
    pub(crate) grammar: fn() -> clap::Command,
    /// The parsed words, or clap's error, with the grammar that was used.
    pub(crate) read: fn(Vec<OsString>) -> Result<ArgMatches, (clap::Error, clap::Command)>,
    /// Runs the parsed command.
    pub(crate) dispatch: for<'a> fn(ArgMatches, &'a Context) -> LocalBoxFuture<'a, anyhow::Result<()>>,
}

/// What every command gets: created once by the edge, and shared by all commands that the program runs.
#[derive(Debug)]
pub struct Context {
    /// The options of every command.
    pub(super) global: GlobalArgs,
    /// The printer.
    pub(crate) printer: Arc<Printer>,
    signals: Arc<OnceLock<Signals>>,
    program: CommandLine,
    /// The connections of the shell that runs the command as a line.
    pub(super) shared: Option<Arc<ShellConnections>>,
    /// Where the result is kept instead of being printed.
    pub(super) keeps: Option<Arc<Mutex<Option<Value>>>>,
}

impl Context {
    /// A context for commands with these general options, which print with `printer`, in `program`.
    pub(crate) fn new(global: GlobalArgs, printer: Arc<Printer>, program: CommandLine) -> Self {
        Self { global, printer, signals: Arc::default(), program, shared: None, keeps: None }
    }

    /// The same, with other general options.
    pub(crate) fn with(&self, global: GlobalArgs, printer: Arc<Printer>) -> Self {
        let (signals, shared, keeps) = (Arc::clone(&self.signals), self.shared.clone(), self.keeps.clone());
        Self { global, printer, signals, program: self.program, shared, keeps }
    }

    /// The context of a line in a shell: the shell's connections, and `signals` that end only the line.
    pub(super) fn line(
        &self,
        global: GlobalArgs,
        printer: Arc<Printer>,
        signals: Signals,
        shared: Arc<ShellConnections>,
    ) -> Self {
        // Another configuration has other servers.
        let shared = global.config.is_none().then_some(shared);
        Self { global, printer, signals: Arc::new(OnceLock::from(signals)), program: self.program, shared, keeps: None }
    }

    /// The command line of the program.
    pub(super) fn grammar(&self) -> clap::Command {
        (self.program.grammar)()
    }

    /// The parsed words of a command line, or clap's error, with the grammar that was used.
    pub(super) fn read(&self, words: Vec<OsString>) -> Result<ArgMatches, (clap::Error, clap::Command)> {
        (self.program.read)(words)
    }

    /// Runs a command line.
    ///
    /// # Errors
    /// The command's error.
    pub(super) async fn carry_out(&self, words: ArgMatches) -> anyhow::Result<()> {
        (self.program.dispatch)(words, self).await
    }

    /// The configuration: that of the shell, or the one that is found.
    ///
    /// # Errors
    /// If there is none, or it cannot be used.
    pub(super) fn config(&self, environment: &Environment) -> Result<Config, ConfigError> {
        match &self.shared {
            Some(shared) => Ok(shared.host.config().clone()),
            None => config::discover(self.global.config.as_deref(), environment),
        }
    }

    /// Whether stdin is already used, because lines are read from it.
    pub(super) fn takes_stdin(&self) -> bool {
        self.shared.is_some()
    }

    /// The signals, with a separate `stop` for this command. They are handled from the first call on: until a command
    /// waits for something that has to be ended, a signal ends the program in the system's own way.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn signals(&self) -> io::Result<Signals> {
        if let Some(signals) = self.signals.get() {
            return Ok(signals.for_command());
        }
        let signals = Signals::install()?;
        Ok(self.signals.get_or_init(|| signals).for_command())
    }
}

/// A command's error as an [`Error`].
pub(crate) fn downcast(error: anyhow::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(other) => match other.downcast::<ConfigError>() {
            Ok(error) => error.into(),
            Err(other) => Error::Io(format!("{other:#}")),
        },
    }
}
