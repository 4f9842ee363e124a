//! `toolnexus import`: copies servers of other clients into a configuration file.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::{add::as_it_is, config_files::discovered::of, context::Context};
use crate::{
    config::{
        ConfigError, EditedFile, Environment, ForeignFile, ForeignServer, OtherClient, Reach, known_files, near_misses,
        own_file, read_foreign, suspects,
    },
    error::Error,
    text::safe_line,
};

/// What `import` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus import [OPTIONS] CLIENT|FILE [NAME]...",
    after_help = "CLIENT is claude-code, claude-desktop, cline, codex, copilot, cursor, gemini, goose, kiro, lmstudio, opencode, \
                  qwen, vscode, windsurf or zed; FILE is a file of one of them. Variables are translated. Without NAME all \
                  servers are copied, except those that your file already has. `toolnexus servers --discover` shows the servers that you can import.

Examples:
  toolnexus import cursor
  toolnexus import claude-desktop filesystem
  toolnexus import ~/tracker/.vscode/mcp.json tracker --to mcp.json"
)]
pub struct ImportArgs {
    /// The client or file to import from
    #[arg(value_name = "CLIENT|FILE")]
    pub source: String,
    /// The servers to import [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// The file to copy them to [default: your own]
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub to: Option<PathBuf>,
    /// Replace servers of the same name
    #[arg(long)]
    pub replace: bool,
}

/// Copies the servers.
///
/// # Errors
/// If there is no such client, file or server, or the file cannot be edited; then nothing is written.
pub fn run(args: &ImportArgs, context: &Context) -> anyhow::Result<()> {
    let environment = Environment::current();
    let files = sources(args, &environment)?;
    let to = args.to.clone().or_else(|| context.global.config.clone()).unwrap_or_else(|| own_file(&environment));
    let mut target = EditedFile::open(&to, &environment)?;
    let folder = environment.absolute(&to).parent().map(Path::to_owned).unwrap_or_default();
    let mut copied = Copied::default();
    for file in &files {
        if let Some(fault) = &file.fault {
            context.printer.warning(&fault.to_string())?;
        }
        for left in file.left.iter().filter(|left| args.names.is_empty() || args.names.contains(&left.name)) {
            context.printer.warning(&format!("{} of {} is left out: {}", left.name, of(file), left.reason))?;
        }
        for server in file.servers.iter().filter(|server| args.names.is_empty() || args.names.contains(&server.name)) {
            let entry = moved(server, &folder);
            copied.take(&mut target, (file, server), entry, args.replace);
        }
    }
    if let Some(name) = args.names.iter().find(|name| !copied.has_seen(name)) {
        return Err(missing(name, args, &files).into());
    }
    if !copied.added.is_empty() {
        target.save(&environment)?;
    }
    copied.show(&to, context)
}

/// The files to import from.
fn sources(args: &ImportArgs, environment: &Environment) -> Result<Vec<ForeignFile>, Error> {
    let path = Path::new(&args.source);
    let is_path = args.source.contains('/') || args.source.contains('.') || path.is_file();
    match OtherClient::named(&args.source).filter(|_| !is_path) {
        Some(client) => {
            let files = known_files(Some(client), environment);
            if files.is_empty() {
                let hint =
                    Some("`toolnexus servers --discover` shows what there is; you can also name a FILE".to_owned());
                let reason = format!("no servers of {} were found", client.title());
                return Err(ConfigError::NothingToImport { reason, hint }.into());
            }
            Ok(files)
        }
        None if is_path => Ok(vec![read_foreign(path, environment)?]),
        None => {
            let names = OtherClient::ALL.map(OtherClient::word);
            let near = near_misses(&args.source, names);
            let hint = match near.first() {
                Some(near) => format!("did you mean {near}?"),
                None => format!("the clients are {}", names.join(", ")),
            };
            let message = format!("{:?} is neither a client nor a file", args.source);
            Err(Error::Usage { message, hint: Some(hint) })
        }
    }
}

