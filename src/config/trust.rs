use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{Config, Environment, FoundBy};

/// The project files whose servers the user agreed to start without naming them, each with its content: one line `HASH
/// PATH` in `toolnexus/trusted` in the user's data folder.
#[derive(Clone, Debug)]
pub struct TrustStore {
    file: Option<PathBuf>,
}

impl TrustStore {
    /// The user's store.
    pub fn new(environment: &Environment) -> Self {
        let folder = environment.data_folder.as_ref();
        Self { file: folder.map(|folder| folder.join(env!("CARGO_PKG_NAME")).join("trusted")) }
    }

    /// Whether the user has to agree before servers of `config` start that were not named: the file was found, is not
    /// in the user's own folder, and was not agreed to with this content.
    pub fn needs_consent(&self, config: &Config) -> bool {
        let starts_any = config.of_project().any(|entry| entry.enabled);
        config.found_by == FoundBy::Project && starts_any && !self.is_trusted(&config.hash)
    }

    /// Remembers that the user agreed to `config` as it is.
    ///
    /// # Errors
    /// The system's error; the agreement then counts only for this run.
    pub fn trust(&self, config: &Config) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Err(io::Error::other("there is no folder for your data: set HOME or XDG_DATA_HOME"));
        };
        if self.is_trusted(&config.hash) {
            return Ok(());
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let path = config.path.as_deref().unwrap_or(Path::new("")).display().to_string();
        let line = format!("{} {}\n", config.hash, path.replace(['\n', '\r'], " "));
        // One short append: the lines of two processes cannot get mixed.
        fs::OpenOptions::new().append(true).create(true).open(file)?.write_all(line.as_bytes())
    }

    fn is_trusted(&self, hash: &str) -> bool {
        let Some(text) = self.file.as_ref().and_then(|file| fs::read_to_string(file).ok()) else { return false };
        !hash.is_empty() && text.lines().any(|line| line.split(' ').next() == Some(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::discover;

    const FILE: &str = r#"{"s": {"command": "x"}}"#;

    #[test]
    fn a_found_file_is_agreed_to_once_for_its_content() {
        let root = tempfile::tempdir().expect("a folder");
        let (folder, file) = (root.path().join("project"), root.path().join("project/mcp.json"));
        fs::create_dir_all(&folder).expect("made");
        fs::write(&file, FILE).expect("written");
        let environment = Environment { folder, data_folder: Some(root.path().join("data")), ..Environment::default() };
        let store = TrustStore::new(&environment);
        let config = discover(None, &environment).expect("found");
        assert!(store.needs_consent(&config));
        store.trust(&config).expect("remembered");
        store.trust(&config).expect("remembered");
        assert!(!store.needs_consent(&config));
        assert!(!store.needs_consent(&discover(Some(&file), &environment).expect("read")));

        fs::write(&file, format!("{FILE} ")).expect("written");
        let changed = discover(None, &environment).expect("found");
        assert!(store.needs_consent(&changed));
        store.trust(&changed).expect("remembered");
        assert!(!store.needs_consent(&changed) && !store.needs_consent(&config));
        assert!(TrustStore { file: None }.needs_consent(&config));
        // If nothing would start, there is nothing to agree to.
        fs::write(&file, r#"{"s": {"command": "x", "disabled": true}}"#).expect("written");
        assert!(!store.needs_consent(&discover(None, &environment).expect("found")));
    }
}
