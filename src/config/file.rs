use std::{cell::RefCell, collections::HashMap, path::Path};

use serde_json::Value;

use super::{
    Config, ConfigError, Content, Document, Environment, Member, Node,
    entry_reader::{self, File},
    expand::Scope,
    fingerprint::digest,
    inputs,
    near::near_misses,
};
use crate::transport::Endpoint;

/// The keys that may contain the servers, in order of precedence.
const ROOTS: [&str; 5] = ["mcpServers", "servers", "mcp.servers", "context_servers", "mcp"];
/// Keys of a bare map that are not entries.
const IGNORED: [&str; 4] = ["builtins", "agents", "a2a", "mcpServer"];
/// Keys of a bare map that are not entries, unless they contain an object.
const USUAL: [&str; 5] = ["$schema", "inputs", "name", "version", "description"];

/// Reads the text of a configuration file: relative paths start at `path`, which also appears in errors.
///
/// # Errors
/// [`ConfigError::Wrong`] if the file as a whole is not a configuration. An error in one entry stays in that entry.
pub fn parse(text: &str, path: Option<&Path>, environment: &Environment) -> Result<Config, ConfigError> {
    let mut config = Config { path: path.map(Path::to_owned), ..Config::default() };
    if let Some(path) = path {
        let absolute = environment.absolute(path);
        config.hash = digest([absolute.as_os_str().as_encoded_bytes(), text.as_bytes()]);
    }
    let wrong = |place, reason| ConfigError::Wrong { path: config.path.clone(), place, reason };
    let document = Document::parse(text).map_err(|error| wrong(Some(error.place), error.reason))?;
    let Some(root) = &document.root else { return Err(wrong(None, "the file is empty".to_owned())) };
    let scope = Scope::new(environment, path);
    let reads_braces = way_to_servers(root).is_some_and(|(way, _)| way == ["mcp"]);
    let file = File { document: &document, scope: &scope, config: &config, near: RefCell::default(), reads_braces };
    let (servers, mut warnings) = find_servers(&file, root)?;
    warnings.extend(file.repeated(servers, ""));
    let is_bare = std::ptr::eq(servers, root);
    let members = servers.members().unwrap_or_default();
    let last: HashMap<&str, usize> = members.iter().map(|member| (member.key.as_str(), member.at)).collect();
    let members = members.iter().filter(|member| last.get(member.key.as_str()) == Some(&member.at));
    let members: Vec<_> = members.filter(|member| !is_bare || is_entry(member)).collect();
    if is_bare && !members.is_empty() && members.iter().all(|member| member.value.members().is_none()) {
        let reason = "it has no servers: expected the key `mcpServers` with an object of servers";
        return Err(file.wrong(root.at, reason.to_owned()));
    }
    let entries = members.into_iter().map(|member| entry_reader::read(&file, member)).collect();
    config.servers = entries;
    config.inputs = inputs::read(root, config.path.as_deref());
    config.warnings = warnings;
    config.mask = scope.mask;
    for server in config.servers.iter().filter_map(|entry| entry.server.as_ref().ok()) {
        if let Endpoint::Http(http) = &server.endpoint {
            config.mask.hide_parts(&http.url);
        }
    }
    Ok(config)
}

/// Reads a configuration from a JSON value.
///
/// # Errors
/// As for [`parse`].
pub fn parse_value(value: &Value, environment: &Environment) -> Result<Config, ConfigError> {
    parse(&value.to_string(), None, environment)
}

/// The object whose members are the servers, and warnings about how it was found.
fn find_servers<'a>(file: &File<'_>, root: &'a Node) -> Result<(&'a Node, Vec<String>), ConfigError> {
    let Some(members) = root.members() else {
        let reason = format!("expected an object with the key `mcpServers`, not {}", root.describe());
        return Err(file.wrong(root.at, reason));
    };
    if let Some((way, servers)) = way_to_servers(root).filter(|(way, _)| !way.is_empty()) {
        let others = ROOTS.iter().filter(|key| **key != way[0]).filter_map(|key| root.member(key));
        let others = others.filter(|member| !is_server(&member.value));
        let warning = |other: &Member| {
            file.warning(other.at, &format!("`{}` is ignored, because there is `{}`", other.key, way[0]))
        };
        let warnings = others.map(warning).collect();
        if servers.members().is_none() {
            let key = way.last().copied().unwrap_or_default();
            let reason = format!("{key}: expected an object of servers, not {}", servers.describe());
            return Err(file.wrong(servers.at, reason));
        }
        return Ok((servers, warnings));
    }
    let holds_servers = |member: &&Member| {
        let inner = member.value.members().unwrap_or_default();
        !is_server(&member.value) && inner.iter().any(|inner| is_server(&inner.value))
    };
    for member in members.iter().filter(holds_servers) {
        if let Some(meant) = near_misses(&member.key, ["mcpServers", "servers", "mcp"]).first() {
            return Err(file.wrong(member.at, format!("unknown key {:?}: did you mean `{meant}`?", member.key)));
        }
    }
    Ok((root, Vec::new()))
}

/// The keys that lead to the servers, and the value there: no keys if the file is the bare map. `None` if the file has
/// no place for servers yet.
pub(super) fn way_to_servers(root: &Node) -> Option<(Vec<&'static str>, &Node)> {
    let found =
        ROOTS.iter().filter_map(|key| Some((*key, root.member(key)?))).find(|(_, member)| !is_server(&member.value));
    if let Some((key, first)) = found {
        // `{"mcp": {"servers": {…}}}`, as in an editor's settings.
        let inner = first.value.member("servers").filter(|inner| key == "mcp" && !is_server(&inner.value));
        return Some(inner.map_or((vec![key], &first.value), |inner| (vec![key, "servers"], &inner.value)));
    }
    root.members()?.iter().any(|member| is_entry(member) && is_server(&member.value)).then_some((Vec::new(), root))
}

/// Whether `node` is an entry itself, whatever its key.
pub(super) fn is_server(node: &Node) -> bool {
    ["command", "url", "serverUrl", "httpUrl"].iter().any(|key| {
        node.member(key).is_some_and(|member| matches!(member.value.content, Content::Text(_) | Content::List(_)))
    })
}

/// Whether a member of a bare map is an entry.
fn is_entry(member: &Member) -> bool {
    let key = member.key.as_str();
    !IGNORED.contains(&key) && (member.value.members().is_some() || !USUAL.contains(&key))
}

#[cfg(test)]
mod tests;
