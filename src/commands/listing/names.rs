//! The names that servers listed last: for completions, which start no server.

use std::{fs, io::Write as _, path::PathBuf};

use serde_json::{Map, Value, json};

use super::choices::choices;
use crate::config::{Environment, ServerConfig};

/// The largest file of names, in bytes.
const LARGEST: u64 = 4 << 20;

/// Where a server's names are stored: by its configuration, not by its name.
fn place(server: &ServerConfig, environment: &Environment) -> Option<PathBuf> {
    let folder = environment.cache_folder.as_ref()?.join(env!("CARGO_PKG_NAME")).join("names");
    Some(folder.join(format!("{}.json", server.fingerprint())))
}

/// Remembers a listing, under its key: `tools`, `prompts`, `resources` or `resourceTemplates`. Failing to write the
/// cache does no harm.
pub(crate) fn remember(server: &ServerConfig, key: &str, entries: &[Value]) {
    let environment = Environment::current();
    let Some(path) = place(server, &environment) else { return };
    let short = |entry: &Value| {
        let mut kept = Map::new();
        for part in ["name", "uri", "uriTemplate", "arguments"] {
            kept.extend(entry.get(part).map(|value| (part.to_owned(), value.clone())));
        }
        let about = entry["description"].as_str().or(entry["title"].as_str()).unwrap_or_default();
        let about: String = about.lines().next().unwrap_or_default().chars().take(80).collect();
        kept.insert("description".to_owned(), json!(about));
        let schema = &entry["inputSchema"];
        if let Some(properties) = schema["properties"].as_object() {
            let choices = properties.iter().map(|(name, part)| (name.clone(), choices(schema, part).into()));
            kept.insert("properties".to_owned(), Value::Object(choices.collect()));
        }
        Value::Object(kept)
    };
    let mut names = read(&path).unwrap_or_default();
    let listed: Value = entries.iter().map(short).collect();
    if names.get(key) == Some(&listed) {
        return;
    }
    names.insert(key.to_owned(), listed);
    let text = Value::Object(names).to_string();
    let Some(folder) = path.parent().filter(|_| text.len() as u64 <= LARGEST) else { return };
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path)?;
        Ok(())
    };
    drop(write());
}

/// What is remembered for a server under a key.
pub(crate) fn remembered(server: &ServerConfig, key: &str, environment: &Environment) -> Vec<Value> {
    let names = place(server, environment).and_then(|path| read(&path));
    let entries = names.and_then(|mut names| names.remove(key));
    entries.and_then(|entries| entries.as_array().cloned()).unwrap_or_default()
}

fn read(path: &std::path::Path) -> Option<Map<String, Value>> {
    fs::metadata(path).ok().filter(|there| there.is_file() && there.len() <= LARGEST)?;
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}
