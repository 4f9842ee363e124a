use std::{cell::RefCell, collections::HashMap, time::Duration};

use super::{
    Config, ConfigError, Content, Document, Member, Node, ServerConfig, ServerEntry, endpoint, expand::Scope, inputs,
    near::near_misses, oauth, others_keys,
};
use crate::{elicitation::Modes, protocol::ProtocolChoice};

/// The keys that an entry may have, in all accepted spellings.
pub(super) const KEYS: [&str; 27] = [
    "command",
    "args",
    "env",
    "environment",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "type",
    "transport",
    "transportType",
    "headers",
    "headersHelper",
    "oauth",
    "caFile",
    "insecure",
    "enabled",
    "disabled",
    "timeout",
    "callTimeout",
    "maxCallTime",
    "shutdownGrace",
    "maxMessage",
    "protocol",
    "elicitation",
    "keep",
    "description",
];

/// Keys whose text may contain variables.
const WITH_VARIABLES: [&str; 9] =
    ["command", "args", "env", "environment", "url", "serverUrl", "httpUrl", "headers", "cwd"];

/// Whether an entry may have this key.
fn is_known(key: &str) -> bool {
    KEYS.contains(&key) || others_keys::is_known(key)
}

/// No duration is longer than this, so that it can always be added to a time.
const MAX_TIME: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads one entry. An error in it does not affect the others.
pub(super) fn read(file: &File<'_>, member: &Member) -> ServerEntry {
    let mut reader = EntryReader { file, name: &member.key, node: &member.value, warnings: Vec::new() };
    reader.warn_of_keys();
    let enabled = reader.enabled();
    let server = enabled.clone().and_then(|_| reader.server());
    // If it is not clear whether an entry is switched on, it is not started: it becomes an error.
    ServerEntry {
        name: member.key.as_str().into(),
        enabled: enabled.unwrap_or(true),
        server,
        warnings: reader.warnings,
        file: file.config.path.clone(),
        line: file.document.place(member.at).line,
        hides: None,
        asks: inputs::named_in(&member.value),
    }
}

/// A file while it is being read.
pub(super) struct File<'a> {
    /// Its text.
    pub(super) document: &'a Document,
    /// For expanding its variables and paths.
    pub(super) scope: &'a Scope<'a>,
    /// Its path, for errors.
    pub(super) config: &'a Config,
    /// Known typing errors and the intended keys: the same mistake is often made in every entry.
    pub(super) near: RefCell<HashMap<String, Option<&'static str>>>,
    /// Whether `{env:VAR}` is a variable, as it is for servers under `mcp`.
    pub(super) reads_braces: bool,
}

impl File<'_> {
    /// The entry key that `key` was probably meant to be.
    fn near_key(&self, key: &str) -> Option<&'static str> {
        if let Some(near) = self.near.borrow().get(key) {
            return *near;
        }
        let near = near_misses(key, KEYS).first().copied();
        self.near.borrow_mut().insert(key.to_owned(), near);
        near
    }

    /// The error `reason` at a position in the file.
    pub(super) fn wrong(&self, at: usize, reason: String) -> ConfigError {
        let reason = self.scope.mask.apply(&reason).into_owned();
        ConfigError::Wrong { path: self.config.path.clone(), place: Some(self.document.place(at)), reason }
    }

    /// The warning `reason` at a position in the file, as `file:line:column: reason`.
    pub(super) fn warning(&self, at: usize, reason: &str) -> String {
        let place = self.document.place(at);
        let path = self.config.path.as_ref().map_or("configuration".into(), |path| path.display().to_string());
        format!("{path}:{}:{}: {}", place.line, place.column, self.scope.mask.apply(reason))
    }

    /// A warning for each duplicate key of `node`.
    pub(super) fn repeated(&self, node: &Node, within: &str) -> Vec<String> {
        let warning = |(first, second): (&Member, &Member)| {
            let first = self.document.place(first.at);
            let reason = format!(
                "{within}the key {:?} is also at line {} column {}; this one is used",
                second.key, first.line, first.column
            );
            self.warning(second.at, &reason)
        };
        node.repeated().into_iter().map(warning).collect()
    }
}

/// One entry while it is being read.
pub(super) struct EntryReader<'a> {
    pub(super) file: &'a File<'a>,
    name: &'a str,
    node: &'a Node,
    warnings: Vec<String>,
}

