use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{
    ForeignServer, Left, OtherClient, Reach,
    dialect::parse_any,
    servers_in::{Contents, read_servers},
};
use crate::config::{ConfigError, Environment, find::read_text};

/// An existing file of another client.
#[derive(Clone, Debug)]
pub struct ForeignFile {
    /// The client, if known.
    pub client: Option<OtherClient>,
    /// Its path.
    pub path: PathBuf,
    /// Its servers, in order.
    pub servers: Vec<ForeignServer>,
    /// Entries that cannot be used here.
    pub left: Vec<Left>,
    /// The values that its servers ask a person for (VS Code's `inputs`).
    pub inputs: Vec<Value>,
    /// Why it cannot be read.
    pub fault: Option<ConfigError>,
}

/// The existing files of the known clients, in the clients' order, a project's files after the user's own. A file that
/// cannot be read is included with its error.
pub fn known_files(only: Option<OtherClient>, environment: &Environment) -> Vec<ForeignFile> {
    let clients = OtherClient::ALL.into_iter().filter(|client| only.is_none_or(|only| only == *client));
    let places = clients.flat_map(|client| {
        let places = client.places(environment).into_iter();
        places.map(move |(path, reach)| (client, path, reach))
    });
    let there = places.filter(|(_, path, _)| path.symlink_metadata().is_ok());
    let files = there.map(|(client, path, reach)| match contents(&path, Some(client), reach, environment) {
        Ok(contents) => file(Some(client), path, contents),
        Err(fault) => ForeignFile { fault: Some(fault), ..file(Some(client), path, Contents::default()) },
    });
    // Settings without servers are ignored.
    files.filter(|file| file.fault.is_some() || !file.servers.is_empty() || !file.left.is_empty()).collect()
}

/// The file at `path`, of whichever client.
///
/// # Errors
/// If it cannot be read, or has no place for servers.
pub fn read_foreign(path: &Path, environment: &Environment) -> Result<ForeignFile, ConfigError> {
    let client = OtherClient::of_path(&environment.absolute(path));
    let contents = contents(path, client, Reach::User, environment)?;
    if !contents.has_servers {
        let reason = "it has no servers".to_owned();
        return Err(ConfigError::Wrong { path: Some(path.to_owned()), place: None, reason });
    }
    Ok(file(client, path.to_owned(), contents))
}

fn contents(
    path: &Path,
    client: Option<OtherClient>,
    reach: Reach,
    environment: &Environment,
) -> Result<Contents, ConfigError> {
    let text = read_text(path, environment)?;
    let document = parse_any(&text, &path.to_string_lossy()).map_err(|error| ConfigError::Wrong {
        path: Some(path.to_owned()),
        place: Some(error.place),
        reason: error.reason,
    })?;
    Ok(read_servers(&document, &environment.absolute(path), client, reach, environment))
}

