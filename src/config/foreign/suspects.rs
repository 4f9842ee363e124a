use serde_json::{Map, Value};

use crate::form::names_secret;

/// Prefixes of well-known kinds of tokens.
const BEGINNINGS: [&str; 20] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "hf_",
    "npm_",
    "pypi-",
    "eyJ",
];

/// The places in `entry` that seem to contain a secret as plain text, not as a variable: `env.TOKEN`,
/// `headers.X-Api-Key`, `args[2]`, `url`.
pub fn suspects(entry: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in entry {
        match (key.as_str(), value) {
            ("env" | "environment" | "headers", Value::Object(members)) => {
                let is_suspect = |name: &str, text: &str| {
                    is_plain(text) && (names_secret(name) || is_credential(name) || begins_like_one(text))
                };
                let suspects =
                    members.iter().filter(|(name, value)| value.as_str().is_some_and(|text| is_suspect(name, text)));
                found.extend(suspects.map(|(name, _)| format!("{key}.{name}")));
            }
            ("args" | "command", Value::Array(words)) => found.extend(suspect_words(key, words)),
            ("url" | "serverUrl" | "httpUrl", Value::String(text)) if is_suspect_url(text) => found.push(key.clone()),
            ("oauth", Value::Object(members)) => {
                let secret = members.get("clientSecret").and_then(Value::as_str);
                found.extend(secret.filter(|text| is_plain(text)).map(|_| "oauth.clientSecret".to_owned()));
            }
            _ => {}
        }
    }
    found
}

/// `--api-key X`, `--api-key=X`, and words that begin like tokens.
fn suspect_words(key: &str, words: &[Value]) -> Vec<String> {
    let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap_or_default()).collect();
    let is_suspect = |(index, word): (usize, &&str)| {
        let (name, value) = word.split_once('=').unwrap_or(("", word));
        let before = index.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
        let by_name = |name: &str| name.starts_with('-') && names_secret(name.trim_start_matches('-'));
        let is_named = by_name(name) || (name.is_empty() && by_name(before) && !word.starts_with('-'));
        (is_plain(value) && (is_named || begins_like_one(value))).then(|| format!("{key}[{index}]"))
    };
    words.iter().enumerate().filter_map(is_suspect).collect()
}

/// User info, or a query parameter whose name means a secret.
fn is_suspect_url(text: &str) -> bool {
    let Ok(url) = url::Url::parse(text) else { return false };
    let has_secret = url.query_pairs().any(|(name, value)| names_secret(&name) && is_plain(&value));
    has_secret
        || url.password().is_some_and(is_plain)
        || url.path_segments().is_some_and(|mut parts| parts.any(begins_like_one))
}

fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "authorization" || name == "cookie" || name == "proxy-authorization" || name.ends_with("api-key")
}

fn begins_like_one(text: &str) -> bool {
    let word = text.rsplit(' ').next().unwrap_or_default();
    word.len() >= 16 && BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
}

/// Whether the value is literal, not a variable.
fn is_plain(text: &str) -> bool {
    let is_placeholder = text.starts_with('<') && text.ends_with('>');
    !text.is_empty() && !text.replace("$${", "").contains("${") && !text.contains("{file:") && !is_placeholder
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_suspected_where_they_stand() {
        let entry = json!({
            "command": "npx", "args": ["-y", "x", "--api-key", "abc", "--token=abc", "--keyboard", "us", "ghp_0123456789abcdef"],
            "env": {"GITHUB_TOKEN": "abc", "OTHER_TOKEN": "${OTHER_TOKEN}", "MODE": "fast", "X": "sk-0123456789abcdef", "PASSWORD": ""},
            "headers": {"Authorization": "Bearer abc", "X-Team": "core", "X-Api-Key": "Key ${KEY}"},
            "url": "https://h.example/mcp?api_key=abc", "oauth": {"clientId": "a", "clientSecret": "b"},
        });
        let expected = [
            "args[3]",
            "args[4]",
            "args[7]",
            "env.GITHUB_TOKEN",
            "env.X",
            "headers.Authorization",
            "url",
            "oauth.clientSecret",
        ];
        assert_eq!(suspects(entry.as_object().expect("an object")), expected);
        let clean = json!({"url": "https://h.example/mcp?limit=2", "env": {"TOKEN": "<your token>"}});
        assert!(suspects(clean.as_object().expect("an object")).is_empty());
    }
}
