//! `toolnexus prompts`: the prompts that servers offer.

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
    output::{found_line, prompt_line, prompt_list},
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
    /// What is listed.
    #[command(flatten)]
    pub grep: GrepArgs,
    /// The server, or all of them.
    #[command(flatten)]
    pub servers: OneOrAllArgs,
}

/// Lists prompts.
///
/// # Errors
/// [`Error`]; with several servers, that of the first if none of them could be listed.
pub async fn run(args: PromptsArgs, context: &Context) -> anyhow::Result<()> {
    let PromptsArgs { grep, servers } = args;
    let ask = async |host: &CommandHost, name: &str| Ok(shown(list(host, name).await?, grep.grep.as_deref()));
    let instead = Some("`toolnexus prompt SERVER NAME [ARG]...` gets a prompt");
    servers.list(("prompts", instead), &grep, context, ask).await
}

async fn list(session: &CommandHost, server: &str) -> Result<Vec<Value>, Error> {
    let client = session.connect(server).await?;
    let prompts = session.list_by("name", server, &client, PROMPTS).await?;
    session.remember(server, "prompts", &prompts);
    Ok(prompts)
}

/// How prompts are listed.
pub(super) const PROMPTS: (&str, &str, &str) = ("prompts", "prompts/list", "prompts");

fn shown(mut prompts: Vec<Value>, word: Option<&str>) -> Shown {
    prompts.retain(|entry| mentions(entry, word));
    let found = prompts.iter().map(|prompt| found_line(prompt_line(prompt), prompt, word)).collect();
    let text = prompt_list(&prompts);
    Shown { value: json!({"prompts": prompts}), text, found }
}
