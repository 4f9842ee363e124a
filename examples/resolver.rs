//! Your own resolver, which knows who asks and can look at the form: `cargo run --example resolver -- COMMAND [ARG]...`
//! fills in each required field that COMMAND's tool `greet` asks for, and declines links.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::{env, error::Error, sync::Arc};

use futures_util::FutureExt as _;
use toolnexus::prelude::*;

/// Answers with the same text everywhere.
struct Same(&'static str);

impl Resolver for Same {
    fn claim(&self, question: Arc<Question>, _stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let id = &question.request.id;
        println!("{} asks during {:?}", question.origin.server, question.origin.call.as_ref().map(ToString::to_string));
        let answer = match question.body() {
            QuestionBody::Form(form) => {
                let required = form.fields.iter().filter(|field| field.required);
                Answer::accept(id, Some(required.map(|field| (field.key.clone(), json!(self.0))).collect()))
            }
            _ => Answer::decline(id),
        };
        async { Outcome::Answered(answer) }.boxed()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let command = words.next().ok_or("COMMAND is missing")?;
    let servers = json!({"mcpServers": {"forms": {"command": command, "args": words.collect::<Vec<_>>()}}});
    let host = Host::with_resolver(servers, Arc::new(Same("Grace")))?;
    let result = host.connect("forms").await?.tool("greet", json!({})).await?;
    println!("{}", result.text());
    host.disconnect_all().await;
    Ok(())
}
