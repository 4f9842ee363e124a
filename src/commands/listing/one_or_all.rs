//! Shared by commands that ask one server, or all of them at the same time.

use clap::Args;

use crate::commands::{
    context::Context,
    listing::everywhere::{Listing, Picked, Shown, each},
    options::ServerArgs,
    server::{command_host::CommandHost, questions::Questions, select::Selected},
};
use crate::error::Error;

/// The arguments of every command that asks one server, or all of them at the same time.
#[derive(Args, Debug)]
pub struct OneOrAllArgs {
    /// The server
    #[arg(value_name = "SERVER", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Options for all servers.
    #[command(flatten)]
    pub all: AllArgs,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options for asking all servers.
#[derive(Args, Clone, Debug, Default)]
pub struct AllArgs {
    /// Start all servers of a configuration file that was found, without asking
    #[arg(long)]
    pub trust: bool,
    /// Fail if any server fails, not only if all do
    #[arg(long)]
    pub strict: bool,
}

/// Options for listings.
#[derive(Args, Clone, Debug, Default)]
pub struct GrepArgs {
    /// List only what has WORD in its name or description, one per line
    #[arg(long, value_name = "WORD")]
    pub grep: Option<String>,
}

impl OneOrAllArgs {
    /// Asks the server, or all of them, and prints the outcome as the listing `event`. `instead` is the command that
    /// accepts more words.
    ///
    /// # Errors
    /// [`Error`]; with several servers, that of the first if none of them answered, or if any failed under `--strict`.
    pub(crate) async fn list(
        self,
        (event, instead): (&'static str, Option<&str>),
        grep: &GrepArgs,
        context: &Context,
        ask: impl AsyncFn(&CommandHost, &str) -> Result<Shown, Error>,
    ) -> anyhow::Result<()> {
        let Selected { server, rest } = Selected::new(self.words, self.command);
        if let Some(word) = rest.first() {
            let message = format!("{word:?} is one word too many");
            return Err(Error::Usage { message, hint: instead.map(str::to_owned) }.into());
        }
        let Picked { config, names } = Picked::new(server, context, &self.server, self.all.trust).await?;
        let host = CommandHost::new(config, &self.server, &Questions::for_listing(), None, context)?;
        let mut listing = Listing::new(&context.printer, event, &names, &self.all, grep);
        let ask = async |name: &str| ask(&host, name).await;
        let taken = each(&names, ask, |name, shown| listing.take(name, shown)).await;
        listing.finish(host, taken).await
    }
}
