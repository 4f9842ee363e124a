use super::{ConfigError, Content, Member, Node, endpoint::check_header, entry_reader::EntryReader, near::plain};
use crate::transport::HttpEndpoint;

/// Keys under which other clients keep headers, and that mean nothing else; spelled as [`plain`] writes them.
const HEADERS: [&str; 3] = ["httpheaders", "customheaders", "extraheaders"];
/// Keys whose value is a token.
const TOKENS: [&str; 2] = ["bearertoken", "authorizationtoken"];
/// Keys whose value names a variable with a token.
const VARIABLES: [&str; 2] = ["bearertokenenvvar", "bearertokenenv"];
/// Keys whose value may be a token, or something else.
const UNCLEAR: [&str; 12] = [
    "apikey",
    "apitoken",
    "token",
    "accesstoken",
    "authtoken",
    "authorization",
    "bearer",
    "credentials",
    "username",
    "password",
    "basicauth",
    "eventsourceinit",
];
/// Keys that belong in `oauth`.
const OF_OAUTH: [(&str, &str); 5] = [
    ("clientid", "clientId"),
    ("clientsecret", "clientSecret"),
    ("scopes", "scopes"),
    ("scope", "scopes"),
    ("callbackport", "redirectPort"),
];

/// Whether `key` is used by other clients, and accepted here too.
pub(super) fn is_known(key: &str) -> bool {
    let key = plain(key);
    let key = key.as_str();
    matches!(key, "envhttpheaders" | "requestinit" | "auth")
        || [&HEADERS[..], &TOKENS, &VARIABLES].iter().any(|keys| keys.contains(&key))
}

/// What to write instead of `key`, which other clients understand, but which is not accepted here.
pub(super) fn instead(key: &str, has_url: bool) -> Option<String> {
    let plain = plain(key);
    if plain == "envfile" {
        return Some("put the variables under `env`".to_owned());
    }
    if let Some((_, ours)) = OF_OAUTH.iter().find(|(theirs, _)| *theirs == plain).filter(|_| has_url) {
        return Some(format!("write it as `oauth`: {{\"{ours}\": …}}"));
    }
    if !UNCLEAR.contains(&plain.as_str()) {
        return None;
    }
    let instead = if has_url {
        "write `headers`: {\"Authorization\": \"Bearer ${VARIABLE}\"}, or the header that the server wants"
    } else {
        "put it under `env`, with the name that the program reads"
    };
    Some(instead.to_owned())
}

/// Adds the headers that the entry has under other clients' keys. Those under `headers` take precedence.
pub(super) fn add_headers(reader: &mut EntryReader<'_>, endpoint: &mut HttpEndpoint) -> Result<(), ConfigError> {
    for member in reader.members() {
        if member.value.content == Content::Null {
            continue;
        }
        let key = plain(&member.key);
        let found = match key.as_str() {
            "requestinit" => request_init(reader, member)?,
            "envhttpheaders" => from_variables(reader, member)?,
            "auth" => authorization(reader, member)?.map(bearer).into_iter().collect(),
            key if HEADERS.contains(&key) => reader.texts(member)?,
            key if TOKENS.contains(&key) => vec![bearer(reader.text(member)?)],
            key if VARIABLES.contains(&key) => vec![bearer(variable(reader, &member.key, &member.value)?)],
            _ => continue,
        };
        for (name, value) in found {
            reader.checked(&member.key, &member.value, check_header(&name, &value))?;
            if endpoint.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                reader.warn(member.at, &format!("{name} in `{}` is ignored, because of the one above", member.key));
            } else {
                endpoint.headers.push((name, value));
            }
        }
    }
    Ok(())
}

fn bearer(token: String) -> (String, String) {
    let has_scheme = token.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer "));
    ("Authorization".to_owned(), if has_scheme { token } else { format!("Bearer {token}") })
}

/// The value of the variable that `node` names.
fn variable(reader: &EntryReader<'_>, key: &str, node: &Node) -> Result<String, ConfigError> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match node.text() {
        Some(name) if !name.is_empty() && name.chars().all(is_name) => {
            reader.expanded(key, node, &format!("${{{name}}}"))
        }
        _ => Err(reader.expected_in(key, node, "the name of a variable")),
    }
}

