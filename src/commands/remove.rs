//! `toolnexus remove`: takes a server out of a configuration file.

use clap::Args;
use serde_json::json;

use super::{config_files::target_file::FileArgs, context::Context};
use crate::{config::Environment, text::safe_line};

/// What `remove` takes.
#[derive(Args, Debug)]
#[command(
    after_help = "The server is removed from the file that `toolnexus servers` shows for it. Comments and order are kept.

Examples:
  toolnexus remove files
  toolnexus remove --user notes
  toolnexus disable files      keeps the entry, but does not start the server"
)]
pub struct RemoveArgs {
    /// The server
    #[arg(value_name = "SERVER")]
    pub name: String,
    /// Which file.
    #[command(flatten)]
    pub file: FileArgs,
}

/// Removes the server.
///
/// # Errors
/// If there is no such server, or the file cannot be edited.
pub fn run(args: &RemoveArgs, context: &Context) -> anyhow::Result<()> {
    let environment = Environment::current();
    let mut file = args.file.open_with(&args.name, context, &environment)?;
    file.remove(&args.name);
    file.save(&environment)?;
    let path = file.path().display().to_string();
    let value = json!({"removed": args.name, "file": path});
    Ok(context.printer.data("removed", &value, || format!("removed {} from {path}\n", safe_line(&args.name)))?)
}
