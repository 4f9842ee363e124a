//! `toolnexus demo-server`: a small server to try the program on.

use clap::Args;

use crate::demo;

/// Options of `demo-server`.
#[derive(Args, Debug)]
pub struct DemoServerArgs {}

/// Serves on stdin and stdout until stdin ends.
///
/// # Errors
/// When the streams cannot be read or written.
pub fn run(_args: &DemoServerArgs) -> anyhow::Result<()> {
    super::run::block_on(async { Ok(demo::serve_stdio().await?) })
}
