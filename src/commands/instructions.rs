//! `toolnexus instructions`: how servers say that they are to be used.

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
use crate::{
    error::Error,
    text::{safe_line, safe_text},
};

/// What `instructions` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus instructions [OPTIONS] [SERVER]\n       toolnexus instructions [OPTIONS] -- COMMAND...",
    after_help = "Examples:
  toolnexus instructions forms
  toolnexus instructions -o json    with each server's name, version and capabilities"
)]
pub struct InstructionsArgs {
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

/// Shows who each server is, and its instructions.
///
/// # Errors
/// [`Error`]; with several servers, that of the first when none of them could be reached.
pub async fn run(args: InstructionsArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, rest } = Selected::new(args.words, args.command);
    if let Some(word) = rest.first() {
        return Err(Error::usage(format!("{word:?} is one word too many")).into());
    }
    let Picked { config, names } = Picked::new(server, context, &args.server, args.trust).await?;
    let session = CommandHost::new(config, &args.server, &Questions::for_listing(), None, context)?;
    let options = ListingArgs { strict: args.strict, ..ListingArgs::default() };
    let mut listing = Listing::new(printer, "instructions", &names, &options);
    let ask = async |name: &str| Ok(shown(&session.connect(name).await?.info()));
    let taken = each(&names, ask, |name, shown| listing.take(name, shown)).await;
    listing.finish(session, taken).await
}

fn shown(info: &crate::client::ServerInfo) -> Shown {
    let who = [info.server.get("title").and_then(|title| title.as_str()).or(info.name()), info.version()];
    let who: Vec<_> = who.into_iter().flatten().map(safe_line).collect();
    let offers: Vec<_> = info.capabilities.keys().map(|key| safe_line(key)).collect();
    let said = info.instructions.as_deref().unwrap_or("(no instructions)");
    let text = format!("{}\noffers {}\n\n{}\n", who.join(" "), offers.join(", "), safe_text(said).trim_end());
    let value = json!({
        "instructions": info.instructions, "serverInfo": info.server, "protocol": info.revision.as_str(),
        "capabilities": info.capabilities,
    });
    Shown { value, text, found: Vec::new() }
}
