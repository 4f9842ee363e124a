//! `toolnexus resources`: the resources that servers offer.

use clap::Args;
use serde_json::{Value, json};

use super::{
    context::Context,
    listing::{
        everywhere::{Shown, mentions},
        one_or_all::{GrepArgs, OneOrAllArgs},
    },
    server::command_host::CommandHost,
};
use crate::{
    error::Error,
    output::{found_line, offer_line, resource_list},
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
    /// What is listed.
    #[command(flatten)]
    pub grep: GrepArgs,
    /// The server, or all of them.
    #[command(flatten)]
    pub servers: OneOrAllArgs,
}

/// Lists resources and their templates.
///
/// # Errors
/// [`Error`]; with several servers, that of the first if none of them could be listed.
pub async fn run(args: ResourcesArgs, context: &Context) -> anyhow::Result<()> {
    let ResourcesArgs { grep, servers } = args;
    let ask = async |host: &CommandHost, name: &str| Ok(shown(list(host, name).await?, grep.grep.as_deref()));
    let instead = Some("`toolnexus read SERVER URI` reads a resource");
    servers.list(("resources", instead), &grep, context, ask).await
}

/// The resources of a server, and its templates.
pub(super) async fn list(session: &CommandHost, server: &str) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let client = session.connect(server).await?;
    let resources = session.list_by("uri", server, &client, ("resources", "resources/list", "resources"));
    let templates = ("resources", "resources/templates/list", "resourceTemplates");
    let templates = session.list_by("uriTemplate", server, &client, templates);
    let (resources, templates) = tokio::try_join!(resources, templates)?;
    session.remember(server, "resources", &resources);
    session.remember(server, "resourceTemplates", &templates);
    Ok((resources, templates))
}

fn shown((mut resources, mut templates): (Vec<Value>, Vec<Value>), word: Option<&str>) -> Shown {
    resources.retain(|entry| mentions(entry, word));
    templates.retain(|entry| mentions(entry, word));
    let line = |entry: &Value, key: &str| found_line(offer_line(entry, key), entry, word);
    let found = resources.iter().map(|entry| line(entry, "uri"));
    let found = found.chain(templates.iter().map(|entry| line(entry, "uriTemplate"))).collect();
    let text = resource_list(&resources, &templates);
    Shown { value: json!({"resources": resources, "resourceTemplates": templates}), text, found }
}
