use std::{path::PathBuf, time::Duration};

use crate::{
    client::ProtocolChoice,
    elicitation::{Modes, ServerName},
    transport::Endpoint,
};

/// What a configuration file says, every entry read by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The file, where there is one.
    pub path: Option<PathBuf>,
    /// The entries, in the file's order.
    pub servers: Vec<Entry>,
}

/// One entry of the file. A bad or disabled one never harms another.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its key.
    pub name: ServerName,
    /// Whether it may be started: neither `disabled: true` nor `enabled: false`.
    pub enabled: bool,
    /// What it says, or what is wrong with it.
    pub server: Result<ServerConfig, ConfigError>,
}

/// How to start or reach one server, with all variables expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// Where it is.
    pub endpoint: Endpoint,
    /// `timeout`: bounds start, each listing, and a call too.
    pub timeout: Option<Duration>,
    /// `callTimeout`: how long a call may be silent.
    pub call_timeout: Option<Duration>,
    /// `maxCallTime`: how long a call may take in all.
    pub max_call_time: Option<Duration>,
    /// `shutdownGrace`: how long the server may take to end by itself.
    pub shutdown_grace: Option<Duration>,
    /// `maxMessage`, in bytes. Default 1 GiB.
    pub max_message: u64,
    /// `protocol`: which revision to speak.
    pub protocol: ProtocolChoice,
    /// `elicitation`: `"plain"` declares `{}`, everything else both modes.
    pub modes: Modes,
}

/// Where in a file something is: both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file, or an entry of it, is not what it should be.
    #[error("read {}{}: {reason}", path.as_ref().map_or("the configuration".into(), |path| path.display().to_string()),
        place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default())]
    Wrong {
        /// The file, where there is one.
        path: Option<PathBuf>,
        /// Where in it.
        place: Option<Place>,
        /// What is wrong, with the entry's and the key's name.
        reason: String,
    },
    /// No file was found.
    #[error("find a configuration: none of {} is here or above, nor {} in the user's folder", .0.join(", "), .1.display())]
    NotFound(Vec<String>, PathBuf),
    /// No entry has this name.
    #[error("find server {name:?}")]
    UnknownServer {
        /// What was asked for.
        name: String,
        /// The names that are there.
        known: Vec<String>,
    },
    /// The entry is there, and switched off.
    #[error("start server {0:?}: it is disabled in the configuration")]
    Disabled(String),
}
