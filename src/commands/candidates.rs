//! `toolnexus __complete`: candidates for the last word. Reads the configuration and remembered names, and starts
//! nothing.

use std::path::Path;

use clap::{Args, Command};
use serde_json::Value;

use super::{context::Context, listing::names::remembered};
use crate::{
    config::{self, Config, Environment, OtherClient},
    text::safe_name,
};

/// What `__complete` takes.
#[derive(Args, Debug)]
pub struct CandidatesArgs {
    /// The words of the command line after the program's name; the last one is completed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// A word, and its description.
type Candidate = (String, String);

/// Prints the candidates, one per line, each with a tab and its description.
///
/// # Errors
/// If stdout cannot be written.
pub fn run(args: &CandidatesArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let (last, before) = args.words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let mut found = candidates(before, last, &Environment::current(), &context.grammar());
    found.retain(|(word, _)| word.starts_with(last) && !word.contains(char::is_whitespace));
    // `name=` that is there already has nothing to add.
    found.retain(|(word, _)| word != last || !word.ends_with('='));
    // Names from servers must not look like options, and must be easy to type.
    found.retain(|(word, _)| (last.starts_with('-') || !word.starts_with('-')) && safe_name(word) == *word);
    let line = |(word, about): &Candidate| format!("{word}\t{}\n", safe_name(about));
    Ok(printer.stdout(&found.iter().map(line).collect::<String>())?)
}

fn candidates(before: &[String], last: &str, environment: &Environment, grammar: &Command) -> Vec<Candidate> {
    // After `--` comes a server's command.
    if before.iter().any(|word| word == "--") {
        return Vec::new();
    }
    let Words { command, positional, value_of, config } = Words::read(before, grammar);
    if let Some(option) = value_of {
        return values(option);
    }
    let positional: Vec<&str> = positional.iter().map(String::as_str).collect();
    let config = || config::discover(config.as_deref().map(Path::new), environment).ok();
    if last.starts_with('-') {
        let mut found = options(command.unwrap_or(grammar), grammar);
        // Behind TOOL its arguments are options, too, unless the name is one of ours.
        if let (Some("call"), [server, rest @ ..]) = (command.map(Command::get_name), positional.as_slice()) {
            let own = config().map_or_else(Vec::new, |config| of_server("call", &config, server, rest, environment));
            let own =
                own.iter().filter_map(|(word, about)| Some((format!("--{}", word.split_once('=')?.0), about.clone())));
            let own: Vec<Candidate> = own.filter(|(word, _)| found.iter().all(|(known, _)| known != word)).collect();
            found.extend(own);
            found.dedup();
        }
        return found;
    }
    let Some(command) = command else { return subcommands(grammar) };
    match (command.get_name(), positional.as_slice()) {
        (_, []) if command.has_subcommands() => subcommands(command),
        (_, []) if takes(command, "CLIENT") => clients(),
        (_, []) if takes(command, "SERVER") => config().map_or_else(Vec::new, |config| servers(&config)),
        // One of several servers.
        (_, given) if takes(command, "SERVER") && takes_many(command) => {
            let mut found = config().map_or_else(Vec::new, |config| servers(&config));
            found.retain(|(name, _)| !given.contains(&name.as_str()));
            found
        }
        (name, [server, rest @ ..]) if takes(command, "SERVER") => {
            config().map_or_else(Vec::new, |config| of_server(name, &config, server, rest, environment))
        }
        (_, []) => command.get_positionals().next().map_or_else(Vec::new, values),
        _ => Vec::new(),
    }
}

/// Whether the first argument of a command is of this kind, according to its help.
fn takes(command: &Command, kind: &str) -> bool {
    let names = command.get_positionals().next().and_then(|first| first.get_value_names()).unwrap_or_default();
    names.first().is_some_and(|name| name.split([' ', '|']).next() == Some(kind))
}

/// Whether a command accepts any number of servers, according to its usage.
fn takes_many(command: &Command) -> bool {
    let usage = command.clone().render_usage().to_string();
    ["SERVER...", "SERVER]..."].iter().any(|many| usage.contains(many))
}

/// The allowed values of an option or argument.
fn values(arg: &clap::Arg) -> Vec<Candidate> {
    let about = |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string).unwrap_or_default();
    arg.get_possible_values().iter().map(|value| (value.get_name().to_owned(), about(value))).collect()
}

