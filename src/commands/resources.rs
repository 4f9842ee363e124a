//! `toolnexus resources`: what servers have to read.

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
    output::{offer_line, resource_list},
};

/// What `resources` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus resources [OPTIONS] [SERVER]\n       toolnexus resources [OPTIONS] -- COMMAND...",
    after_help = "Templates are listed below the resources, with their variables in braces.

Examples:
  toolnexus resources
  toolnexus resources forms
  toolnexus resources --grep notes
  toolnexus resources -- npx -y @modelcontextprotocol/server-everything"
)]
pub struct ResourcesArgs {
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

/// Lists resources and their templates.
///
/// # Errors
/// [`Error`]; with several servers, that of the first when none of them could be listed.
pub async fn run(args: ResourcesArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, rest } = Selected::new(args.words, args.command);
    if let Some(word) = rest.first() {
        return Err(Error::Usage {
            message: format!("{word:?} is one word too many"),
            hint: Some("`toolnexus read SERVER URI` reads a resource".to_owned()),
        }
        .into());
    }
    let Picked { config, names } = Picked::new(server, context, &args.server, args.listing.trust).await?;
    let word = args.listing.grep.as_deref();
    let session = CommandHost::new(config, &args.server, &Questions::for_listing(), None, context)?;
    let mut listing = Listing::new(printer, "resources", &names, &args.listing);
    let ask = async |name: &str| list(&session, name).await;
    let taken = each(&names, ask, |name, lists| listing.take(name, lists.map(|lists| shown(lists, word)))).await;
    listing.finish(session, taken).await
}

/// The resources of a server, and its templates.
pub(super) async fn list(session: &CommandHost, server: &str) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let client = session.connect(server).await?;
    let resources = session.list(server, &client, ("resources", "resources/list", "resources"));
    let templates = session.list(server, &client, ("resources", "resources/templates/list", "resourceTemplates"));
    let (resources, templates) = tokio::try_join!(resources, templates)?;
    session.remember(server, "resources", &resources);
    session.remember(server, "resourceTemplates", &templates);
    Ok((resources, templates))
}

fn shown((mut resources, mut templates): (Vec<Value>, Vec<Value>), word: Option<&str>) -> Shown {
    resources.retain(|entry| mentions(entry, word));
    templates.retain(|entry| mentions(entry, word));
    let found = resources.iter().map(|entry| offer_line(entry, "uri"));
    let found = found.chain(templates.iter().map(|entry| offer_line(entry, "uriTemplate"))).collect();
    let text = resource_list(&resources, &templates);
    Shown { value: json!({"resources": resources, "resourceTemplates": templates}), text, found }
}
