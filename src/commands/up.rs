//! `toolnexus up`: starts servers, and keeps them running for later commands.

use clap::Args;
use serde_json::{Map, json};

use super::{
    context::Context,
    options::ServerArgs,
    server::{
        command_host::CommandHost,
        kept,
        questions::Questions,
        select::{Selected, ServerWord},
    },
};
use crate::{
    config::{AdhocTarget, ServerConfig},
    error::Error,
    keeper::KeptServer,
    text::safe_line,
};

/// What `up` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus up [OPTIONS] SERVER...\n       toolnexus up [OPTIONS] -- COMMAND...",
    after_help = "While a server is up, every command uses it, so what it keeps in memory is there for the next command.

Examples:
  toolnexus up browser              keep it until it has been idle for 15 minutes
  toolnexus up browser --keep=8h    until it has been idle for 8 hours
  toolnexus servers                 what is up, and since when
  toolnexus down browser"
)]
pub struct UpArgs {
    /// The servers
    #[arg(value_name = "SERVER", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Starts the servers, one after the other.
///
/// # Errors
/// [`Error`] of the first server that cannot be kept.
pub async fn run(args: UpArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    if args.server.no_keep {
        return Err(Error::usage("--no-keep cannot be used with up").into());
    }
    let mut up = Vec::new();
    for word in words(args.words, args.command)? {
        let (config, name) = word.ready(context, &args.server).await?;
        let server = config.server(&name).map_err(Error::Config)?.clone();
        let mut options = args.server.clone();
        options.keep = options.keep.or(server.keep).or(Some(ServerConfig::KEEP_FOR));
        let session = CommandHost::new(config, &options, &Questions::for_listing(), None, context)?;
        let connected = session.connect(&name).await;
        let found = match &connected {
            Ok(client) if client.is_attached() => kept::look(printer).await?,
            _ => Vec::new(),
        };
        session.close().await;
        connected?;
        let is_it = |found: &KeptServer| found.is_as(&server, &args.server.roots, args.server.protocol);
        let Some(found) = found.into_iter().find(is_it) else {
            return Err(Error::Io(format!("{name} is not up: it could not be kept")).into());
        };
        up.push((name, found));
    }
    let lines: String =
        up.iter().map(|(name, found)| format!("{}  {}\n", safe_line(name), kept::words(&found.standing))).collect();
    let servers: Map<_, _> = up.iter().map(|(name, found)| (name.clone(), json!(found.standing))).collect();
    printer.data("up", &json!({"servers": servers}), || lines)?;
    Ok(())
}

fn words(words: Vec<String>, command: Vec<String>) -> Result<Vec<ServerWord>, Error> {
    if !command.is_empty() {
        return match words.first() {
            Some(word) => Err(Error::usage(format!("{word:?} is one word too many: COMMAND is the server"))),
            None => Ok(vec![ServerWord::Target(AdhocTarget::Command(command))]),
        };
    }
    if words.is_empty() {
        let hint = Some("toolnexus up SERVER...".to_owned());
        return Err(Error::Usage { message: "SERVER is missing".to_owned(), hint });
    }
    Ok(words.into_iter().filter_map(|word| Selected::new(vec![word], Vec::new()).server).collect())
}
