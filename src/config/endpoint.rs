use super::{ConfigError, Member, entry_reader::EntryReader, near::plain, others_keys};
use crate::transport::{Endpoint, HttpEndpoint, HttpKind, StdioEndpoint};

const URL: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// How an entry says that its server is reached.
#[derive(Clone, Copy, PartialEq)]
enum EndpointKind {
    Stdio,
    Http(HttpKind),
}

/// Reads the entry's endpoint.
pub(super) fn read(reader: &mut EntryReader<'_>) -> Result<Endpoint, ConfigError> {
    let kind = kind(reader)?;
    let (command, url) = (reader.first(&["command"]), reader.first(&URL));
    match (kind, command, url) {
        (None | Some((_, EndpointKind::Stdio)), Some(command), None)
        | (Some((_, EndpointKind::Stdio)), Some(command), Some(_)) => stdio(reader, command).map(Endpoint::Stdio),
        (None, None, Some(url)) => http(reader, url, HttpKind::Auto).map(Endpoint::Http),
        (Some((_, EndpointKind::Http(kind))), _, Some(url)) => http(reader, url, kind).map(Endpoint::Http),
        (None, Some(_), Some(url)) => {
            let reason = format!("has both `command` and `{}`; add `type` to say which one is used", url.key);
            Err(reader.wrong(url.at, &reason))
        }
        (_, _, None) | (Some((_, EndpointKind::Stdio)), None, _) => Err(missing(reader, kind)),
    }
}

fn missing(reader: &EntryReader<'_>, kind: Option<(&Member, EndpointKind)>) -> ConfigError {
    let wanted: &[&'static str] = match kind {
        Some((_, EndpointKind::Stdio)) => &["command"],
        Some((_, EndpointKind::Http(_))) => &URL,
        None => &["command", "url", "serverUrl", "httpUrl"],
    };
    if let Some((member, meant)) = reader.misspelled(wanted) {
        return reader.wrong(member.at, &format!("unknown key {:?}: did you mean `{meant}`?", member.key));
    }
    match kind {
        Some((member, EndpointKind::Stdio)) => {
            reader.wrong(member.at, &format!("`{}` is stdio, which needs `command`", member.key))
        }
        Some((member, EndpointKind::Http(_))) => {
            reader.wrong(member.at, &format!("`{}` is a web address, which needs `url`", member.key))
        }
        None => reader.wrong(reader.at(), "needs `command` (a program to start) or `url` (a web address)"),
    }
}

fn kind<'a>(reader: &mut EntryReader<'a>) -> Result<Option<(&'a Member, EndpointKind)>, ConfigError> {
    let Some(member) = reader.first(&["type", "transport", "transportType"]) else { return Ok(None) };
    let kind = match plain(&reader.text(member)?).as_str() {
        "stdio" | "local" | "command" | "process" => EndpointKind::Stdio,
        "http" | "https" | "streamable" | "streamablehttp" | "httpstream" | "remote" | "url" => {
            EndpointKind::Http(HttpKind::Auto)
        }
        "sse" | "httpsse" | "http+sse" => EndpointKind::Http(HttpKind::Sse),
        _ => return Err(reader.expected(member, "\"stdio\", \"http\" or \"sse\"")),
    };
    Ok(Some((member, kind)))
}

fn stdio(reader: &mut EntryReader<'_>, command: &Member) -> Result<StdioEndpoint, ConfigError> {
    let mut words = match command.value.elements() {
        Some(nodes) => nodes.iter().map(|node| reader.text_in("command", node)).collect::<Result<Vec<_>, _>>()?,
        None if command.value.text().is_some() => vec![reader.text(command)?],
        None => return Err(reader.expected(command, "a string, or a list of strings")),
    };
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(reader.wrong(command.value.at, "command: is empty"));
    }
    let program = reader.checked("command", &command.value, reader.file.scope.program(&words.remove(0)))?;
    if let Some(args) = reader.first(&["args"]) {
        let nodes = args.value.elements().ok_or_else(|| reader.expected(args, "a list of strings"))?;
        for (index, node) in nodes.iter().enumerate() {
            words.push(reader.text_in(&format!("args[{index}]"), node)?);
        }
    }
    let env = reader.first(&["env", "environment"]).map(|member| reader.texts(member)).transpose()?.unwrap_or_default();
    let cwd = match reader.first(&["cwd"]) {
        Some(member) => Some(reader.checked("cwd", &member.value, reader.file.scope.path(&reader.text(member)?))?),
        None => None,
    };
    Ok(StdioEndpoint { command: program, args: words, env, cwd })
}

fn http(reader: &mut EntryReader<'_>, url: &Member, kind: HttpKind) -> Result<HttpEndpoint, ConfigError> {
    if url.value.text().is_none() {
        return Err(reader.expected(url, "a string"));
    }
    let address = reader.checked(&url.key, &url.value, web_address(&reader.text(url)?))?;
    // A value with a slash ends the host early: still, no part of it may be shown.
    let written = url.value.text().and_then(|text| text.split_once("://")).map_or("", |(_, rest)| rest);
    let authority = written.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some(host) = address.host_str().filter(|_| authority.contains("${")) {
        reader.file.scope.mask.hide(host, authority.rsplit('@').next().unwrap_or_default());
    }
    let mut endpoint = HttpEndpoint { url: address, headers: Vec::new(), kind, ca_file: None, insecure: false };
    if let Some(member) = reader.first(&["headers"]) {
        endpoint.headers = reader.texts(member)?;
        for (name, value) in &endpoint.headers {
            reader.checked(&format!("headers.{name}"), &member.value, check_header(name, value))?;
        }
    }
    others_keys::add_headers(reader, &mut endpoint)?;
    if let Some(member) = reader.first(&["caFile"]) {
        endpoint.ca_file =
            Some(reader.checked("caFile", &member.value, reader.file.scope.path(&reader.text(member)?))?);
    }
    if let Some(member) = reader.first(&["insecure"]) {
        endpoint.insecure = reader.flag(member)?;
    }
    Ok(endpoint)
}

/// `text` as a web address, or why it is not one.
pub(super) fn web_address(text: &str) -> Result<url::Url, String> {
    let url = url::Url::parse(text.trim()).map_err(|error| format!("{text:?} is not a web address: {error}"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("{text:?} begins with `{other}:`; only http and https are supported")),
    }
}

/// Whether a header can be sent. The reason never contains its value.
pub(super) fn check_header(name: &str, value: &str) -> Result<(), String> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        return Err(format!("{name:?} is not a valid header name"));
    }
    match value.chars().find(|c| c.is_control() && *c != '\t') {
        Some('\n' | '\r') => Err("the value contains a line break".to_owned()),
        Some(_) => Err("the value contains a control character".to_owned()),
        None => Ok(()),
    }
}
