//! `toolnexus keep-server`: the process that keeps one server. Other commands start it.

use std::{ffi::OsString, io::Read as _};

use clap::Args;

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

impl KeepServerArgs {
    /// What these words come to, the program's name first, where they are those with which other commands start a keeper:
    /// it lives for long, and is to hold nothing of the grammar of command lines.
    pub fn of(words: &[OsString]) -> Option<Self> {
        let words: Vec<&str> = words.get(1..)?.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
        match words[..] {
            ["keep-server"] => Some(Self { guard: false }),
            ["keep-server", "--guard"] => Some(Self { guard: true }),
            _ => None,
        }
    }
}

/// Keeps the server that standard input describes.
///
/// # Errors
/// [`Error`], when it cannot begin.
pub async fn run(args: &KeepServerArgs) -> anyhow::Result<()> {
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
