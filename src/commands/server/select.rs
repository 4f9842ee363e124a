use crate::commands::{
    context::Context,
    options::{GlobalArgs, ServerArgs},
    server::entered::entered,
};
use crate::text::safe_line;
use crate::{
    config::{self, AdhocTarget, Config, ConfigError, Environment, Overrides, ServerEntry, TrustStore},
    error::Error,
    form::Form,
    terminal::{Filled, Terminal},
    transport::{Endpoint, HttpKind, Mask, address},
};

/// A server as named on the command line, and the words after it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selected {
    /// The server; `None` if none was named.
    pub(crate) server: Option<ServerWord>,
    /// The words after it.
    pub(crate) rest: Vec<String>,
}

/// What is given as SERVER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerWord {
    /// A name in the configuration.
    Named(String),
    /// A URL, or the COMMAND after `--`.
    Target(AdhocTarget),
}

impl Selected {
    /// Splits the words before `--` and the COMMAND after it: without COMMAND, the first word is the server.
    pub(crate) fn new(mut words: Vec<String>, command: Vec<String>) -> Self {
        if !command.is_empty() {
            return Self { server: Some(ServerWord::Target(AdhocTarget::Command(command))), rest: words };
        }
        if words.is_empty() {
            return Self { server: None, rest: words };
        }
        let first = words.remove(0);
        let server = if AdhocTarget::is_url(&first) {
            ServerWord::Target(AdhocTarget::Url(first))
        } else {
            ServerWord::Named(first)
        };
        Self { server: Some(server), rest: words }
    }
}

impl ServerWord {
    /// The command that shows `tool` of this server, quoted for a shell.
    pub(crate) fn page(&self, tool: &str) -> String {
        let words = match self {
            Self::Named(name) | Self::Target(AdhocTarget::Url(name)) => vec![name.as_str(), tool],
            Self::Target(AdhocTarget::Command(command)) => {
                [tool, "--"].into_iter().chain(command.iter().map(String::as_str)).collect()
            }
        };
        format!("toolnexus tools {}", shell_words::join(words))
    }

    /// The words before and after a resource's URI, in a command that reads it from this server, quoted for a shell.
    pub(crate) fn reads(&self) -> (String, String) {
        match self {
            Self::Named(name) | Self::Target(AdhocTarget::Url(name)) => {
                (format!("toolnexus read {}", shell_words::quote(name)), String::new())
            }
            Self::Target(AdhocTarget::Command(command)) => {
                ("toolnexus read".to_owned(), format!(" -- {}", shell_words::join(command)))
            }
        }
    }

    /// The words before and after the arguments, in a call of `tool` of this server, quoted for a shell.
    pub(crate) fn call(&self, tool: &str) -> (String, String) {
        match self {
            Self::Named(name) | Self::Target(AdhocTarget::Url(name)) => {
                (format!("toolnexus call {}", shell_words::join([name.as_str(), tool])), String::new())
            }
            Self::Target(AdhocTarget::Command(command)) => {
                (format!("toolnexus call {}", shell_words::quote(tool)), format!("-- {}", shell_words::join(command)))
            }
        }
    }

    /// The configuration that contains the server, with the server options applied, and the server's name in it.
    ///
    /// # Errors
    /// If the configuration cannot be used, or has no such server.
    pub(crate) fn config(self, global: &GlobalArgs, args: &ServerArgs) -> Result<(Config, String), Error> {
        let config = self.read(|environment| config::discover(global.config.as_deref(), environment))?;
        self.overlaid(config, args)
    }

    /// Like [`ServerWord::config`], for a server that is about to be used: a person is asked for the inputs of its
    /// entry.
    ///
    /// # Errors
    /// As for [`ServerWord::config`]; or if the person cancels.
    pub(crate) async fn ready(self, context: &Context, args: &ServerArgs) -> anyhow::Result<(Config, String)> {
        let mut config = self.read(|environment| context.config(environment))?;
        if let Self::Named(name) = &self {
            config = entered(config, |entry| entry.name.as_str() == name, context).await?;
        }
        Ok(self.overlaid(config, args)?)
    }

    /// The configuration as it is; an empty one for a server that is in none.
    fn read(&self, find: impl FnOnce(&Environment) -> Result<Config, ConfigError>) -> Result<Config, Error> {
        match self {
            Self::Target(_) => Ok(Config::default()),
            Self::Named(_) => Ok(find(&Environment::current())?),
        }
    }

    fn overlaid(self, mut config: Config, args: &ServerArgs) -> Result<(Config, String), Error> {
        let environment = Environment::current();
        match self {
            Self::Target(target) => {
                let mut config = target.config(&args.overrides(), &environment)?;
                if let Some(Ok(server)) = config.servers.first_mut().map(|entry| entry.server.as_mut()) {
                    (server.max_call_time, server.call_timeout) = (args.max_time, args.timeout);
                }
                // An ad hoc configuration has only this entry.
                let name = config.servers.first().map(|entry| entry.name.to_string()).unwrap_or_default();
                Ok((config, name))
            }
            Self::Named(name) => {
                args.overrides().hide(&config.mask, &environment);
                let mut server = config.server(&name)?.clone().overlay(&args.overrides(), &environment)?;
                server.max_call_time = args.max_time.or(server.max_call_time);
                server.call_timeout = args.timeout.or(server.call_timeout);
                let faults = config.faults_beside(&name);
                config.warnings.extend(faults);
                config.warnings.extend(config.entry(&name).and_then(hiding));
                if let Some(entry) = config.servers.iter_mut().find(|entry| entry.name.as_str() == name) {
                    entry.server = Ok(server);
                }
                Ok((config, name))
            }
        }
    }
}