/// The clients whose files are read.
fn clients() -> Vec<Candidate> {
    OtherClient::ALL.map(|client| (client.word().to_owned(), client.title().to_owned())).into()
}

/// A command line up to the cursor.
struct Words<'a> {
    command: Option<&'a Command>,
    positional: Vec<String>,
    /// The option whose value comes next.
    value_of: Option<&'a clap::Arg>,
    config: Option<String>,
}

impl<'a> Words<'a> {
    fn read(words: &[String], grammar: &'a Command) -> Self {
        let mut read = Self { command: None, positional: Vec::new(), value_of: None, config: None };
        for word in words {
            if let Some(option) = read.value_of.take() {
                if option.get_long() == Some("config") {
                    read.config = Some(word.clone());
                }
            } else if let Some(value) = word.strip_prefix("--config=") {
                read.config = Some(value.to_owned());
            } else if word.starts_with('-') && word.len() > 1 {
                let commands =
                    read.command.into_iter().chain(std::iter::once(grammar)).chain(grammar.get_subcommands());
                let mut options = commands.flat_map(Command::get_arguments);
                let is_it = |arg: &&clap::Arg| {
                    word.strip_prefix("--").is_some_and(|long| arg.get_long() == Some(long))
                        || arg.get_short().is_some_and(|short| *word == format!("-{short}"))
                };
                read.value_of = options.find(is_it).filter(|arg| arg.get_action().takes_values());
            } else if read.command.is_none() {
                read.command = grammar.find_subcommand(word);
            } else {
                read.positional.push(word.clone());
            }
        }
        read
    }
}

fn subcommands(command: &Command) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| (command.get_name().to_owned(), about(command.get_about()))).collect()
}

fn options(command: &Command, grammar: &Command) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let globals = grammar.get_arguments().filter(|arg| arg.is_global_set());
    for arg in command.get_arguments().chain(globals).filter(|arg| !arg.is_hide_set()) {
        let Some(long) = arg.get_long().map(|long| format!("--{long}")) else { continue };
        if !found.iter().any(|(word, _)| *word == long) {
            found.push((long, about(arg.get_help())));
        }
    }
    found
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

fn servers(config: &Config) -> Vec<Candidate> {
    config
        .servers
        .iter()
        .map(|entry| (entry.name.to_string(), super::server::select::place(entry, &config.mask).1))
        .collect()
}

fn of_server(command: &str, config: &Config, server: &str, rest: &[&str], environment: &Environment) -> Vec<Candidate> {
    let Ok(server) = config.server(server) else { return Vec::new() };
    let listed = |key: &str| remembered(server, key, environment);
    let named = |entries: &[Value], key: &str| -> Vec<Candidate> {
        let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        entries.iter().map(|entry| (text(entry, key), text(entry, "description"))).collect()
    };
    match (command, rest) {
        ("call" | "tools", []) => named(&listed("tools"), "name"),
        ("call", [tool, ..]) => {
            let tools = listed("tools");
            let tool = tools.iter().find(|entry| entry["name"] == *tool);
            let properties = tool.and_then(|tool| tool["properties"].as_object()).into_iter().flatten();
            properties.flat_map(|(name, choices)| argument(name, choices)).collect()
        }
        ("read", []) => {
            let (resources, templates) = (listed("resources"), listed("resourceTemplates"));
            [named(&resources, "uri"), named(&templates, "uriTemplate")].concat()
        }
        ("prompt" | "complete", []) => named(&listed("prompts"), "name"),
        ("prompt" | "complete", [prompt, ..]) => {
            let prompts = listed("prompts");
            let prompt = prompts.iter().find(|entry| entry["name"] == *prompt);
            let arguments = prompt.and_then(|prompt| prompt["arguments"].as_array()).into_iter().flatten();
            let name = |argument: &Value| Some((format!("{}=", argument["name"].as_str()?), String::new()));
            arguments.filter_map(name).collect()
        }
        _ => Vec::new(),
    }
}

/// `name=`, and `name=choice` for each of its choices.
fn argument(name: &str, choices: &Value) -> Vec<Candidate> {
    let written = |choice: &Value| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
    let choices = choices.as_array().into_iter().flatten().map(written);
    let choices: Vec<Candidate> = choices.map(|choice| (format!("{name}={choice}"), String::new())).collect();
    if choices.is_empty() { vec![(format!("{name}="), String::new())] } else { choices }
}
