//! What a server needs before it is started or reached: a program, a proxy, a sign-in.

use std::{
    env,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::commands::server::over_http;
use crate::{
    config::{Config, ServerConfig, ServerEntry},
    files::is_program,
    transport::Endpoint,
};

/// A checked item: its name, a description, and data for programs; or what is wrong with it.
pub(crate) type Around = Result<(&'static str, String, Value), String>;

/// Checks the surroundings of a server.
pub(crate) fn surroundings(server: &ServerConfig) -> Vec<Around> {
    match &server.endpoint {
        Endpoint::Stdio(stdio) => match find_program(&stdio.command) {
            Some(path) => vec![Ok(("program", path.display().to_string(), json!({"path": path})))],
            None => vec![Err(missing(&stdio.command))],
        },
        Endpoint::Http(http) => over_http::surroundings(server, http),
    }
}

/// The other entries for the same server.
pub(crate) fn same_as(config: &Config, entry: &ServerEntry) -> Vec<String> {
    let Ok(server) = &entry.server else { return Vec::new() };
    let own = server.fingerprint();
    let is_same = |other: &&ServerEntry| {
        other.enabled && other.name != entry.name && other.server.as_ref().is_ok_and(|it| it.fingerprint() == own)
    };
    config.servers.iter().filter(is_same).map(|other| other.name.to_string()).collect()
}

pub(crate) fn find_program(command: &str) -> Option<PathBuf> {
    let is_program = |path: &Path| path.metadata().is_ok_and(|there| is_program(&there));
    if command.contains('/') {
        return Some(PathBuf::from(command)).filter(|path| is_program(path));
    }
    if command == env!("CARGO_PKG_NAME") {
        return env::current_exe().ok();
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(command)).find(|path| is_program(path))
}

/// What to do about a missing program.
pub(crate) fn missing(command: &str) -> String {
    let name = command.rsplit('/').next().unwrap_or(command);
    let mend = match name {
        "npx" | "npm" | "node" => "install Node.js",
        "uvx" | "uv" => "install uv",
        "python" | "python3" | "pip" | "pipx" => "install Python",
        "docker" | "podman" => "install it, and check that it is running",
        "bunx" | "bun" => "install Bun",
        "deno" => "install Deno",
        _ if command.contains('/') => "check the path, and that it may be executed",
        _ => "install it, or write its full path",
    };
    let place = if command.contains('/') { "is not there" } else { "is not on PATH" };
    format!("the program {command} {place}: {mend}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_the_system_would() {
        assert!(find_program("sh").is_some() && find_program("/bin/sh").is_some());
        assert!(find_program("no-such-program").is_none() && find_program("/etc/passwd").is_none());
        assert!(missing("npx").contains("Node.js") && missing("/opt/x/uvx").contains("install uv"));
        assert_eq!(missing("/opt/x"), "the program /opt/x is not there: check the path, and that it may be executed");
    }
}