/// `{"X-Key": "VARIABLE"}`.
fn from_variables(reader: &EntryReader<'_>, member: &Member) -> Result<Vec<(String, String)>, ConfigError> {
    let members = member.value.members().ok_or_else(|| reader.expected(member, "an object of variables' names"))?;
    let pair = |inner: &Member| {
        let key = format!("{}.{}", member.key, inner.key);
        Ok((inner.key.clone(), variable(reader, &key, &inner.value)?))
    };
    members.iter().map(pair).collect()
}

/// `{"headers": {…}}`, as in the TypeScript SDK.
fn request_init(reader: &mut EntryReader<'_>, member: &Member) -> Result<Vec<(String, String)>, ConfigError> {
    let members = member.value.members().ok_or_else(|| reader.expected(member, "an object with `headers`"))?;
    let mut headers = Vec::new();
    for inner in members {
        match inner.key.as_str() {
            _ if inner.value.content == Content::Null => {}
            "headers" => headers = reader.texts(inner)?,
            other => reader.warn(inner.at, &format!("`{}.{other}` is ignored", member.key)),
        }
    }
    Ok(headers)
}

/// The token in `auth`: the string itself, or `{"type": "bearer", "token": …}`. `"oauth"` is the default behaviour.
fn authorization(reader: &mut EntryReader<'_>, member: &Member) -> Result<Option<String>, ConfigError> {
    let word = |text: &str| matches!(plain(text).as_str(), "oauth" | "oauth2" | "none" | "auto" | "");
    match &member.value.content {
        Content::Bool(false) => return Ok(None),
        Content::Text(text) if word(text) => return Ok(None),
        Content::Text(_) => return reader.text(member).map(Some),
        Content::Object(_) if super::oauth::stands_in(member) => return Ok(None),
        _ => {}
    }
    let inner = |key: &str| member.value.member(key);
    let kind = inner("type").and_then(|kind| kind.value.text()).map(plain).unwrap_or_default();
    if word(&kind) && !kind.is_empty() {
        return Ok(None);
    }
    if let Some(token) = inner("token").filter(|_| matches!(kind.as_str(), "bearer" | "bearertoken")) {
        return reader.text_in("auth.token", &token.value).map(Some);
    }
    let write = "write `headers`: {\"Authorization\": …}, or `oauth`";
    reader.warn(member.at, &format!("`auth` is not supported in this form; {write}"));
    Ok(None)
}

/// `text` with `{env:NAME}` as `${NAME}`.
pub(super) fn braces(text: &str) -> String {
    let mut ours = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, name, after)) = brace(rest) {
        ours.push_str(&format!("{before}${{{name}}}"));
        rest = after;
    }
    ours + rest
}

/// The variable in the first `{env:NAME}` in any string inside `node`.
pub(super) fn braced_variable(node: &Node) -> Option<&str> {
    match &node.content {
        Content::Text(text) => brace(text).map(|(_, name, _)| name),
        Content::List(nodes) => nodes.iter().find_map(braced_variable),
        Content::Object(members) => members.iter().find_map(|member| braced_variable(&member.value)),
        _ => None,
    }
}

/// The text before, inside, and after the first `{env:NAME}`. `${env:NAME}` is another syntax.
fn brace(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("{env:") {
        let start = from + found;
        let inside = &text[start + 5..];
        let end = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inside.len());
        if end > 0 && inside[end..].starts_with('}') && !text[..start].ends_with('$') {
            return Some((&text[..start], &inside[..end], &inside[end + 1..]));
        }
        from = start + 5;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_variables_where_they_name_one() {
        for (text, expected) in [
            ("Bearer {env:TOK}!{env:B}", "Bearer ${TOK}!${B}"),
            ("${env:TOK} {env:} {env:a b} {env:x", "${env:TOK} {env:} {env:a b} {env:x"),
            ("{env:{env:A}}", "{env:${A}}"),
        ] {
            assert_eq!(braces(text), expected, "{text}");
        }
    }

    #[test]
    fn what_to_write_is_said() {
        assert!(instead("apiKey", true).is_some_and(|words| words.contains("Authorization")));
        assert!(instead("api_key", false).is_some_and(|words| words.contains("`env`")));
        assert!(instead("client_id", true).is_some_and(|words| words.contains("clientId")));
        assert!(instead("description", true).is_none() && instead("clientId", false).is_none());
    }
}
