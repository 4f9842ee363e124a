//! `toolnexus demo-server`: a small server to try the program on.

use clap::Args;

use super::{context::Context, server::over_http::serve_demo};
use crate::demo;

/// Options of `demo-server`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus tools -- toolnexus demo-server
  toolnexus demo-server --http 8080")]
pub struct DemoServerArgs {
    /// Serve http://127.0.0.1:PORT/mcp instead of stdio; 0 picks a free port
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
}

/// Serves on stdin and stdout until stdin ends, or over HTTP until the program ends.
///
/// # Errors
/// If the streams cannot be read or written, or the port is taken.
pub async fn run(args: &DemoServerArgs, context: &Context) -> anyhow::Result<()> {
    match args.http {
        Some(port) => serve_demo(port, &context.printer).await,
        None => Ok(demo::serve_stdio().await?),
    }
}
