use std::path::PathBuf;

use super::{
    Config, ConfigError, Environment, Prints, ServerConfig, ServerEntry, TokenProgram, endpoint, expand::Scope,
};
use crate::transport::{Endpoint, HttpEndpoint, HttpKind, Mask, StdioEndpoint};

/// A server that is given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdhocTarget {
    /// A command and its arguments, from after `--`.
    Command(Vec<String>),
    /// A web address.
    Url(String),
}

/// Options on the command line that override a server's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `-H 'Name: value'`.
    pub headers: Vec<String>,
    /// `--bearer-env VAR`: the variable that holds a bearer token.
    pub bearer_env: Option<String>,
    /// `--bearer-command 'PROGRAM ARGS'`: a program that prints a bearer token.
    pub bearer_command: Option<String>,
    /// `--env K=V`.
    pub env: Vec<String>,
    /// `--cwd DIR`.
    pub cwd: Option<PathBuf>,
}

impl Overrides {
    /// Hides the credentials in these options.
    pub fn hide(&self, mask: &Mask, environment: &Environment) {
        for header in &self.headers {
            if let Some((_, value)) = header.split_once(':') {
                // `Bearer TOKEN` and `Basic TOKEN`: the first word is not a secret.
                let value = value.trim();
                mask.hide(value.split_once(' ').map_or(value, |(_, credentials)| credentials), "[redacted]");
            }
        }
        if let Some(name) = &self.bearer_env
            && let Some(token) = environment.variable(name)
        {
            mask.hide(token, &format!("${name}"));
        }
    }
}

impl AdhocTarget {
    /// Whether `text`, given as a server, is a web address.
    pub fn is_url(text: &str) -> bool {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        matches!(scheme.as_deref(), Some("http" | "https"))
    }

    /// A configuration with only this server, named `adhoc` or after the host of its address.
    ///
    /// # Errors
    /// [`ConfigError::Option`] for an empty command, an invalid address, and the errors of [`ServerConfig::overlay`].
    pub fn config(&self, overrides: &Overrides, environment: &Environment) -> Result<Config, ConfigError> {
        let (name, endpoint) = match self {
            Self::Command(words) => {
                let scope = Scope::new(environment, None);
                let (program, args) = words
                    .split_first()
                    .filter(|(program, _)| !program.is_empty())
                    .ok_or_else(|| ConfigError::Option("there is no command after `--`".to_owned()))?;
                let command = match environment.own_program(program) {
                    Some(own) => own.display().to_string(),
                    // The shell has already expanded everything; a relative path must not depend on `--cwd`.
                    None if program.contains(std::path::is_separator) => {
                        scope.folder.join(program).display().to_string()
                    }
                    None => program.clone(),
                };
                let stdio = StdioEndpoint { command, args: args.to_vec(), ..StdioEndpoint::default() };
                ("adhoc".to_owned(), Endpoint::Stdio(stdio))
            }
            Self::Url(text) => {
                let url = endpoint::web_address(text)
                    .map_err(|reason| ConfigError::Option(format!("the URL cannot be used: {reason}")))?;
                let name = url.host_str().unwrap_or(text).to_owned();
                let http = HttpEndpoint { url, headers: vec![], kind: HttpKind::Auto, ca_file: None, insecure: false };
                (name, Endpoint::Http(http))
            }
        };
        let server = ServerConfig::at(endpoint).overlay(overrides, environment)?;
        let entry = ServerEntry::of_command_line(name.into(), server);
        let config = Config { servers: vec![entry], ..Config::default() };
        if let Ok(ServerConfig { endpoint: Endpoint::Http(http), .. }) = config.servers[0].server.as_ref() {
            config.mask.hide_parts(&http.url);
        }
        overrides.hide(&config.mask, environment);
        Ok(config)
    }
}

