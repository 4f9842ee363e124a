use std::{env, path::Path};

use crate::commands::server::select::ServerWord;
use crate::{config::ConfigError, error::Error};

/// Programs that start servers, whether they are installed or not.
const RUNNERS: [&str; 14] =
    ["python", "python3", "node", "npx", "uv", "uvx", "docker", "deno", "bun", "bunx", "ruby", "java", "go", "sh"];

/// What may have been meant by a command line whose SERVER is not in the configuration.
pub(crate) struct Slip {
    verb: &'static str,
    server: Option<String>,
    words: Vec<String>,
}

impl Slip {
    /// For `toolnexus VERB SERVER WORDS`.
    pub(crate) fn new<'a>(verb: &'static str, server: &ServerWord, words: impl Iterator<Item = &'a String>) -> Self {
        let server = match server {
            ServerWord::Named(name) => Some(name.clone()),
            ServerWord::Target(_) => None,
        };
        let words = words.map(|word| crate::commands::argv::unmarked(word).to_owned()).collect();
        Self { verb, server, words }
    }

    /// The error, with a hint at the intended command if SERVER is unknown and there is a good guess.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match error {
            Error::Config(ConfigError::UnknownServer { name, known, path, instead: None }) => {
                let instead = self.meant(&known);
                ConfigError::UnknownServer { name, known, path, instead }.into()
            }
            error => error,
        }
    }

    /// Like [`Slip::explain`], for an error of any type.
    pub(crate) fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast::<Error>() {
            Ok(error) => self.explain(error).into(),
            Err(error) => error,
        }
    }

    fn meant(&self, known: &[String]) -> Option<String> {
        let server = self.server.as_deref()?;
        if let Some((name, tool)) = split_name(server).filter(|(name, _)| known.iter().any(|known| known == name)) {
            return Some(command(self.verb, [name, tool].into_iter().chain(self.words.iter().map(String::as_str))));
        }
        // SERVER and TOOL the wrong way round.
        if let Some((first, rest)) = self.words.split_first().filter(|(first, _)| known.contains(first)) {
            let words = [first.as_str(), server].into_iter().chain(rest.iter().map(String::as_str));
            return Some(command(self.verb, words));
        }
        is_program(server).then(|| self.behind_dashes(server))
    }

    /// The words with the program that starts the server after `--`: TOOL is the last word before the arguments.
    fn behind_dashes(&self, program: &str) -> String {
        let is_argument = |word: &String| word.contains('=') || word.starts_with('-');
        let count = self.words.iter().position(is_argument).unwrap_or(self.words.len());
        let (before, arguments) = self.words.split_at(count);
        match before.split_last() {
            Some((tool, start)) if self.verb == "call" && !start.is_empty() => {
                let words = std::iter::once(tool).chain(arguments).map(String::as_str);
                let start = std::iter::once(program).chain(start.iter().map(String::as_str));
                command(self.verb, words.chain(["--"]).chain(start))
            }
            _ => command("tools", ["--", program].into_iter().chain(self.words.iter().map(String::as_str))),
        }
    }
}

/// `toolnexus VERB SERVER TOOL`, where SERVER is written as `SERVER.TOOL` or `SERVER/TOOL`.
pub(crate) fn joined_name(verb: &str, server: &ServerWord, rest: &[String]) -> Option<String> {
    let ServerWord::Named(name) = server else { return None };
    let (server, tool) = split_name(name)?;
    let words = [server, tool].into_iter().chain(rest.iter().map(|word| crate::commands::argv::unmarked(word)));
    Some(format!("did you mean `{}`?", command(verb, words)))
}

fn split_name(name: &str) -> Option<(&str, &str)> {
    name.split_once(['.', '/', ':']).filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

fn command<'a>(verb: &str, words: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.map(crate::output::shell_word).collect();
    format!("toolnexus {verb} {}", quoted.join(" "))
}

fn is_program(name: &str) -> bool {
    if name.contains("://") {
        return false;
    }
    if RUNNERS.contains(&name) || Path::new(name).components().count() > 1 {
        return true;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(verb: &'static str, server: &str, words: &[&str]) -> Option<String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Slip::new(verb, &ServerWord::Named(server.to_owned()), words.iter()).meant(&["forms".to_owned()])
    }

    #[test]
    fn what_was_meant_can_be_copied() {
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(meant("call", "forms.greet", &["name=a b"]), told("toolnexus call forms greet name='a b'"));
        assert_eq!(meant("tools", "forms/greet", &[]), told("toolnexus tools forms greet"));
        assert_eq!(meant("call", "echo", &["forms", "m=1"]), told("toolnexus call forms echo m=1"));
        let python = meant("call", "python", &["srv.py", "add", "a=1"]);
        assert_eq!(python, told("toolnexus call add a=1 -- python srv.py"));
        assert_eq!(meant("call", "npx", &["server"]), told("toolnexus tools -- npx server"));
        assert_eq!(meant("tools", "python", &["srv.py"]), told("toolnexus tools -- python srv.py"));
        assert_eq!(meant("call", "nothing-of-the-kind", &["x"]), None);
    }
}
