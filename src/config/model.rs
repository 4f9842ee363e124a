use std::{collections::HashMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Auth, ConfigInput, FilePlace, near_misses};
use crate::{
    elicitation::{Modes, ServerName},
    protocol::ProtocolChoice,
    transport::{Endpoint, Mask},
};

/// The content of a configuration file, with every entry read separately.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// How it was found.
    pub found_by: FoundBy,
    /// A hash of the file's path and text, as hexadecimal digits; empty without a file.
    pub hash: String,
    /// The entries, in the file's order.
    pub servers: Vec<ServerEntry>,
    /// Warnings about the file as a whole, in our words, with their position.
    pub warnings: Vec<String>,
    /// Hides its secrets.
    pub mask: Mask,
    /// The values that servers ask a person for (`inputs`).
    pub inputs: Vec<ConfigInput>,
    /// The user's own file, if its servers were added to those of a project.
    pub below: Option<PathBuf>,
}

/// How a configuration was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoundBy {
    /// The user named the file, or the server itself.
    #[default]
    Name,
    /// It was found in the working folder or above, and may have been written by somebody else.
    Project,
    /// It is in the user's own configuration folder.
    User,
}

/// One entry of the file. A wrong or disabled one never affects another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// Its key.
    pub name: ServerName,
    /// Whether it may be started: neither `disabled: true` nor `enabled: false`.
    pub enabled: bool,
    /// Its configuration, or what is wrong with it.
    pub server: Result<ServerConfig, ConfigError>,
    /// Warnings about it, in our words, with their position.
    pub warnings: Vec<String>,
    /// The file that contains it, if there is one.
    pub file: Option<PathBuf>,
    /// The line.
    pub line: usize,
    /// The user's own file, if that has another server with this name.
    pub hides: Option<PathBuf>,
    /// The ids of the `inputs` that it uses, in order.
    pub asks: Vec<String>,
}

/// How to start or reach one server, with all variables expanded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Its command or address.
    pub endpoint: Endpoint,
    /// `oauth` and `headersHelper`: how to sign in to a server at a web address.
    pub auth: Auth,
    /// `timeout`: limits the start, each listing, and calls.
    pub timeout: Option<Duration>,
    /// `callTimeout`: how long a call may be silent.
    pub call_timeout: Option<Duration>,
    /// `maxCallTime`: how long a call may take in total.
    pub max_call_time: Option<Duration>,
    /// `shutdownGrace`: how long the server may take to end by itself.
    pub shutdown_grace: Option<Duration>,
    /// `maxMessage`, in bytes. Default 1 GiB.
    pub max_message: u64,
    /// `protocol`: which revision to speak.
    pub protocol: ProtocolChoice,
    /// `elicitation`: `"plain"` declares `{}`, everything else both modes.
    pub modes: Modes,
    /// `keep`: how long the server stays up after a command; `None` ends it with the command.
    pub keep: Option<Duration>,
}

impl ServerEntry {
    /// An entry that is in no file.
    pub(super) fn of_command_line(name: ServerName, server: ServerConfig) -> Self {
        let (enabled, server) = (true, Ok(server));
        Self { name, enabled, server, warnings: vec![], file: None, line: 0, hides: None, asks: vec![] }
    }
}

impl ServerConfig {
    /// The default of `maxMessage`: 1 GiB.
    pub const MAX_MESSAGE: u64 = 1 << 30;
    /// How long an idle server is kept by default: 15 minutes.
    pub const KEEP_FOR: Duration = Duration::from_secs(15 * 60);

    /// A server at `endpoint`, with defaults for everything else.
    pub fn at(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            auth: Auth::default(),
            timeout: None,
            call_timeout: None,
            max_call_time: None,
            shutdown_grace: None,
            max_message: Self::MAX_MESSAGE,
            protocol: ProtocolChoice::Auto,
            modes: Modes::ALL,
            keep: None,
        }
    }
}

impl Config {
    /// The entry called `name`.
    ///
    /// # Errors
    /// [`ConfigError::UnknownServer`], [`ConfigError::Disabled`], or what is wrong with the entry.
    pub fn server(&self, name: &str) -> Result<&ServerConfig, ConfigError> {
        let Some(entry) = self.entry(name) else {
            let known = self.servers.iter().map(|entry| entry.name.to_string()).collect();
            return Err(ConfigError::UnknownServer {
                name: name.to_owned(),
                known,
                path: self.path.clone(),
                instead: None,
            });
        };
        match &entry.server {
            _ if !entry.enabled => Err(ConfigError::Disabled(name.to_owned())),
            Ok(server) => Ok(server),
            Err(error) => Err(error.clone()),
        }
    }

