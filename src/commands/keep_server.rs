//! `toolnexus keep-server`: the process that keeps one server. Other commands start it.

use std::io::Read as _;

use clap::Args;

use super::context::Context;
use crate::{
    error::Error,
    keeper::{self, KeeperSetup},
};

/// What `keep-server` takes.
#[derive(Args, Debug)]
pub struct KeepServerArgs {
    /// End the servers of the keeper on standard input when it is gone
    #[arg(long)]
    pub guard: bool,
}

/// Keeps the server that standard input describes.
///
/// # Errors
/// [`Error`], when it cannot begin.
pub async fn run(args: &KeepServerArgs, _context: &Context) -> anyhow::Result<()> {
    if args.guard {
        return Ok(keeper::guard()?);
    }
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text)?;
    let setup: KeeperSetup = serde_json::from_slice(&text).map_err(|_| Error::Usage {
        message: "keep-server is for toolnexus itself".to_owned(),
        hint: Some("`toolnexus up SERVER` keeps a server".to_owned()),
    })?;
    Ok(keeper::keep(setup).await?)
}
