//! What a command is waiting for, as shown at a terminal.

use std::path::Path;

use crate::commands::server::command_host::CommandHost;
use crate::{
    output::{Doing, Waiting},
    transport::{Endpoint, StdioEndpoint},
};

/// Programs that download a server before they run it.
const FETCHERS: [&str; 7] = ["npx", "bunx", "uvx", "pipx", "dnx", "docker", "podman"];
/// Programs that do so with one of these words.
const FETCHING: [(&str, &[&str]); 6] = [
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx"]),
    ("yarn", &["dlx"]),
    ("bun", &["x"]),
    ("deno", &["run"]),
    ("uv", &["run", "tool"]),
];

impl CommandHost {
    /// Shows that `server` is being started or reached.
    pub(crate) fn wait_for_start(&self, server: &str) -> Waiting {
        let config = self.host.config().server(server).ok();
        let name = server.to_owned();
        self.printer.wait(match config.map(|config| &config.endpoint) {
            Some(Endpoint::Http(_)) => Doing::Reaching { server: name },
            Some(Endpoint::Stdio(program)) => Doing::Starting { server: name, fetcher: fetcher(program) },
            None => Doing::Starting { server: name, fetcher: None },
        })
    }

    /// Shows that `server` is listing something.
    pub(crate) fn wait_for_list(&self, server: &str) -> Waiting {
        self.printer.wait(Doing::Listing { server: server.to_owned() })
    }

    /// Shows a call of the tool, prompt or resource `name`.
    pub(crate) fn wait_for_call(&self, server: &str, name: &str) -> Waiting {
        self.printer.wait(Doing::Call { server: server.to_owned(), name: name.to_owned() })
    }
}

/// The program that downloads this server before it runs, if there is one.
fn fetcher(program: &StdioEndpoint) -> Option<String> {
    let name = Path::new(&program.command).file_name()?.to_str()?;
    let word = program.args.first().map(String::as_str).unwrap_or_default();
    let fetches =
        FETCHERS.contains(&name) || FETCHING.iter().any(|(program, words)| *program == name && words.contains(&word));
    fetches.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_fetch_are_known() {
        let of = |command: &str, args: &[&str]| {
            let args = args.iter().map(ToString::to_string).collect();
            fetcher(&StdioEndpoint { command: command.to_owned(), args, ..StdioEndpoint::default() })
        };
        assert_eq!(of("/usr/bin/npx", &["-y", "x"]).as_deref(), Some("npx"));
        assert_eq!(of("uv", &["tool", "run", "x"]).as_deref(), Some("uv"));
        assert_eq!(of("uv", &["--version"]), None);
        assert_eq!(of("python3", &["run"]), None);
    }
}
