//! `toolnexus down`: stops kept servers.

use clap::Args;
use futures_util::future::join_all;
use serde_json::{Map, json};

use super::{context::Context, server::kept};
use crate::{
    config::near_misses,
    error::Error,
    keeper::{self, KeptEnding, KeptServer},
    text::safe_line,
};

/// What `down` takes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus down browser
  toolnexus down --all")]
pub struct DownArgs {
    /// The servers by name, address or command, as `toolnexus servers` shows them
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Stop all kept servers
    #[arg(long, conflicts_with = "servers")]
    pub all: bool,
}

/// Stops the servers, all at the same time.
///
/// # Errors
/// [`Error::Usage`] if one of them is not up.
pub async fn run(args: &DownArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    if args.servers.is_empty() && !args.all {
        let hint = Some("toolnexus down SERVER..., or toolnexus down --all".to_owned());
        return Err(Error::Usage { message: "SERVER is missing".to_owned(), hint }.into());
    }
    let found = kept::look(printer).await?;
    let is_meant = |found: &KeptServer, word: &str| word == found.standing.server || word == found.standing.place;
    if let Some(word) = args.servers.iter().find(|word| !found.iter().any(|found| is_meant(found, word))) {
        return Err(not_up(word, &found).into());
    }
    let meant: Vec<&KeptServer> =
        found.iter().filter(|found| args.all || args.servers.iter().any(|word| is_meant(found, word))).collect();
    let ended = join_all(meant.iter().map(|found| keeper::end(found))).await;
    let mut lines = String::new();
    let mut servers = Map::new();
    for (found, ending) in meant.iter().zip(ended) {
        let standing = &found.standing;
        let (word, text) =
            match ending.map_err(|refused| Error::Io(format!("{} was not stopped: {refused}", standing.server)))? {
                KeptEnding::Ended => ("ended", "down"),
                KeptEnding::Killed => ("killed", "down; it did not stop by itself, so it was killed"),
            };
        let lost = match standing.waiting {
            0 => String::new(),
            1 => "; a call that was waiting for answers was cancelled".to_owned(),
            more => format!("; {more} calls that were waiting for answers were cancelled"),
        };
        lines.push_str(&format!("{}  {text}{lost}\n", safe_line(&standing.server)));
        servers.insert(standing.server.clone(), json!({"pid": standing.pid, "end": word}));
    }
    printer.data("down", &json!({"servers": servers}), || lines)?;
    Ok(())
}

fn not_up(word: &str, found: &[KeptServer]) -> Error {
    let names: Vec<&str> = found.iter().map(|found| found.standing.server.as_str()).collect();
    let near = near_misses(word, names.iter().copied());
    let hint = match (near.as_slice(), names.as_slice()) {
        (_, []) => "no server is up".to_owned(),
        ([], names) => format!("up: {}", names.join(", ")),
        (near, _) => format!("did you mean {}?", near.join(" or ")),
    };
    Error::Usage { message: format!("{word} is not up"), hint: Some(hint) }
}