fn file(client: Option<OtherClient>, path: PathBuf, contents: Contents) -> ForeignFile {
    let Contents { servers, left, inputs, .. } = contents;
    ForeignFile { client, path, servers, left, inputs, fault: None }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    /// The examples, copied to a separate folder in which `$PROJECT` is the project's folder.
    fn examples() -> (tempfile::TempDir, Environment) {
        let root = tempfile::tempdir().expect("a folder");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/clients");
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            fs::create_dir_all(root.path().join(&folder)).expect("made");
            for entry in fs::read_dir(from.join(&folder)).expect("a folder").flatten() {
                let path = folder.join(entry.file_name());
                if entry.path().is_dir() {
                    folders.push(path);
                } else {
                    let text = fs::read_to_string(entry.path()).expect("read");
                    let project = root.path().join("project").display().to_string();
                    fs::write(root.path().join(path), text.replace("$PROJECT", &project)).expect("written");
                }
            }
        }
        let home = root.path().join("home");
        let environment = Environment {
            folder: root.path().join("project"),
            config_folder: Some(home.join(".config")),
            home: Some(home),
            ..Environment::default()
        };
        (root, environment)
    }

    #[test]
    fn every_clients_files_are_read_as_they_are_meant() {
        let (_root, environment) = examples();
        let files = known_files(None, &environment);
        assert!(files.iter().all(|file| file.fault.is_none()), "{files:#?}");
        let servers = files.iter().flat_map(|file| {
            let client = file.client.map_or("", OtherClient::word);
            file.servers.iter().map(move |server| (format!("{client} {} {}", server.reach.word(), server.name), server))
        });
        let read: Value = servers
            .map(|(name, server)| (name, json!({"line": server.line, "entry": server.entry, "notes": server.notes})))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let expected = include_str!("../../../tests/data/clients/expected.json");
        let expected: Value = serde_json::from_str(expected).expect("JSON");
        assert_eq!(read, expected, "{read:#}");
        let left: Vec<&str> = files.iter().flat_map(|file| &file.left).map(|left| left.name.as_str()).collect();
        assert_eq!(left, ["socket", "developer", "from-extension"]);
        let inputs: Vec<&Value> = files.iter().flat_map(|file| &file.inputs).map(|input| &input["id"]).collect();
        assert_eq!(inputs, [&json!("perplexity-key"), &json!("region"), &json!("tracker-key")]);
    }

    #[test]
    fn every_translated_entry_is_one_of_ours() {
        let (_root, mut environment) = examples();
        for name in ["GITHUB_TOKEN", "NOTES_KEY", "CLIENT_SECRET", "WINDSURF_KEY", "FIGMA_OAUTH_TOKEN", "FIGMA_TEAM"] {
            environment.variables.insert(name.to_owned(), "x".to_owned());
        }
        for name in ["MY_API_TOKEN", "SERVICE_URL", "TOKEN", "GITHUB_PERSONAL_ACCESS_TOKEN"] {
            environment.variables.insert(name.to_owned(), "x".to_owned());
        }
        for server in known_files(None, &environment).into_iter().flat_map(|file| file.servers) {
            let asks = Value::Object(server.entry.clone()).to_string().contains("${input:");
            let value = json!({"mcpServers": {&server.name: server.entry}});
            let config = crate::config::parse_value(&value, &environment).expect("a configuration");
            assert_eq!(config.servers[0].server.as_ref().err().filter(|_| !asks), None, "{value}");
            assert!(config.servers[0].warnings.is_empty(), "{:?}", config.servers[0].warnings);
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_named_and_harm_no_other() {
        let (root, environment) = examples();
        let at = |path: &str| root.path().join("home").join(path);
        fs::write(at(".cursor/mcp.json"), "{\n  \"mcpServers\": {,}\n}").expect("written");
        fs::write(at(".codex/config.toml"), "[mcp_servers\n").expect("written");
        fs::write(at(".config/goose/config.yaml"), [0xff, 0xfe]).expect("written");
        fs::remove_file(at(".claude.json")).expect("removed");
        fs::create_dir(at(".claude.json")).expect("made");
        fs::remove_file(at(".lmstudio/mcp.json")).expect("removed");
        std::os::unix::fs::symlink("nowhere", at(".lmstudio/mcp.json")).expect("a link");
        fs::write(at(".gemini/settings.json"), "{\"mcpServers\": [1, 2]}").expect("written");
        fs::write(at(".config/zed/settings.json"), "{\"context_servers\": {\"a\": 7, \"b\": {\"command\": 1}}}")
            .expect("written");
        let files = known_files(None, &environment);
        let faults: Vec<String> = files.iter().filter_map(|file| Some(file.fault.as_ref()?.to_string())).collect();
        assert_eq!(faults.len(), 5, "{faults:#?}");
        for part in [
            ".claude.json cannot be read: it is a folder",
            "config.toml:1:",
            "mcp.json:2:18:",
            "UTF-16",
            "lmstudio/mcp.json",
        ] {
            assert!(faults.iter().any(|fault| fault.contains(part)), "{part}: {faults:#?}");
        }
        let zed = files.iter().find(|file| file.client == Some(OtherClient::Zed)).expect("Zed's");
        assert_eq!((zed.left.len(), zed.servers.len()), (1, 1));
        assert!(files.iter().any(|file| file.client == Some(OtherClient::OpenCode) && file.servers.len() == 3));
    }
}