impl<'a> EntryReader<'a> {
    fn server(&mut self) -> Result<ServerConfig, ConfigError> {
        if self.node.members().is_none() {
            let reason = format!("expected an object with `command` or `url`, not {}", self.node.describe());
            return Err(self.wrong(self.node.at, &reason));
        }
        let mut server = ServerConfig::at(endpoint::read(self)?);
        server.auth = oauth::read(self)?;
        server.timeout = self.milliseconds("timeout")?;
        server.call_timeout = self.milliseconds("callTimeout")?;
        server.max_call_time = self.milliseconds("maxCallTime")?;
        server.shutdown_grace = self.milliseconds("shutdownGrace")?;
        if let Some(member) = self.first(&["maxMessage"]) {
            server.max_message = match &member.value.content {
                Content::Number(number) => number.as_u64().filter(|bytes| *bytes > 0),
                _ => None,
            }
            .ok_or_else(|| self.expected(member, "a number of bytes"))?;
        }
        if let Some(member) = self.first(&["protocol"]) {
            server.protocol = ProtocolChoice::parse(&self.text(member)?)
                .ok_or_else(|| self.expected(member, &format!("one of {}", ProtocolChoice::known())))?;
        }
        if let Some(member) = self.first(&["elicitation"]) {
            server.modes = match member.value.text() {
                Some("plain") => Modes::PLAIN,
                Some("full") => Modes::ALL,
                _ => return Err(self.expected(member, "\"plain\" or \"full\"")),
            };
        }
        if let Some(member) = self.first(&["keep"]) {
            server.keep = match (&member.value.content, member.value.text()) {
                (Content::Bool(keep), _) => keep.then_some(ServerConfig::KEEP_FOR),
                (_, Some(text)) => Some(
                    super::parse_span(text)
                        .ok_or_else(|| self.expected(member, "true, false, or a time such as \"15m\" or \"8h\""))?,
                ),
                _ => return Err(self.expected(member, "true, false, or a time such as \"15m\" or \"8h\"")),
            };
        }
        Ok(server)
    }

    /// Whether the entry is switched on. A misspelled `enabled` or `disabled` is an error: a server that was meant to
    /// be off must not start.
    fn enabled(&mut self) -> Result<bool, ConfigError> {
        for member in self.node.members().unwrap_or_default() {
            if is_known(&member.key) {
                continue;
            }
            if let Some(near @ ("enabled" | "disabled")) = self.file.near_key(&member.key) {
                return Err(self.wrong(member.at, &format!("unknown key {:?}: did you mean `{near}`?", member.key)));
            }
        }
        let mut is_on = true;
        for (key, on) in [("enabled", true), ("disabled", false)] {
            if let Some(member) = self.first(&[key]) {
                let flag = self.flag(member)?;
                is_on &= flag == on;
            }
        }
        Ok(is_on)
    }

    fn warn_of_keys(&mut self) {
        let within = format!("server {:?}: ", self.name);
        self.warnings.extend(self.file.repeated(self.node, &within));
        for key in ["env", "environment", "headers"] {
            if let Some(member) = self.node.member(key) {
                self.warnings.extend(self.file.repeated(&member.value, &format!("{within}{key}: ")));
            }
        }
        let has_url = ["url", "serverUrl", "httpUrl"].iter().any(|key| self.node.member(key).is_some());
        for member in self.node.members().unwrap_or_default() {
            if is_known(&member.key) {
                continue;
            }
            let reason = if let Some(near) = self.file.near_key(&member.key) {
                format!("unknown key {:?}: did you mean `{near}`?", member.key)
            } else if let Some(instead) = others_keys::instead(&member.key, has_url) {
                format!("`{}` is not supported; {instead}", member.key)
            } else {
                continue;
            };
            self.warn(member.at, &reason);
        }
        for key in WITH_VARIABLES {
            let Some(member) = self.node.member(key).filter(|_| !self.file.reads_braces) else { continue };
            if let Some(name) = others_keys::braced_variable(&member.value) {
                let reason =
                    format!("{key}: `{{env:{name}}}` is sent as written; write `${{{name}}}` for the variable");
                self.warn(member.at, &reason);
            }
        }
    }

    /// A warning about a position in this entry.
    pub(super) fn warn(&mut self, at: usize, reason: &str) {
        let reason = format!("server {:?}: {reason}", self.name);
        self.warnings.push(self.file.warning(at, &reason));
    }

