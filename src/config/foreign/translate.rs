use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use crate::config::{Content, Node, entry_reader::KEYS};

/// The result of translating another client's entry.
pub(super) enum Translation {
    /// The entry in our format, and what was lost on the way.
    Entry(Map<String, Value>, Vec<String>),
    /// Nothing, and why.
    None(String),
}

/// Keys about what a client may do with a server's tools, or how it shows them: they do not matter here.
const THEIRS: [&str; 30] = [
    "alwaysAllow",
    "autoApprove",
    "trust",
    "includeTools",
    "excludeTools",
    "disabledTools",
    "enabledTools",
    "enabled_tools",
    "disabled_tools",
    "available_tools",
    "allowedTools",
    "tools",
    "required",
    "gallery",
    "version",
    "name",
    "bundled",
    "display_name",
    "displayName",
    "source",
    "settings",
    "dev",
    "icon",
    "iconPath",
    "capabilities",
    "default_tools_approval_mode",
    "env_vars",
    "env_keys",
    "remote",
    "alwaysLoad",
];

/// Reads an entry in the terms of `dialect`.
pub(super) fn translate(entry: &Node, dialect: Dialect) -> Translation {
    // Goose's settings used to be one level deeper, except for `enabled`.
    let inner = entry.member("config").filter(|inner| dialect == Dialect::Goose && inner.value.members().is_some());
    let entry_of = inner.map_or(entry, |inner| &inner.value);
    let Some(members) = entry_of.members() else {
        return Translation::None(format!("it is {}, not an object", entry.describe()));
    };
    if let Some(reason) = unreachable(entry_of, dialect) {
        return Translation::None(reason);
    }
    let mut taken = ForeignEntry { dialect, entry: Map::new(), notes: Vec::new(), left_out: Vec::new() };
    for member in members {
        taken.take(&member.key, &member.value);
    }
    if let Some(enabled) = inner.and_then(|_| entry.member("enabled")) {
        taken.take("enabled", &enabled.value);
    }
    taken.done()
}

/// Why an entry is not a server that can be started or reached from here.
fn unreachable(entry: &Node, dialect: Dialect) -> Option<String> {
    let kind = entry.member("type").and_then(|kind| kind.value.text()).unwrap_or_default();
    let has = |key: &str| entry.member(key).is_some();
    match dialect {
        Dialect::Goose if !matches!(kind, "stdio" | "sse" | "streamable_http") => {
            Some(format!("it is of the type {kind:?}, which is built into Goose"))
        }
        Dialect::Zed if !has("command") && !has("url") => Some("its program comes with a Zed extension".to_owned()),
        Dialect::Gemini if has("tcp") && !has("command") && !has("url") && !has("httpUrl") => {
            Some("it uses a web socket, which is not supported".to_owned())
        }
        _ => None,
    }
}

/// An entry while it is being translated.
struct ForeignEntry {
    dialect: Dialect,
    entry: Map<String, Value>,
    notes: Vec<String>,
    left_out: Vec<String>,
}

impl ForeignEntry {
    fn take(&mut self, key: &str, value: &Node) {
        if value.content == Content::Null {
            return;
        }
        match (self.dialect, key) {
            (Dialect::Codex, "http_headers") | (Dialect::Goose, "headers") => self.merge("headers", value),
            (Dialect::Codex, "env_http_headers") => self.merge_variables("headers", value),
            (Dialect::Codex, "bearer_token_env_var") => {
                let token = format!("Bearer ${{{}}}", value.text().unwrap_or_default());
                self.put_in("headers", "Authorization", json!(token));
            }
            (Dialect::Codex, "startup_timeout_sec") => self.start_limit(value, 1000.0),
            (Dialect::Codex, "startup_timeout_ms") | (Dialect::OpenCode, "timeout") => self.start_limit(value, 1.0),
            (Dialect::Codex, "tool_timeout_sec") | (Dialect::Cline | Dialect::Goose | Dialect::Zed, "timeout") => {
                self.set("callTimeout", milliseconds(value, 1000.0));
            }
            (Dialect::Codex, "scopes") => self.put_in("oauth", "scopes", value.to_value()),
            (Dialect::Gemini, "timeout") => self.set("callTimeout", milliseconds(value, 1.0)),
            (Dialect::OpenCode, "environment") | (Dialect::Goose, "envs") => self.merge("env", value),
            (Dialect::OpenCode | Dialect::Codex, "type") => {}
            // If both transports are possible, the server itself says which one it uses.
            (Dialect::Gemini, "type") if value.text() != Some("sse") => {}
            (Dialect::Goose, "type") => {
                if value.text() == Some("sse") {
                    self.set("type", json!("sse"));
                }
            }
            (Dialect::Goose, "cmd") => self.set("command", self.text(value)),
            (Dialect::Goose, "uri") => self.set("url", self.text(value)),
            // Goose keeps these in the keyring, and passes them to the server under the same names.
            (Dialect::Goose, "env_keys") => self.named_variables(value),
            (Dialect::Zed, "command") if value.members().is_some() => self.program(value),
            (_, "auth") if value.members().is_some() => self.oauth(value),
            (_, "oauth" | "oauthConfig") => self.oauth(value),
            (_, "env" | "headers") => self.merge(key, value),
            (_, key) if KEYS.contains(&key) => self.set(key, self.text(value)),
            (_, key) if THEIRS.contains(&key) || key.starts_with("sandbox") => {}
            (_, key) => self.left_out.push(format!("`{key}`")),
        }
    }

