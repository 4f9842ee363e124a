use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::Value;
use url::Url;

/// Shown instead of a part of an address that may be a credential.
pub(crate) const REDACTED: &str = "[redacted]";

/// Values of at least this length are hidden everywhere.
const LONG: usize = 8;
/// A shorter one is hidden only as a separate word; below this length it may be anything.
const SHORT: usize = 3;

/// Keys whose values programs depend on.
const WORDS: [&str; 12] =
    ["event", "server", "level", "code", "exit", "method", "jsonrpc", "id", "type", "time", "action", "name"];

/// What must not be shown, and what is shown instead: values of variables, credentials on the command line, and the
/// secret parts of addresses. Clones share what they hide.
#[derive(Clone, Default)]
pub struct Mask(Arc<RwLock<Hidden>>);

#[derive(Default)]
struct Hidden {
    /// The value, and what is shown; the longest value first.
    values: Vec<(String, String)>,
    /// A whole text with its variables expanded, and as it was written.
    texts: Vec<(String, String)>,
}

impl Mask {
    /// Hides `value`, in every spelling, and shows `shown` instead.
    pub fn hide(&self, value: &str, shown: &str) {
        for part in [value, value.trim()] {
            let json = Value::from(part).to_string();
            let encoded: String = url::form_urlencoded::byte_serialize(part.as_bytes()).collect();
            let spellings = [
                part.to_owned(),
                json.trim_matches('"').to_owned(),
                part.escape_debug().to_string(),
                encoded.replace('+', "%20"),
                encoded,
                in_address(part),
                part.to_ascii_lowercase(),
            ];
            for value in spellings {
                self.add(value, shown);
            }
        }
    }

    /// Remembers that `text` is the expansion of `written`, which contains variables.
    pub fn write_as(&self, text: &str, written: &str) {
        self.edit(|hidden| hidden.texts.push((text.to_owned(), written.to_owned())));
    }

    /// Hides the user info, the values of the query and the fragment of an address.
    pub fn hide_parts(&self, url: &Url) {
        let plain = address(url);
        if plain != url.as_str() {
            self.add(url.to_string(), &plain);
        }
        let parts = [Some(url.username()), url.password(), url.fragment()];
        for part in parts.into_iter().flatten().filter(|part| part.len() >= LONG) {
            self.hide(part, REDACTED);
        }
        for (_, value) in url.query_pairs().filter(|(_, value)| value.len() >= LONG) {
            self.hide(&value, REDACTED);
        }
    }

    /// `text` with all secrets hidden.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let hidden = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut shown = Cow::Borrowed(text);
        for (value, instead) in &hidden.values {
            if shown.contains(value.as_str()) {
                shown = Cow::Owned(replaced(&shown, value, instead));
            }
        }
        shown
    }

    /// `text`, which is JSON, with all secrets in its strings hidden; it remains JSON. Names and words that programs
    /// depend on are left alone, unless the secret is too long to be one.
    pub fn apply_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if matches!(self.apply(text), Cow::Borrowed(_)) {
            return Cow::Borrowed(text);
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) => Cow::Owned(self.applied(value, false).to_string()),
            Err(_) => self.apply(text),
        }
    }

    /// The same for a JSON value.
    pub(crate) fn apply_value(&self, value: Value) -> Value {
        self.applied(value, false)
    }

    fn applied(&self, value: Value, is_word: bool) -> Value {
        match value {
            Value::String(text) if is_word => self.only_long(&text).into(),
            Value::String(text) => self.apply(&text).into(),
            Value::Number(number) => match self.only_long(number.as_str()) {
                shown if shown == number.as_str() => Value::Number(number),
                shown => shown.into(),
            },
            Value::Array(values) => values.into_iter().map(|value| self.applied(value, is_word)).collect(),
            Value::Object(members) => {
                let member = |(key, value): (String, Value)| {
                    let is_word = WORDS.contains(&key.as_str());
                    (self.only_long(&key), self.applied(value, is_word))
                };
                Value::Object(members.into_iter().map(member).collect())
            }
            value => value,
        }
    }

    /// `text` with only the long secrets hidden.
    fn only_long(&self, text: &str) -> String {
        let hidden = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let long = hidden.values.iter().filter(|(value, _)| value.len() >= LONG);
        long.fold(text.to_owned(), |text, (value, instead)| text.replace(value.as_str(), instead))
    }

    /// A text of the configuration as it was written, or else with all secrets hidden.
    pub fn written(&self, text: &str) -> String {
        let hidden = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let known = hidden.texts.iter().find(|(expanded, _)| expanded == text).map(|(_, written)| written.clone());
        drop(hidden);
        known.unwrap_or_else(|| self.apply(text).into_owned())
    }

    /// Also hides what `other` hides.
    pub fn join(&self, other: &Mask) {
        let other = other.0.read().unwrap_or_else(PoisonError::into_inner);
        let (values, texts) = (other.values.clone(), other.texts.clone());
        drop(other);
        for (value, shown) in values {
            self.add(value, &shown);
        }
        self.edit(|hidden| hidden.texts.extend(texts));
    }

    fn add(&self, value: String, shown: &str) {
        if value.chars().count() < SHORT || value == shown {
            return;
        }
        self.edit(|hidden| {
            if hidden.values.iter().all(|(known, _)| *known != value) {
                let at = hidden.values.partition_point(|(known, _)| known.len() >= value.len());
                hidden.values.insert(at, (value, shown.to_owned()));
            }
        });
    }

    fn edit(&self, change: impl FnOnce(&mut Hidden)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({} values)", self.0.read().unwrap_or_else(PoisonError::into_inner).values.len())
    }
}