    /// All members of the entry.
    pub(super) fn members(&self) -> &'a [Member] {
        self.node.members().unwrap_or_default()
    }

    /// The first of `keys` that the entry has and that is not `null`. A second one causes a warning.
    pub(super) fn first(&mut self, keys: &[&str]) -> Option<&'a Member> {
        let node: &'a Node = self.node;
        let is_there = |key: &&str| node.member(key).filter(|member| member.value.content != Content::Null);
        let mut found = keys.iter().filter_map(is_there);
        let first = found.next()?;
        for other in found {
            let reason =
                format!("server {:?}: `{}` is ignored, because there is `{}`", self.name, other.key, first.key);
            self.warnings.push(self.file.warning(other.at, &reason));
        }
        Some(first)
    }

    /// The entry's key that is probably a misspelling of one of `wanted`.
    pub(super) fn misspelled(&self, wanted: &[&'static str]) -> Option<(&'a Member, &'static str)> {
        let unknown = self.node.members()?.iter().filter(|member| !is_known(&member.key));
        unknown
            .into_iter()
            .find_map(|member| Some((member, *near_misses(&member.key, wanted.iter().copied()).first()?)))
    }

    /// The error `reason`, with the entry's name.
    pub(super) fn wrong(&self, at: usize, reason: &str) -> ConfigError {
        self.file.wrong(at, format!("server {:?}: {reason}", self.name))
    }

    /// The position of the entry.
    pub(super) fn at(&self) -> usize {
        self.node.at
    }

    /// The error for a member whose value has the wrong type.
    pub(super) fn expected(&self, member: &Member, what: &str) -> ConfigError {
        self.expected_in(&member.key, &member.value, what)
    }

    /// The error for a value under `key` that has the wrong type.
    pub(super) fn expected_in(&self, key: &str, node: &Node, what: &str) -> ConfigError {
        self.wrong(node.at, &format!("{key}: expected {what}, not {}", node.describe()))
    }

    /// A string with its variables expanded.
    pub(super) fn text(&self, member: &Member) -> Result<String, ConfigError> {
        self.text_in(&member.key, &member.value)
    }

    /// The string `node` under `key`, with its variables expanded. Numbers and booleans are taken as written.
    pub(super) fn text_in(&self, key: &str, node: &Node) -> Result<String, ConfigError> {
        let text = match &node.content {
            Content::Text(text) => text.clone(),
            Content::Number(number) => number.to_string(),
            Content::Bool(flag) => flag.to_string(),
            _ => return Err(self.expected_in(key, node, "a string")),
        };
        let text = if self.file.reads_braces { others_keys::braces(&text) } else { text };
        self.expanded(key, node, &text)
    }

    /// `text`, the value of the node under `key`, with its variables expanded.
    pub(super) fn expanded(&self, key: &str, node: &Node, text: &str) -> Result<String, ConfigError> {
        self.file.scope.expand(text).map_err(|reason| ConfigError::Variable {
            path: self.file.config.path.clone(),
            place: self.file.document.place(node.at),
            reason: format!("server {:?}: {key}: {reason}", self.name),
        })
    }

    /// `result`, with its reason turned into an error at `node`.
    pub(super) fn checked<T>(&self, key: &str, node: &Node, result: Result<T, String>) -> Result<T, ConfigError> {
        result.map_err(|reason| self.wrong(node.at, &format!("{key}: {reason}")))
    }

    /// An object of strings, in order. Of duplicate keys, the last one counts.
    pub(super) fn texts(&self, member: &Member) -> Result<Vec<(String, String)>, ConfigError> {
        let members = member.value.members().ok_or_else(|| self.expected(member, "an object with string values"))?;
        let is_last = |inner: &&Member| member.value.member(&inner.key).is_some_and(|last| last.at == inner.at);
        let pair = |inner: &Member| {
            let key = format!("{}.{}", member.key, inner.key);
            Ok((inner.key.clone(), self.text_in(&key, &inner.value)?))
        };
        members.iter().filter(is_last).map(pair).collect()
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, member: &Member) -> Result<bool, ConfigError> {
        match member.value.content {
            Content::Bool(flag) => Ok(flag),
            _ => Err(self.expected(member, "true or false")),
        }
    }

    fn milliseconds(&mut self, key: &str) -> Result<Option<Duration>, ConfigError> {
        let Some(member) = self.first(&[key]) else { return Ok(None) };
        let milliseconds = match &member.value.content {
            Content::Number(number) => number.as_f64().filter(|number| number.is_finite() && *number > 0.0),
            _ => None,
        };
        let milliseconds =
            milliseconds.ok_or_else(|| self.expected(member, "a number of milliseconds greater than 0"))?;
        Ok(Some(Duration::try_from_secs_f64(milliseconds / 1000.0).map_or(MAX_TIME, |time| time.min(MAX_TIME))))
    }
}