/// The entry of `server`, changed so that it means the same in a file in `folder`.
fn moved(server: &ForeignServer, folder: &Path) -> Map<String, Value> {
    let mut entry = server.entry.clone();
    if server.folder == folder {
        return entry;
    }
    let is_relative = |text: &str| !text.starts_with(['/', '~', '$']);
    let absolute = |text: &str| json!(server.folder.join(text.trim_start_matches("./")).display().to_string());
    for key in ["command", "cwd", "caFile"] {
        if let Some(Value::String(text)) = entry.get(key)
            && is_relative(text)
            && (key != "command" || text.contains('/'))
        {
            entry[key] = absolute(text);
        }
    }
    if server.reach != Reach::User && entry.contains_key("command") {
        // A project's server runs in the project's folder.
        entry.entry("cwd").or_insert_with(|| json!(server.folder.display().to_string()));
    }
    let workspace = server.folder.display().to_string();
    entry.into_iter().map(|(key, value)| (key, put_in(value, &workspace))).collect()
}

/// `value` with `${workspaceFolder}` replaced.
fn put_in(value: Value, workspace: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("${workspaceFolder}", workspace)),
        Value::Array(values) => values.into_iter().map(|value| put_in(value, workspace)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, put_in(value, workspace))).collect::<Map<_, _>>().into()
        }
        value => value,
    }
}

fn missing(name: &str, args: &ImportArgs, files: &[ForeignFile]) -> Error {
    if files.iter().flat_map(|file| &file.left).any(|left| left.name == name) {
        return ConfigError::NothingToImport { reason: format!("{name} cannot be used here"), hint: None }.into();
    }
    let known: Vec<&str> = files.iter().flat_map(|file| &file.servers).map(|server| server.name.as_str()).collect();
    let near = near_misses(name, known.iter().copied());
    let hint = match near.first() {
        Some(near) => format!("did you mean {near}?"),
        None => format!("it has {}", known.join(", ")),
    };
    let reason = format!("{} has no server {name:?}", args.source);
    ConfigError::NothingToImport { reason, hint: Some(hint) }.into()
}

/// What has been copied so far.
#[derive(Default)]
struct Copied {
    added: Vec<(String, String)>,
    kept: Vec<String>,
    notes: Vec<String>,
}

impl Copied {
    fn has_seen(&self, name: &str) -> bool {
        self.kept.iter().any(|kept| kept == name) || self.added.iter().any(|(added, _)| added == name)
    }

    fn take(
        &mut self,
        target: &mut EditedFile,
        (file, server): (&ForeignFile, &ForeignServer),
        entry: Map<String, Value>,
        replace: bool,
    ) {
        let name = &server.name;
        let from = format!("{}:{}", file.path.display(), server.line);
        let there = target.entry(name);
        if there.as_ref() == Some(&Value::Object(entry.clone())) {
            self.kept.push(name.clone());
            return;
        }
        // If two have the same name in a client's files, the first one counts, as in our own file.
        if there.is_some() && (!replace || self.has_seen(name)) {
            self.kept.push(name.clone());
            self.notes.push(format!(
                "{name} from {from} is left out: you already have a server with that name; --replace replaces it"
            ));
            return;
        }
        let text = Value::Object(entry.clone()).to_string();
        let is_named =
            |input: &&Value| input["id"].as_str().is_some_and(|id| text.contains(&format!("${{input:{id}}}")));
        target.put_inputs(&file.inputs.iter().filter(is_named).cloned().collect::<Vec<_>>());
        target.put(name, &entry);
        self.notes.extend(server.notes.iter().map(|note| format!("{name}: {note}")));
        self.notes.extend(suspects(&entry).iter().map(|place| as_it_is(name, place)));
        self.added.push((name.clone(), from));
    }

    fn show(&self, to: &Path, context: &Context) -> anyhow::Result<()> {
        for note in &self.notes {
            context.printer.warning(note)?;
        }
        let file = to.display().to_string();
        let imported: Vec<_> = self.added.iter().map(|(name, from)| json!({"name": name, "from": from})).collect();
        let value = json!({"imported": imported, "kept": self.kept, "file": file});
        let text = || {
            let lines = self.added.iter().map(|(name, from)| format!("{}  from {from}\n", safe_line(name)));
            let lines: String = lines.collect();
            match (self.added.len(), self.kept.len()) {
                (0, 0) => "there is nothing to copy\n".to_owned(),
                (0, kept) => format!("nothing new: {kept} of {kept} are already in {file}\n"),
                (1, _) => format!("{lines}copied 1 server to {file}\n"),
                (count, _) => format!("{lines}copied {count} servers to {file}\n"),
            }
        };
        Ok(context.printer.data("imported", &value, text)?)
    }
}
