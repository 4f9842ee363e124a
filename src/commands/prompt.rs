//! `toolnexus prompt`: gets a prompt, filled in by the server.

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    context::Context,
    options::{QuestionArgs, ServerArgs},
    prompts::PROMPTS,
    server::{
        one_server::{OneServer, Opening, text_pairs},
        select::Selected,
    },
};
use crate::{config::near_misses, error::Error, form::Form, terminal::Filled};

/// What `prompt` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus prompt [OPTIONS] SERVER NAME [ARG]...\n       \
                      toolnexus prompt [OPTIONS] NAME [ARG]... -- COMMAND...",
    after_help = "Write each ARG as key=text. At a terminal you are asked for required arguments that are missing.

Examples:
  toolnexus prompt forms introduce name=Ada
  toolnexus prompt forms introduce name=Ada tone=formal -o json"
)]
pub struct PromptArgs {
    /// The server, its prompt, and the prompt's arguments
    #[arg(value_name = "SERVER NAME [ARG]", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Options for answering questions.
    #[command(flatten)]
    pub questions: QuestionArgs,
}

/// Gets the prompt and prints its messages.
///
/// # Errors
/// [`Error`].
pub async fn run(args: PromptArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, mut rest } = Selected::new(args.words, args.command);
    let (Some(server), false) = (server, rest.is_empty()) else {
        return Err(Error::Usage {
            message: "SERVER or NAME is missing".to_owned(),
            hint: Some("toolnexus prompt SERVER NAME [ARG]...; `toolnexus prompts` lists the names".to_owned()),
        }
        .into());
    };
    let name = rest.remove(0);
    let mut given = Map::new();
    for (key, value) in text_pairs(&rest)? {
        if given.insert(key.clone(), json!(value)).is_some() {
            return Err(Error::usage(format!("{key} is given twice")).into());
        }
    }
    let opening = Opening { server, context, args: &args.server, questions: &args.questions, ear: None, level: None };
    opening
        .run(async |one| {
            let arguments = arguments(one, &name, given).await?;
            let params = Map::from_iter([("name".to_owned(), json!(name)), ("arguments".to_owned(), arguments.into())]);
            let raw = one.call("prompts/get", params).await?;
            let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
            if !value["messages"].is_array() {
                return Err(one.invalid("prompts/get", "the result has no \"messages\" list".to_owned()).into());
            }
            Ok(printer.prompt(&raw, &value)?)
        })
        .await
}

/// The arguments, checked against the prompt's description; missing ones are asked for.
async fn arguments(
    one: &OneServer<'_>,
    name: &str,
    mut given: Map<String, Value>,
) -> anyhow::Result<Map<String, Value>> {
    let prompts = one.session.list(one.server.as_str(), &one.client, PROMPTS).await?;
    let Some(prompt) = prompts.iter().find(|prompt| prompt["name"] == name) else {
        // A server without a list may still have the prompt.
        if prompts.is_empty() {
            return Ok(given);
        }
        let known = prompts.iter().filter_map(|prompt| prompt["name"].as_str()).map(str::to_owned).collect();
        return Err(Error::UnknownPrompt { server: one.server.clone(), prompt: name.to_owned(), known }.into());
    };
    let declared: Vec<&Value> = prompt["arguments"].as_array().into_iter().flatten().collect();
    let names: Vec<&str> = declared.iter().filter_map(|argument| argument["name"].as_str()).collect();
    if let Some(unknown) = given.keys().find(|key| !names.contains(&key.as_str())) {
        let near = near_misses(unknown, names.iter().copied());
        let hint = match (near.first(), names.is_empty()) {
            (Some(near), _) => format!("did you mean {near}?"),
            (None, true) => "it takes no arguments".to_owned(),
            (None, false) => format!("it takes {}", names.join(", ")),
        };
        return Err(Error::Usage { message: format!("{name} has no argument {unknown:?}"), hint: Some(hint) }.into());
    }
    let is_missing = |argument: &&&Value| {
        argument["required"] == Value::Bool(true)
            && argument["name"].as_str().is_some_and(|name| !given.contains_key(name))
    };
    let missing: Vec<&Value> = declared.iter().filter(is_missing).copied().collect();
    if !missing.is_empty() {
        given.extend(ask(one, name, &missing).await?);
    }
    Ok(given)
}

async fn ask(one: &OneServer<'_>, name: &str, missing: &[&Value]) -> Result<Map<String, Value>, Error> {
    let keys: Vec<&str> = missing.iter().filter_map(|argument| argument["name"].as_str()).collect();
    let field = |argument: &&Value| {
        let mut field = json!({"type": "string", "minLength": 1});
        for key in ["title", "description"] {
            field[key] = argument[key].clone();
        }
        Some((argument["name"].as_str()?.to_owned(), field))
    };
    let properties: Map<String, Value> = missing.iter().filter_map(field).collect();
    let form = Form::from_schema(&json!({"type": "object", "properties": properties, "required": keys}));
    let needs = |why: &str| Error::Usage {
        message: format!("{name} needs {}{why}", keys.join(", ")),
        hint: Some(format!("give {}=…", keys.join("=… "))),
    };
    let terminal = one.questions.terminal().ok_or_else(|| needs(""))?;
    match terminal.fill(&form, &format!("{name} needs"), "", one.session.signals.stop.clone()).await {
        Filled::Accept(content) => Ok(content),
        Filled::Impossible(why) => Err(needs(&format!(" ({why})"))),
        Filled::Decline | Filled::Cancel | Filled::Withdrawn => {
            Err(one.session.signals.error().unwrap_or(Error::Interrupted))
        }
    }
}