impl ServerConfig {
    /// This server with `overrides` applied.
    ///
    /// # Errors
    /// [`ConfigError::Option`] for an option that does not apply to the server, or is malformed.
    pub fn overlay(mut self, overrides: &Overrides, environment: &Environment) -> Result<Self, ConfigError> {
        let misfit = |option: &str, wants: &str| Err(ConfigError::Option(format!("{option} is for {wants}")));
        match &mut self.endpoint {
            Endpoint::Stdio(_) if !overrides.headers.is_empty() => return misfit("-H", "a server with a URL"),
            Endpoint::Stdio(_) if overrides.bearer_env.is_some() => {
                return misfit("--bearer-env", "a server with a URL");
            }
            Endpoint::Stdio(_) if overrides.bearer_command.is_some() => {
                return misfit("--bearer-command", "a server with a URL");
            }
            Endpoint::Http(_) if !overrides.env.is_empty() => {
                return misfit("--env", "a server that is started by a command");
            }
            Endpoint::Http(_) if overrides.cwd.is_some() => {
                return misfit("--cwd", "a server that is started by a command");
            }
            Endpoint::Stdio(stdio) => {
                for text in &overrides.env {
                    let (name, value) = text
                        .split_once('=')
                        .filter(|(name, _)| !name.is_empty())
                        .ok_or_else(|| ConfigError::Option("--env: expected NAME=VALUE".to_owned()))?;
                    stdio.env.retain(|(other, _)| other != name);
                    stdio.env.push((name.to_owned(), value.to_owned()));
                }
                if let Some(cwd) = &overrides.cwd {
                    stdio.cwd = Some(environment.absolute(cwd));
                }
            }
            Endpoint::Http(http) => {
                for text in &overrides.headers {
                    let header = text.split_once(':').ok_or("expected 'Name: value'".to_owned());
                    let header = header.map(|(name, value)| (name.trim(), value.trim()));
                    let checked =
                        header.and_then(|(name, value)| endpoint::check_header(name, value).map(|()| (name, value)));
                    // The text is not shown: it may contain a credential.
                    let (name, value) = checked.map_err(|reason| ConfigError::Option(format!("-H: {reason}")))?;
                    set_header(http, name, value.to_owned());
                }
                if let Some(text) = &overrides.bearer_command {
                    let program = TokenProgram::parse(text, environment.folder.clone(), Prints::Token);
                    let wrong = |reason| ConfigError::Option(format!("--bearer-command: {reason}"));
                    self.auth.program = Some(program.map_err(wrong)?);
                    http.headers.retain(|(other, _)| !other.eq_ignore_ascii_case("authorization"));
                }
                if let Some(variable) = &overrides.bearer_env {
                    let reason = |what| ConfigError::Option(format!("--bearer-env: the variable {variable} {what}"));
                    let token = environment.variable(variable).map(str::trim).filter(|token| !token.is_empty());
                    let token = token.ok_or_else(|| reason("is not set"))?;
                    endpoint::check_header("Authorization", token).map_err(|_| reason("contains a line break"))?;
                    set_header(http, "Authorization", format!("Bearer {token}"));
                }
            }
        }
        Ok(self)
    }
}

/// Sets a header, replacing those of the configuration.
fn set_header(http: &mut HttpEndpoint, name: &str, value: String) {
    http.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    http.headers.push((name.to_owned(), value));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let variables = [("TOK".to_owned(), "s3cret\n".to_owned())].into();
        Environment { variables, folder: "/here".into(), ..Environment::default() }
    }

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_command_is_called_adhoc() {
        let overrides = Overrides { env: texts(&["A=b=c", "A=d"]), cwd: Some("sub".into()), ..Overrides::default() };
        let target = AdhocTarget::Command(texts(&["./srv", "--x", "${A}"]));
        let config = target.config(&overrides, &environment()).expect("a server");
        let Ok(ServerConfig { endpoint: Endpoint::Stdio(stdio), .. }) = config.server("adhoc") else { panic!("stdio") };
        let expected = StdioEndpoint {
            command: "/here/./srv".into(),
            args: texts(&["--x", "${A}"]),
            env: vec![("A".into(), "d".into())],
            cwd: Some("/here/sub".into()),
        };
        assert_eq!(*stdio, expected);
        assert!(AdhocTarget::Command(vec![]).config(&Overrides::default(), &environment()).is_err());
    }

    #[test]
    fn a_url_is_called_by_its_host() {
        let overrides = Overrides {
            headers: texts(&["X-A: 1", "authorization: no"]),
            bearer_env: Some("TOK".into()),
            ..Overrides::default()
        };
        let config =
            AdhocTarget::Url("HTTPS://A.example:8/mcp".into()).config(&overrides, &environment()).expect("a server");
        let Ok(ServerConfig { endpoint: Endpoint::Http(http), .. }) = config.server("a.example") else {
            panic!("http")
        };
        let expected = [("X-A", "1"), ("Authorization", "Bearer s3cret")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(http.headers, expected);
        assert!(AdhocTarget::is_url("HTTP://a") && !AdhocTarget::is_url("ftp://a") && !AdhocTarget::is_url("forms"));
    }

    #[test]
    fn options_that_do_not_fit_are_refused_and_values_are_not_shown() {
        let refused = |target: &AdhocTarget, overrides| {
            target.config(&overrides, &environment()).expect_err("refused").to_string()
        };
        let (url, command) = (AdhocTarget::Url("http://a.example".into()), AdhocTarget::Command(texts(&["x"])));
        let headers = |text: &str| Overrides { headers: texts(&[text]), ..Overrides::default() };
        assert!(refused(&command, headers("A: b")).contains("-H is for a server with a URL"));
        assert!(!refused(&url, headers("Bearer s3cret")).contains("s3cret"));
        assert!(refused(&url, headers("A: s3\ncret")).contains("line break"));
        let env = Overrides { env: texts(&["A"]), ..Overrides::default() };
        assert!(refused(&command, env.clone()).contains("NAME=VALUE"));
        assert!(refused(&url, env).contains("a server that is started by a command"));
        let bearer = Overrides { bearer_env: Some("NOPE".into()), ..Overrides::default() };
        assert!(refused(&url, bearer).contains("NOPE is not set"));
        assert!(refused(&AdhocTarget::Url("http://".into()), Overrides::default()).contains("not a web address"));
    }
}
