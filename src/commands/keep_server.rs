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
    /// End the keeper's servers when standard input says that the keeper is gone
    #[arg(long)]
    pub guard: bool,
}

impl KeepServerArgs {
    /// The arguments, if the words (the program's name first) are those with which other commands start a keeper. A
    /// keeper lives for a long time, so it must not load the grammar of command lines.
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
/// [`Error`], if it cannot start.
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
