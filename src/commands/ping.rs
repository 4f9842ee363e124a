//! `toolnexus ping`: whether servers answer, and how quickly.

use std::time::Instant;

use clap::Args;
use serde_json::json;

use super::{
    command_host::CommandHost,
    context::Context,
    everywhere::{Listing, ListingArgs, Picked, Shown, each},
    options::ServerArgs,
    questions::Questions,
    select::Selected,
};
use crate::{error::Error, protocol::Era};

/// What `ping` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus ping [OPTIONS] [SERVER]\n       toolnexus ping [OPTIONS] -- COMMAND...",
    after_help = "The time is for one request and its answer, once the server has started.

Examples:
  toolnexus ping forms
  toolnexus ping --strict     fail unless every server answers"
)]
pub struct PingArgs {
    /// The server
    #[arg(value_name = "SERVER", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Start all servers of a configuration file that was found, without asking
    #[arg(long)]
    pub trust: bool,
    /// Fail if any server fails, not only if all do
    #[arg(long)]
    pub strict: bool,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Pings.
///
/// # Errors
/// [`Error`]; with several servers, that of the first when none of them answered.
pub async fn run(args: PingArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, rest } = Selected::new(args.words, args.command);
    if let Some(word) = rest.first() {
        return Err(Error::usage(format!("{word:?} is one word too many")).into());
    }
    let Picked { config, names } = Picked::new(server, context, &args.server, args.trust).await?;
    let session = CommandHost::new(config, &args.server, &Questions::for_listing(), None, context)?;
    let options = ListingArgs { strict: args.strict, ..ListingArgs::default() };
    let mut listing = Listing::new(printer, "pings", &names, &options);
    let taken = each(&names, async |name| ping(&session, name).await, |name, shown| listing.take(name, shown)).await;
    listing.finish(session, taken).await
}

async fn ping(session: &CommandHost, server: &str) -> Result<Shown, Error> {
    let client = session.connect(server).await?;
    // 2026-07-28 has no ping; discovery is the request that every server answers.
    let method = if client.info().era() == Era::Modern { "server/discover" } else { "ping" };
    let start = Instant::now();
    let answered = client.request(method, None, &session.signals.stop).await;
    answered.map_err(|error| session.error(&server.into(), error))?;
    let milliseconds = (start.elapsed().as_secs_f64() * 10_000.0).round() / 10.0;
    let text = format!("answered {method} in {milliseconds} ms\n");
    Ok(Shown { value: json!({"method": method, "milliseconds": milliseconds}), text, found: Vec::new() })
}
