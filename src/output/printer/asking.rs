use std::io;

use serde_json::json;

use super::Printer;
use crate::{
    elicitation::{Link, ServerName},
    output::{OutputMode, Verbosity},
    terminal::gate,
    text::safe_line,
};

impl Printer {
    /// Shows what an answering program writes to its standard error.
    pub fn program_line(&self, line: &str) {
        if self.mode != OutputMode::Events && self.verbosity > Verbosity::Quiet {
            gate().print(&format!("on-elicit │ {}\n", safe_line(&self.mask.apply(line))));
        }
    }

    /// Shows a link that was accepted without asking a person, with its host and its warnings, on stderr, even with
    /// `--quiet`.
    pub fn link(&self, server: &ServerName, link: &Link) {
        if self.mode != OutputMode::Events {
            let Link { url, host, warnings } = link;
            let server = safe_line(server.as_str());
            let warnings = warnings.iter().map(|warning| format!("! {warning}"));
            let lines = [format!("{server}: accepted the link"), url.clone(), format!("host    {host}")];
            let lines: Vec<String> = lines.into_iter().chain(warnings).collect();
            gate().print(&format!("{}\n", lines.join("\n")));
        }
    }

    /// Prints that a question is waiting in the browser, at `url`, to stderr, even with `--quiet`. `host` is this
    /// machine's name if the person may be at another one.
    pub fn waits_in_browser(&self, server: &ServerName, url: &str, host: Option<&str>) -> io::Result<()> {
        if self.mode == OutputMode::Events {
            return self.stdout(&format!("{}\n", json!({"event": "browser", "server": server, "url": url})));
        }
        let port = url.split([':', '/']).nth(4).unwrap_or_default();
        let tunnel = host.map(|host| format!("  from another machine: ssh -L {port}:127.0.0.1:{port} {host}\n"));
        let server = safe_line(server.as_str());
        gate().print(&format!("{server} asks in the browser: {url}\n{}", tunnel.unwrap_or_default()));
        Ok(())
    }

    /// Prints where somebody can sign in to `server`, to stderr, even with `--quiet`; in events mode as an event.
    pub fn sign_in(&self, server: &ServerName, prompt: &str, link: &Link) {
        if self.mode == OutputMode::Events {
            let event = json!({"event": "sign-in", "server": server.as_str(), "prompt": prompt, "url": link.url,
                "warnings": link.warnings});
            // If nobody reads the events, nobody can sign in either.
            drop(self.stdout(&format!("{event}\n")));
        } else {
            let head = format!("{} asks you to sign in", safe_line(server.as_str()));
            let warnings = link.warnings.iter().map(|warning| format!("! {warning}"));
            let prompt = prompt.lines().map(|line| format!("│ {}", safe_line(line)));
            let lines = std::iter::once(head).chain(prompt).chain([link.url.clone()]).chain(warnings);
            gate().print(&format!("{}\n", lines.collect::<Vec<_>>().join("\n")));
        }
    }
}
