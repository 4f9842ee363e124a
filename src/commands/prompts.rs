//! `toolnexus prompts`: the prompts that servers offer.

use clap::Args;
use serde_json::{Value, json};

use super::{
    command_host::CommandHost,
    context::Context,
    everywhere::{Listing, ListingArgs, Picked, Shown, each, mentions},
    options::ServerArgs,
    questions::Questions,
    select::Selected,
};
use crate::{
    error::Error,
    output::{prompt_line, prompt_list},
};

/// What `prompts` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus prompts [OPTIONS] [SERVER]\n       toolnexus prompts [OPTIONS] -- COMMAND...",
    after_help = "Each prompt is shown with its arguments; those with a question mark are optional.

Examples:
  toolnexus prompts
  toolnexus prompts forms
  toolnexus prompts --grep review"
)]
pub struct PromptsArgs {
    /// The server
    #[arg(value_name = "SERVER", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Options of the listing.
    #[command(flatten)]
    pub listing: ListingArgs,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Lists prompts.
///
/// # Errors
/// [`Error`]; with several servers, that of the first when none of them could be listed.
pub async fn run(args: PromptsArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, rest } = Selected::new(args.words, args.command);
    if let Some(word) = rest.first() {
        return Err(Error::Usage {
            message: format!("{word:?} is one word too many"),
            hint: Some("`toolnexus prompt SERVER NAME [ARG]...` gets a prompt".to_owned()),
        }
        .into());
    }
    let Picked { config, names } = Picked::new(server, context, &args.server, args.listing.trust).await?;
    let word = args.listing.grep.as_deref();
    let session = CommandHost::new(config, &args.server, &Questions::for_listing(), None, context)?;
    let mut listing = Listing::new(printer, "prompts", &names, &args.listing);
    let ask = async |name: &str| list(&session, name).await;
    let taken =
        each(&names, ask, |name, prompts| listing.take(name, prompts.map(|prompts| shown(prompts, word)))).await;
    listing.finish(session, taken).await
}

async fn list(session: &CommandHost, server: &str) -> Result<Vec<Value>, Error> {
    let client = session.connect(server).await?;
    let prompts = session.list(server, &client, PROMPTS).await?;
    session.remember(server, "prompts", &prompts);
    Ok(prompts)
}

/// How prompts are listed.
pub(super) const PROMPTS: (&str, &str, &str) = ("prompts", "prompts/list", "prompts");

fn shown(mut prompts: Vec<Value>, word: Option<&str>) -> Shown {
    prompts.retain(|entry| mentions(entry, word));
    let found = prompts.iter().map(prompt_line).collect();
    let text = prompt_list(&prompts);
    Shown { value: json!({"prompts": prompts}), text, found }
}