/// The configuration, and the names of its enabled servers.
///
/// # Errors
/// If there is no configuration, or nobody agreed to start its servers.
pub(crate) async fn all_servers(context: &Context, trust: bool) -> anyhow::Result<(Config, Vec<String>)> {
    let environment = Environment::current();
    let config = context.config(&environment)?;
    agree(&config, trust, &environment, context).await?;
    let config = entered(config, |_| true, context).await?;
    let enabled = config.servers.iter().filter(|entry| entry.enabled);
    let names = enabled.map(|entry| entry.name.to_string()).collect();
    Ok((config, names))
}

/// Makes sure that the user agrees to start the servers of a file that was found in the folder: once per content.
async fn agree(config: &Config, trust: bool, environment: &Environment, context: &Context) -> anyhow::Result<()> {
    let store = TrustStore::new(environment);
    if !store.needs_consent(config) {
        return Ok(());
    }
    let answer = if trust { Some(true) } else { ask(config, context).await? };
    if answer == Some(false) {
        return Err(Error::Interrupted.into());
    }
    if answer.is_none() {
        let path = config.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let hint = "read the file first; --trust then starts its servers, and is remembered until the file changes";
        return Err(Error::Usage {
            message: format!("{path} was found here and would start servers that you did not name"),
            hint: Some(hint.to_owned()),
        }
        .into());
    }
    // If it cannot be remembered, the user is asked again.
    drop(store.trust(config));
    Ok(())
}

/// Asks the person; `None` if there is nobody.
async fn ask(config: &Config, context: &Context) -> anyhow::Result<Option<bool>> {
    let Some(terminal) = Terminal::open(false) else { return Ok(None) };
    let path = config.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let title = format!("Start the servers of {}?", safe_line(&path));
    let servers = config.of_project().filter(|entry| entry.enabled);
    let list: Vec<String> = servers.map(|entry| format!("{}  {}", entry.name, place(entry, &config.mask).1)).collect();
    let signals = context.signals()?;
    let filled = terminal.fill(&Form::default(), &title, &list.join("\n"), signals.stop.clone()).await;
    if let Some(error) = signals.error() {
        return Err(error.into());
    }
    Ok(match filled {
        Filled::Accept(_) => Some(true),
        Filled::Impossible(_) => None,
        Filled::Decline | Filled::Cancel | Filled::Withdrawn => Some(false),
    })
}

/// The warning that a project's server hides one of the user's own with the same name.
fn hiding(entry: &ServerEntry) -> Option<String> {
    let (file, own) = (entry.file.as_ref()?, entry.hides.as_ref()?);
    Some(format!("{} comes from {}; it hides the one in {}", entry.name, file.display(), own.display()))
}

/// An entry's kind and its command or URL, with variables as written. Headers are not shown: they may be secret.
pub(crate) fn place(entry: &ServerEntry, mask: &Mask) -> (&'static str, String) {
    match entry.server.as_ref().map(|server| &server.endpoint) {
        Ok(Endpoint::Stdio(stdio)) => {
            let words = std::iter::once(&stdio.command).chain(&stdio.args).map(|word| mask.written(word));
            ("stdio", shell_words::join(words))
        }
        Ok(Endpoint::Http(http)) => {
            let kind = if http.kind == HttpKind::Sse { "sse" } else { "http" };
            (kind, mask.apply(&address(&http.url)).into_owned())
        }
        Err(_) => ("invalid", String::new()),
    }
}

impl ServerArgs {
    /// Whether no option affects the connection.
    pub(crate) fn is_plain(&self) -> bool {
        let lists = self.headers.is_empty() && self.env.is_empty() && self.roots.is_empty();
        let others = self.bearer_env.is_some()
            || self.cwd.is_some()
            || self.protocol.is_some()
            || self.trace.is_some()
            || self.max_time.is_some();
        lists && !others
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            headers: self.headers.clone(),
            bearer_env: self.bearer_env.clone(),
            bearer_command: self.bearer_command.clone(),
            env: self.env.clone(),
            cwd: self.cwd.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(words: &[&str], command: &[&str]) -> Selected {
        let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        Selected::new(owned(words), owned(command))
    }

    #[test]
    fn a_command_or_a_url_takes_the_servers_place() {
        let adhoc = selected(&["echo", "a=b"], &["npx", "-y", "x"]);
        assert_eq!(adhoc.rest, ["echo", "a=b"]);
        assert!(matches!(adhoc.server, Some(ServerWord::Target(AdhocTarget::Command(_)))));
        let url = selected(&["HTTPS://mcp.example/", "echo"], &[]);
        assert_eq!(url.rest, ["echo"]);
        assert!(matches!(url.server, Some(ServerWord::Target(AdhocTarget::Url(_)))));
        assert_eq!(selected(&["forms", "greet"], &[]).server, Some(ServerWord::Named("forms".to_owned())));
        assert_eq!(selected(&[], &[]).server, None);
    }

    #[test]
    fn the_page_of_a_tool_can_be_pasted_into_a_shell() {
        let call = |words: &[&str], command: &[&str]| selected(words, command).server.map(|server| server.call("add"));
        let named = ("toolnexus call 'my server' add".to_owned(), String::new());
        assert_eq!(call(&["my server"], &[]), Some(named));
        let adhoc = ("toolnexus call add".to_owned(), "-- node 'a b.js'".to_owned());
        assert_eq!(call(&[], &["node", "a b.js"]), Some(adhoc));
        let page = |words: &[&str], command: &[&str]| selected(words, command).server.map(|server| server.page("add"));
        assert_eq!(page(&["my server"], &[]).as_deref(), Some("toolnexus tools 'my server' add"));
        assert_eq!(page(&[], &["node", "a b.js"]).as_deref(), Some("toolnexus tools add -- node 'a b.js'"));
    }
}