    /// The warnings about entries other than the one called `name`. An unset variable is not an error of the file, and
    /// errors in disabled entries do not matter; an error that is also one of the entry's warnings is left out.
    pub fn faults_beside(&self, name: &str) -> Vec<String> {
        let others = self.servers.iter().filter(|entry| entry.enabled && entry.name.as_str() != name);
        let faults = others.filter_map(|entry| match &entry.server {
            Err(error) if !matches!(error, ConfigError::Variable { .. }) => Some((entry, error.to_string())),
            _ => None,
        });
        faults.filter(|(entry, fault)| !entry.warnings.contains(fault)).map(|(_, fault)| fault).collect()
    }

    /// The entries of the project's file, which somebody else may have written.
    pub fn of_project(&self) -> impl Iterator<Item = &ServerEntry> {
        let is_project = self.found_by == FoundBy::Project;
        self.servers.iter().filter(move |entry| is_project && entry.file == self.path)
    }

    /// Adds the servers of the user's own file: if two have the same name, the project's counts.
    pub(super) fn put_below(&mut self, own: Self) {
        self.mask.join(&own.mask);
        self.warnings.extend(own.warnings);
        self.inputs.extend(own.inputs);
        let nearer = self.servers.iter().enumerate().map(|(index, entry)| (entry.name.clone(), index));
        let nearer: HashMap<ServerName, usize> = nearer.collect();
        for entry in own.servers {
            match nearer.get(&entry.name).map(|index| &mut self.servers[*index]) {
                Some(nearer) if nearer.server != entry.server => nearer.hides.clone_from(&own.path),
                Some(_) => {}
                None => self.servers.push(entry),
            }
        }
        self.below = own.path;
    }

    /// The entry called `name`, even if something is wrong with it.
    pub fn entry(&self, name: &str) -> Option<&ServerEntry> {
        self.servers.iter().find(|entry| entry.name.as_str() == name)
    }
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration {} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The file, or one of its entries, is wrong.
    #[error("{}{}: {reason}", path.as_ref().map_or("the configuration".into(), |path| path.display().to_string()),
        place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default())]
    Wrong {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// The position in it.
        place: Option<FilePlace>,
        /// What is wrong, with the names of the entry and the key.
        reason: String,
    },
    /// An entry cannot be used because of a variable in it.
    #[error("{}:{}:{}: {reason}",
        path.as_ref().map_or("the configuration".into(), |path| path.display().to_string()), place.line, place.column)]
    Variable {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// The position in it.
        place: FilePlace,
        /// What is wrong, with the names of the entry, the key and the variable.
        reason: String,
    },
    /// The file cannot be written.
    #[error("{} cannot be written: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// There already is an entry with that name.
    #[error("{} already has a server {name:?}", path.display())]
    Taken {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// Nothing was found to import.
    #[error("{reason}")]
    NothingToImport {
        /// What is missing.
        reason: String,
        /// What would be right.
        hint: Option<String>,
    },
    /// No file was found.
    #[error("there is no configuration: no {} in this folder or one above it, and no {}", .0.join(", "), .1.display())]
    NotFound(Vec<String>, PathBuf),
    /// No entry has this name.
    #[error("there is no server {name:?}{}", path.as_ref().map(|path| format!(" in {}", path.display())).unwrap_or_default())]
    UnknownServer {
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// The command that was probably meant.
        instead: Option<String>,
    },
    /// The entry exists, but is switched off.
    #[error("server {0:?} is disabled in the configuration")]
    Disabled(String),
    /// An option for a server does not apply.
    #[error("{0}")]
    Option(String),
}

impl ConfigError {
    /// What to do about it, if there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownServer { instead: Some(command), .. } => Some(format!("did you mean `{command}`?")),
            Self::UnknownServer { name, known, .. } => {
                let near = near_misses(name, known.iter().map(String::as_str));
                match (near.as_slice(), known.len()) {
                    ([], 0) => Some("the configuration has no servers".to_owned()),
                    ([], 1..=12) => Some(format!("configured servers: {}", known.join(", "))),
                    ([], _) => Some("`toolnexus servers` lists the servers".to_owned()),
                    (near, _) => Some(format!("did you mean {}?", near.join(" or "))),
                }
            }
            Self::NotFound(..) => Some(
                "`toolnexus add NAME -- COMMAND` adds one; --config FILE uses another file; a server can also be \
                     a URL, or a command after `--`"
                    .to_owned(),
            ),
            Self::Disabled(name) => Some(format!("`toolnexus enable {}` switches it on", shell_words::quote(name))),
            Self::NothingToImport { hint, .. } => hint.clone(),
            Self::Taken { name, .. } => {
                Some(format!("`toolnexus remove {name}` removes it; --replace replaces it with the new one"))
            }
            Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::Wrong { .. }
            | Self::Variable { .. }
            | Self::Option(_) => None,
        }
    }
}