    /// The complete entry, with its keys in the usual order.
    fn done(mut self) -> Translation {
        if !self.left_out.is_empty() {
            self.notes.push(format!("left out: {}", self.left_out.join(", ")));
        }
        let texts = Value::Object(self.entry.clone()).to_string();
        if self.dialect == Dialect::OpenCode && texts.contains("{file:") {
            self.notes.push("`{file:…}` is not supported; put the value in a variable".to_owned());
        }
        let mut ordered = Map::new();
        // Default values are not written.
        let says_nothing = [("enabled", json!(true)), ("disabled", json!(false)), ("description", json!(""))];
        self.entry.retain(|key, value| !says_nothing.iter().any(|(it, nothing)| it == key && nothing == value));
        for key in KEYS {
            ordered.extend(self.entry.remove(key).map(|value| (key.to_owned(), value)));
        }
        Translation::Entry(ordered, self.notes)
    }

    fn set(&mut self, key: &str, value: Value) {
        self.entry.insert(key.to_owned(), value);
    }

    fn put_in(&mut self, key: &str, inner: &str, value: Value) {
        let object = self.entry.entry(key).or_insert_with(|| json!({}));
        if let Value::Object(object) = object {
            object.insert(inner.to_owned(), value);
        }
    }

    /// A value, with the variables in all its strings in our syntax.
    fn text(&self, value: &Node) -> Value {
        translated(value.to_value(), self.dialect)
    }

    /// Adds the members of `value` to the existing ones.
    fn merge(&mut self, key: &str, value: &Node) {
        let Value::Object(members) = self.text(value) else { return self.set(key, value.to_value()) };
        for (name, value) in members {
            self.put_in(key, &name, value);
        }
    }

    /// An object whose values are the names of variables.
    fn merge_variables(&mut self, key: &str, value: &Node) {
        for member in value.members().unwrap_or_default() {
            let name = member.value.text().unwrap_or_default();
            self.put_in(key, &member.key, json!(format!("${{{name}}}")));
        }
    }

    /// A list of variables that are passed to the server under their own names.
    fn named_variables(&mut self, value: &Node) {
        for name in value.elements().unwrap_or_default().iter().filter_map(Node::text) {
            self.put_in("env", name, json!(format!("${{{name}}}")));
        }
    }

    /// Zed's older `command`, an object.
    fn program(&mut self, value: &Node) {
        for member in value.members().unwrap_or_default() {
            let key = if member.key == "path" { "command" } else { member.key.as_str() };
            self.take(key, &member.value);
        }
    }

    /// How long the start may take. Our key also limits calls, unless they have a separate limit.
    fn start_limit(&mut self, value: &Node, unit: f64) {
        self.set("timeout", milliseconds(value, unit));
        self.entry.entry("callTimeout").or_insert_with(|| json!(300_000));
    }

    fn oauth(&mut self, value: &Node) {
        let Some(members) = value.members() else { return };
        for member in members {
            let key = match member.key.as_str() {
                "clientId" | "client_id" | "CLIENT_ID" => "clientId",
                "clientSecret" | "client_secret" | "CLIENT_SECRET" => "clientSecret",
                "scopes" | "scope" => "scopes",
                "callbackPort" | "redirectPort" => "redirectPort",
                "issuer" => "issuer",
                "enabled" => continue,
                other => {
                    self.left_out.push(format!("`oauth.{other}`"));
                    continue;
                }
            };
            let value = self.text(&member.value);
            self.put_in("oauth", key, value);
        }
    }
}

fn milliseconds(value: &Node, unit: f64) -> Value {
    let number = match &value.content {
        Content::Number(number) => number.as_f64(),
        _ => None,
    };
    match number.map(|number| (number * unit).round()) {
        // A time is a whole number of milliseconds, small enough for an exact float.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between 1 and 9e15")]
        Some(number) if (1.0..9e15).contains(&number) => json!(number as u64),
        _ => value.to_value(),
    }
}

fn translated(value: Value, dialect: Dialect) -> Value {
    match value {
        Value::String(text) => Value::String(dialect.style().ours(&text)),
        Value::Array(values) => values.into_iter().map(|value| translated(value, dialect)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, translated(value, dialect))).collect::<Map<_, _>>().into()
        }
        value => value,
    }
}
