//! `toolnexus add`: puts a server into a configuration file.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    config_files::target_file::FileArgs,
    context::Context,
    doctor::surroundings::{find_program, missing},
};
use crate::{
    config::{self, AdhocTarget, ConfigError, Environment, suspects},
    error::Error,
    text::safe_line,
};

/// What `add` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus add [OPTIONS] NAME URL\n       toolnexus add [OPTIONS] NAME -- COMMAND...",
    after_help = "The server is added to the file in this folder or one above it, or else to your own. Comments and order are kept. Values
are written as you give them: in single quotes, '${VAR}' is expanded when the server starts.

Examples:
  toolnexus add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolnexus add --user notes https://mcp.example.com/mcp -H 'Authorization: Bearer ${NOTES_TOKEN}'
  toolnexus add build --env LEVEL=debug --cwd . -- ./server --stdio"
)]
pub struct AddArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Its web address
    #[arg(value_name = "URL", required_unless_present = "command", conflicts_with = "command")]
    pub url: Option<String>,
    /// The program that starts it: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Set an environment variable for its process (may be repeated)
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub env: Vec<String>,
    /// Run its process in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub cwd: Option<String>,
    /// Send this header with every HTTP request (may be repeated)
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", conflicts_with = "command")]
    pub headers: Vec<String>,
    /// Replace a server of the same name
    #[arg(long)]
    pub replace: bool,
    /// Which file.
    #[command(flatten)]
    pub file: FileArgs,
}

/// Adds the server.
///
/// # Errors
/// If there already is one with that name, if it could not be started from there, or if the file cannot be edited.
pub fn run(args: &AddArgs, context: &Context) -> anyhow::Result<()> {
    let environment = Environment::current();
    let mut file = args.file.open(context, &environment)?;
    let folder = file.path().parent().map(Path::to_owned).unwrap_or_default();
    let entry = entry(args, &folder, &environment)?;
    check(&args.name, &entry, &environment)?;
    if file.entry(&args.name).is_some() && !args.replace {
        return Err(Error::Config(ConfigError::Taken { name: args.name.clone(), path: file.path().to_owned() }).into());
    }
    file.put(&args.name, &entry);
    file.save(&environment)?;
    for place in suspects(&entry) {
        context.printer.warning(&as_it_is(&args.name, &place))?;
    }
    for words in doubts(args, &folder, &environment) {
        context.printer.note(&format!("{}: {words}", safe_line(&args.name)))?;
    }
    let path = file.path().display().to_string();
    let value = json!({"added": args.name, "file": path});
    Ok(context.printer.data("added", &value, || format!("added {} to {path}\n", safe_line(&args.name)))?)
}

/// The warning that the file now contains a secret.
pub(super) fn as_it_is(server: &str, place: &str) -> String {
    format!(
        "{server}: {place} looks like a secret, and is in the file as plain text; write `${{VAR}}` instead to keep it \
         out"
    )
}

/// What may go wrong with the entry when it is used from another folder, or without further steps.
fn doubts(args: &AddArgs, folder: &Path, environment: &Environment) -> Vec<String> {
    let Some(program) = args.command.first().filter(|_| args.cwd.is_none()) else { return Vec::new() };
    let is_missing = !program.contains(['$', '/']) && find_program(program).is_none();
    let is_relative =
        |word: &&String| [".", ".."].contains(&word.as_str()) || word.starts_with("./") || word.starts_with("../");
    // A project's own file is usually used in its folder.
    let is_elsewhere = environment.absolute(folder) != environment.folder;
    let relative = args.command.iter().find(is_relative).filter(|_| is_elsewhere);
    let relative = relative.map(|word| {
        format!("{word} is relative to the folder in which toolnexus is run; --replace --cwd . ties it to this folder")
    });
    is_missing.then(|| missing(program)).into_iter().chain(relative).collect()
}

fn entry(args: &AddArgs, folder: &Path, environment: &Environment) -> Result<Map<String, Value>, Error> {
    let mut entry = Map::new();
    let mut set = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
    if args.name.trim().is_empty() {
        return Err(Error::usage("NAME is empty".to_owned()));
    }
    if let Some((program, words)) = args.command.split_first() {
        set("command", json!(program));
        if !words.is_empty() {
            set("args", json!(words));
        }
    }
    if !args.env.is_empty() {
        set("env", pairs(&args.env, '=', "--env", "NAME=VALUE")?);
    }
    if let Some(cwd) = &args.cwd {
        // In a file, paths are relative to the file; on the command line, to the current folder.
        let here = environment.absolute(cwd);
        let stays = cwd.contains("${") || cwd.starts_with('~') || environment.absolute(folder) == environment.folder;
        set("cwd", if stays { json!(cwd) } else { json!(here.components().collect::<PathBuf>()) });
    }
    if let Some(url) = &args.url {
        if !AdhocTarget::is_url(url) && !url.contains("${") {
            let hint = Some(format!("toolnexus add {} -- {}", args.name, crate::output::shell_word(url)));
            return Err(Error::Usage { message: format!("{url:?} is not a web address"), hint });
        }
        set("url", json!(url));
    }
    if !args.headers.is_empty() {
        set("headers", pairs(&args.headers, ':', "-H", "'NAME: VALUE'")?);
    }
    Ok(entry)
}

fn pairs(words: &[String], at: char, option: &str, shape: &str) -> Result<Value, Error> {
    let pair = |word: &String| match word.split_once(at) {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), json!(value.trim_start()))),
        // The value may be a secret, so it is not shown.
        _ => Err(Error::usage(format!("{option} needs {shape}"))),
    };
    words.iter().map(pair).collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

/// Checks that the entry can be used. A variable that is not set yet does not matter.
fn check(name: &str, entry: &Map<String, Value>, environment: &Environment) -> Result<(), Error> {
    let config = config::parse_value(&json!({"mcpServers": {name: entry}}), environment)?;
    match config.servers.into_iter().next().map(|entry| entry.server) {
        Some(Err(ConfigError::Wrong { reason, .. })) => Err(Error::usage(reason)),
        _ => Ok(()),
    }
}
