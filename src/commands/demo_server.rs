//! `toolnexus demo-server`: a small server to try the program on.

use std::{net::Ipv4Addr, sync::Arc};

use clap::Args;
use tokio::net::TcpListener;

use super::context::Context;
use crate::{demo, error::Error};

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

/// Serves on stdin and stdout until stdin ends, or over HTTP until the program is ended.
///
/// # Errors
/// When the streams cannot be read or written, or the port is taken.
pub async fn run(args: &DemoServerArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Some(port) = args.http else {
        return Ok(demo::serve_stdio().await?);
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|error| Error::Io(format!("port {port} cannot be used: {error}")))?;
    printer.line(&format!("serving http://{}/mcp", listener.local_addr()?));
    Ok(demo::serve_http(listener, || Arc::new(demo::DemoSession::default())).await?)
}
