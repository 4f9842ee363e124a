//! `toolnexus instructions`: what servers say about their use.

use clap::Args;
use serde_json::json;

use super::{
    context::Context,
    listing::{
        everywhere::Shown,
        one_or_all::{GrepArgs, OneOrAllArgs},
    },
    server::command_host::CommandHost,
};
use crate::text::{safe_name, safe_text};

/// The most capabilities that are listed.
const OFFERS: usize = 40;

/// What `instructions` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus instructions [OPTIONS] [SERVER]\n       toolnexus instructions [OPTIONS] -- COMMAND...",
    after_help = "Examples:
  toolnexus instructions forms
  toolnexus instructions -o json    with each server's name, version and capabilities"
)]
pub struct InstructionsArgs {
    /// The server, or all of them.
    #[command(flatten)]
    pub servers: OneOrAllArgs,
}

/// Prints who each server is, and its instructions.
///
/// # Errors
/// [`Error`](crate::error::Error); with several servers, that of the first if none of them could be reached.
pub async fn run(args: InstructionsArgs, context: &Context) -> anyhow::Result<()> {
    let ask = async |host: &CommandHost, name: &str| Ok(shown(&host.connect(name).await?.info()));
    args.servers.list(("instructions", None), &GrepArgs::default(), context, ask).await
}

fn shown(info: &crate::client::ServerInfo) -> Shown {
    let who = [info.server.get("title").and_then(|title| title.as_str()).or(info.name()), info.version()];
    let who: Vec<_> = who.into_iter().flatten().map(safe_name).collect();
    let offers: Vec<_> = info.capabilities.keys().take(OFFERS).map(|key| safe_name(key)).collect();
    let said = info.instructions.as_deref().unwrap_or("(no instructions)");
    let text = format!("{}\noffers {}\n\n{}\n", who.join(" "), offers.join(", "), safe_text(said).trim_end());
    let value = json!({
        "instructions": info.instructions, "serverInfo": info.server, "protocol": info.revision.as_str(),
        "capabilities": info.capabilities,
    });
    Shown { value, text, found: Vec::new() }
}
