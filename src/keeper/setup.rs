use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{config::ServerConfig, protocol::ProtocolChoice, transport::Endpoint};

/// Everything that a keeper needs, passed over its standard input: never as arguments that others could see.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeeperSetup {
    /// The server's name.
    pub server: String,
    /// Its command or address, for people, without secrets.
    pub place: String,
    /// The server, with all variables expanded.
    pub config: ServerConfig,
    /// The folders to declare as roots.
    pub roots: Vec<PathBuf>,
    /// Overrides the server's `protocol`.
    pub protocol: Option<ProtocolChoice>,
    /// Whether the server may ask at all.
    pub asks: bool,
    /// The folder in which eras are remembered.
    pub cache: Option<PathBuf>,
    /// The folder with the sign-ins.
    pub sign_ins: Option<PathBuf>,
    /// After how long without use it ends.
    pub keep_for: Duration,
    /// The folder of the sockets.
    pub folder: PathBuf,
    /// The name of the socket, without its ending.
    pub key: String,
}

/// The identity of a connection: everything that affects it, including the values of variables and headers.
pub(super) fn identity(
    config: &ServerConfig,
    roots: &[PathBuf],
    protocol: Option<ProtocolChoice>,
    asks: bool,
) -> Vec<u8> {
    // Time limits do not belong to the identity.
    let config = ServerConfig { keep: None, timeout: None, call_timeout: None, max_call_time: None, ..config.clone() };
    let here = match &config.endpoint {
        // A program without its own folder runs in the command's folder.
        Endpoint::Stdio(stdio) if stdio.cwd.as_deref().is_none_or(std::path::Path::is_relative) => {
            std::env::current_dir().ok()
        }
        _ => None,
    };
    // A configuration that cannot be serialized equals no other one: paths that are not UTF-8.
    serde_json::to_vec(&(config, roots, protocol, asks, here)).unwrap_or_default()
}

/// A server's location, for people: the program with its arguments, or the address without its query.
pub(super) fn place(config: &ServerConfig) -> String {
    match &config.endpoint {
        Endpoint::Stdio(stdio) => shell_words::join(std::iter::once(&stdio.command).chain(&stdio.args)),
        Endpoint::Http(http) => {
            let mut url = http.url.clone();
            url.set_query(None);
            url.to_string()
        }
    }
}
