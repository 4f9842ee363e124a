//! `toolnexus ping`: whether servers answer, and how quickly.

use std::time::Instant;

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
    /// The server, or all of them.
    #[command(flatten)]
    pub servers: OneOrAllArgs,
}

/// Pings.
///
/// # Errors
/// [`Error`]; with several servers, that of the first if none of them answered.
pub async fn run(args: PingArgs, context: &Context) -> anyhow::Result<()> {
    args.servers.list(("pings", None), &GrepArgs::default(), context, ping).await
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
