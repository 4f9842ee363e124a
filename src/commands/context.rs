use std::{
    io,
    sync::{Arc, OnceLock},
};

use super::signals::Signals;
use crate::{
    cli::GlobalArgs,
    output::{OutputMode, Printer, Verbosity},
};

/// What every command is given: made once, by the edge, and shared by all commands that the program carries out.
///
/// ```no_run
/// # async fn twice() -> Result<(), toolnexus::error::Error> {
/// use toolnexus::commands::{Context, carry_out};
///
/// let context = Context::default();
/// carry_out(vec!["toolnexus".into(), "ping".into(), "forms".into()], &context).await?;
/// carry_out(vec!["toolnexus".into(), "tools".into(), "forms".into()], &context).await
/// # }
/// ```
#[derive(Debug)]
pub struct Context {
    /// The options of every command.
    pub(super) global: GlobalArgs,
    /// What prints.
    pub(super) printer: Arc<Printer>,
    signals: Arc<OnceLock<Signals>>,
}

impl Context {
    /// The context of commands with these general options, which print with `printer`.
    pub fn new(global: GlobalArgs, printer: Arc<Printer>) -> Self {
        Self { global, printer, signals: Arc::default() }
    }

    /// The same, with other general options.
    pub(super) fn with(&self, global: GlobalArgs, printer: Arc<Printer>) -> Self {
        Self { global, printer, signals: Arc::clone(&self.signals) }
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

impl Default for Context {
    fn default() -> Self {
        Self::new(GlobalArgs::default(), Arc::new(Printer::new(OutputMode::default(), Verbosity::Normal)))
    }
}