/// Masks do not affect the meaning of a configuration.
impl PartialEq for Mask {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An address without user info and fragment, and with only the keys of its query.
pub(crate) fn address(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for addresses that cannot have these parts.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    let keys: Vec<String> = url.query_pairs().map(|(key, _)| format!("{key}={REDACTED}")).collect();
    if keys.is_empty() { shown.to_string() } else { format!("{shown}?{}", keys.join("&")) }
}

/// `part` as it appears in the path of an address.
fn in_address(part: &str) -> String {
    let Ok(mut url) = Url::parse("http://a/") else { return part.to_owned() };
    url.set_path(part);
    url.path().trim_start_matches('/').to_owned()
}

fn replaced(text: &str, value: &str, instead: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, after) = (&rest[..at], &rest[at + value.len()..]);
        let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_word = !is_part(before.chars().next_back()) && !is_part(after.chars().next());
        shown.push_str(before);
        shown.push_str(if value.len() >= LONG || is_word { instead } else { value });
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hidden_however_they_are_written() {
        let mask = Mask::default();
        mask.hide("s3cret/To\"ken é", "${TOKEN}");
        for text in [
            "a s3cret/To\"ken é b",
            r#"a s3cret/To\"ken é b"#,
            "a s3cret%2FTo%22ken%20%C3%A9 b",
            "a s3cret%2FTo%22ken+%C3%A9 b",
            "a s3cret/To%22ken%20%C3%A9 b",
        ] {
            assert_eq!(mask.apply(text), "a ${TOKEN} b", "{text}");
        }
    }

    #[test]
    fn short_values_are_hidden_as_words_and_whole_texts_always() {
        let mask = Mask::default();
        mask.hide("8080", "${PORT}");
        mask.hide("x", "${X}");
        assert_eq!(mask.apply("port 8080, not 18080x"), "port ${PORT}, not 18080x");
        mask.write_as("-x", "-${X}");
        assert_eq!((mask.written("-x").as_str(), mask.written("x 8080").as_str()), ("-${X}", "x ${PORT}"));
    }

    #[test]
    fn json_stays_json_whatever_is_hidden() {
        let mask = Mask::default();
        for (value, name) in [("8080", "PORT"), ("error", "LEVEL"), ("12345678", "PIN"), ("say \"x\"", "QUOTED")] {
            mask.hide(value, &format!("${{{name}}}"));
        }
        for (text, expected) in [
            (r#"{"port":8080,"text":"at 8080"}"#, r#"{"port":8080,"text":"at ${PORT}"}"#),
            (r#"{"level":"error","message":"error 8080"}"#, r#"{"level":"error","message":"${LEVEL} ${PORT}"}"#),
            (r#"{"error":{"n":[12345678,1]}}"#, r#"{"error":{"n":["${PIN}",1]}}"#),
            (r#"{"a": "they say \"x\""}"#, r#"{"a":"they ${QUOTED}"}"#),
            (r#"{"a": [true, null]}"#, r#"{"a": [true, null]}"#),
        ] {
            assert_eq!(mask.apply_json(text), expected, "{text}");
        }
    }

    #[test]
    fn addresses_keep_what_is_no_secret() {
        let url = Url::parse("https://me:passw0rd!@mcp.example/x?token=abc&n=1#fragment-1").expect("an address");
        let shown = "https://mcp.example/x?token=[redacted]&n=[redacted]";
        assert_eq!(address(&url), shown);
        let mask = Mask::default();
        mask.hide_parts(&url);
        assert_eq!(mask.apply(&format!("at {url}: passw0rd!")), format!("at {shown}: [redacted]"));
    }

    #[test]
    fn masks_are_shared_and_joined() {
        let (one, other) = (Mask::default(), Mask::default());
        let shared = one.clone();
        other.hide("long-secret", "${A}");
        one.join(&other);
        assert_eq!(shared.apply("long-secret"), "${A}");
        assert_eq!(format!("{shared:?}"), "Mask(1 values)");
    }
}
