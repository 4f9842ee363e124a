//! `toolnexus complete`: what a server suggests for an argument.

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    context::Context,
    options::{QuestionArgs, ServerArgs},
    server::{
        one_server::{Opening, text_pairs},
        select::Selected,
    },
};
use crate::{error::Error, text::safe_address};

/// What `complete` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus complete [OPTIONS] SERVER PROMPT|TEMPLATE ARG=START [ARG=VALUE]...\n       \
                      toolnexus complete [OPTIONS] PROMPT|TEMPLATE ARG=START [ARG=VALUE]... -- COMMAND...",
    after_help = "The first ARG is the one to complete, from what you have typed so far; the others are already known.

Examples:
  toolnexus complete forms introduce tone=
  toolnexus complete forms demo://notes/{day} day=m"
)]
pub struct CompleteArgs {
    /// The server, a prompt or template, the argument, and others
    #[arg(value_name = "SERVER PROMPT|TEMPLATE ARG=START", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Asks the server and prints its suggestions, one per line.
///
/// # Errors
/// [`Error`].
pub async fn run(args: CompleteArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, rest } = Selected::new(args.words, args.command);
    let (Some(server), [reference, words @ ..]) = (server, rest.as_slice()) else { return Err(usage().into()) };
    let mut pairs = text_pairs(words)?.into_iter();
    let Some((name, value)) = pairs.next() else { return Err(usage().into()) };
    let is_uri = reference.contains(':') || reference.contains('{');
    let reference = if is_uri {
        json!({"type": "ref/resource", "uri": reference})
    } else {
        json!({"type": "ref/prompt", "name": reference})
    };
    let mut params =
        Map::from_iter([("ref".to_owned(), reference), ("argument".to_owned(), json!({"name": name, "value": value}))]);
    let others: Map<String, Value> = pairs.map(|(key, value)| (key, json!(value))).collect();
    if !others.is_empty() {
        params.insert("context".to_owned(), json!({"arguments": others}));
    }
    let questions = QuestionArgs::default();
    let opening = Opening { server, context, args: &args.server, questions: &questions, ear: None, level: None };
    opening
        .run(async |one| {
            let method = "completion/complete";
            let result = one.client.request(method, Some(params), &one.session.signals.stop).await;
            let result = result.map_err(|error| one.error(error))?;
            let value: Value = serde_json::from_str(result.get()).unwrap_or_default();
            let completion = &value["completion"];
            let Some(values) = completion["values"].as_array() else {
                return Err(one.invalid(method, "the result has no \"completion.values\" list".to_owned()).into());
            };
            let lines =
                values.iter().filter_map(Value::as_str).flat_map(|text| [safe_address(text), "\n".into()]).collect();
            printer.data("completion", &value, || lines)?;
            if completion["hasMore"] == Value::Bool(true) && printer.mode().is_text() {
                let total = completion["total"].as_u64().map(|total| format!(" of {total}")).unwrap_or_default();
                printer.note(&format!("these are {}{total}; the server has more", values.len()))?;
            }
            Ok(())
        })
        .await
}

fn usage() -> Error {
    Error::Usage {
        message: "SERVER, PROMPT or ARG=START is missing".to_owned(),
        hint: Some("toolnexus complete SERVER PROMPT ARG=START".to_owned()),
    }
}
