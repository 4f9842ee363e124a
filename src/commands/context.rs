use std::{
    io,
    sync::{Arc, OnceLock},
};

use super::{options::GlobalArgs, signals::Signals};
use crate::{config::ConfigError, error::Error, output::Printer};

/// What every command is given: made once, by the edge, and shared by all commands that the program carries out.
#[derive(Debug)]
pub struct Context {
    /// The options of every command.
    pub(super) global: GlobalArgs,
    /// What prints.
    pub(crate) printer: Arc<Printer>,
    signals: Arc<OnceLock<Signals>>,
    grammar: fn() -> clap::Command,
}

impl Context {
    /// The context of commands with these general options, which print with `printer`; `grammar` is the whole command line.
    pub(crate) fn new(global: GlobalArgs, printer: Arc<Printer>, grammar: fn() -> clap::Command) -> Self {
        Self { global, printer, signals: Arc::default(), grammar }
    }

    /// The same, with other general options.
    pub(crate) fn with(&self, global: GlobalArgs, printer: Arc<Printer>) -> Self {
        Self { global, printer, signals: Arc::clone(&self.signals), grammar: self.grammar }
    }

    /// The command line of the program.
    pub(super) fn grammar(&self) -> clap::Command {
        (self.grammar)()
    }

    /// The signals, with a `stop` of this command's own. They are handled from the first time on: until a command waits for
    /// something that has to be ended, a signal ends the program as the system does.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn signals(&self) -> io::Result<Signals> {
        if let Some(signals) = self.signals.get() {
            return Ok(signals.for_command());
        }
        let signals = Signals::install()?;
        Ok(self.signals.get_or_init(|| signals).for_command())
    }
}

/// What the error of a command is to the program.
pub(crate) fn downcast(error: anyhow::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(other) => match other.downcast::<ConfigError>() {
            Ok(error) => error.into(),
            Err(other) => Error::Io(format!("{other:#}")),
        },
    }
}
