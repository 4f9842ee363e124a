//! A host whose questions are answered by a closure: `cargo run --example host -- COMMAND [ARG]...` starts COMMAND, calls
//! its tool `greet`, and answers what it asks.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::{env, error::Error};

use toolnexus::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let command = words.next().ok_or("COMMAND is missing")?;
    let servers = json!({"mcpServers": {"forms": {"command": command, "args": words.collect::<Vec<_>>()}}});

    let ada = wait_for(async |request: Request| {
        println!("asked: {}", request.prompt);
        Answer::accept(&request.id, Some(json!({"name": "Ada"})))
    });
    let host = Host::from_config(servers, Some(ada))?;
    let client = host.connect("forms").await?;
    println!("{}", client.tool("greet", json!({})).await?.text());
    host.disconnect_all().await;
    Ok(())
}
