use std::fmt::Write as _;

use ring::digest::{Context, SHA256};

use super::ServerConfig;
use crate::transport::{Endpoint, HttpKind};

/// Words in a header's name that mean a credential: it may change without changing the server's identity.
const CREDENTIALS: [&str; 7] = ["auth", "token", "key", "secret", "cookie", "password", "session"];

impl ServerConfig {
    /// A hash that identifies a server, as hexadecimal digits: the program with its arguments, variables and folder; or
    /// the address with its headers, without the values of credentials. Time limits do not count.
    pub fn fingerprint(&self) -> String {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let mut part = |label: &str, bytes: &[u8]| {
            parts.push(label.as_bytes().to_vec());
            parts.push(bytes.to_vec());
        };
        match &self.endpoint {
            Endpoint::Stdio(stdio) => {
                part("command", stdio.command.as_bytes());
                stdio.args.iter().for_each(|arg| part("arg", arg.as_bytes()));
                for (name, value) in &stdio.env {
                    part("env", name.as_bytes());
                    part("value", value.as_bytes());
                }
                if let Some(cwd) = &stdio.cwd {
                    part("cwd", cwd.as_os_str().as_encoded_bytes());
                }
            }
            Endpoint::Http(http) => {
                part(if http.kind == HttpKind::Sse { "sse" } else { "url" }, http.url.as_str().as_bytes());
                for (name, value) in &http.headers {
                    let name = name.to_ascii_lowercase();
                    part("header", name.as_bytes());
                    if !CREDENTIALS.iter().any(|word| name.contains(word)) {
                        part("value", value.as_bytes());
                    }
                }
            }
        }
        digest(parts.iter().map(Vec::as_slice))
    }
}

/// SHA-256 of `parts`, each with its length, as hexadecimal digits.
pub(super) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    let mut digits = String::with_capacity(64);
    for byte in context.finish().as_ref() {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::config::{Environment, parse_value};

    fn fingerprint(entry: &Value) -> String {
        let config = parse_value(&json!({"t": entry}), &Environment::default()).expect("read");
        config.server("t").expect("a server").fingerprint()
    }

    #[test]
    fn it_says_which_server_it_is_and_no_more() {
        let base = json!({"command": "x", "args": ["a", "b"]});
        assert_eq!(
            fingerprint(&base),
            fingerprint(&json!({"command": ["x", "a", "b"], "timeout": 5, "maxMessage": 7}))
        );
        for other in [
            json!({"command": "x", "args": ["ab"]}),
            json!({"command": "x", "args": ["a", "b"], "env": {"A": "b"}}),
            json!({"command": "x", "args": ["a", "b"], "cwd": "/"}),
        ] {
            assert_ne!(fingerprint(&base), fingerprint(&other), "{other}");
        }
        let url = |headers: Value| fingerprint(&json!({"url": "http://a.example/mcp", "headers": headers}));
        assert_eq!(url(json!({"Authorization": "Bearer a"})), url(json!({"authorization": "Bearer b"})));
        assert_ne!(url(json!({"X-Tenant": "a"})), url(json!({"X-Tenant": "b"})));
        assert_ne!(url(json!({})), url(json!({"Authorization": "Bearer a"})));
    }
}
