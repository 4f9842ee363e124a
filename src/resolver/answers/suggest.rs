use serde_json::{Map, Value, json};

use super::UrlPattern;
use crate::{elicitation::Question, form::Field, output::safe_json, text::start_of};

/// How many bytes of a question's message are used in an entry.
const LONGEST: usize = 2000;

/// An entry that would answer `question`, ready to paste into an answers file: one line of JSON, safe for a terminal.
/// Each `null` in it is a placeholder for a value that only the user knows, and is refused if it is left.
pub fn suggest(question: &Question) -> String {
    let origin = &question.origin;
    let mut when = Map::new();
    when.insert("server".into(), json!(origin.server.as_str()));
    if let Some(call) = &origin.call {
        when.insert(if origin.is_tool { "tool" } else { "call" }.into(), json!(call.as_str()));
    }
    let mut entry = Map::new();
    match question.form() {
        None => {
            let (key, value) = link_condition(question);
            when.insert(key.into(), value);
            entry.insert("action".into(), json!("accept"));
        }
        Some(form) if form.fields.is_empty() => {
            when.insert("mode".into(), json!("form"));
            when.extend(message_condition(question));
            entry.insert("action".into(), json!("accept"));
        }
        Some(form) => {
            let wanted = form.fields.iter().filter(|field| field.required && field.default.is_none());
            let content: Map<String, Value> = wanted.map(|field| (field.key.clone(), Value::Null)).collect();
            let is_secret = |field: &Field| field.secret && content.contains_key(&field.key);
            let secret = form.fields.iter().any(is_secret);
            entry.insert("content".into(), Value::Object(content));
            if secret {
                entry.insert("secret".into(), json!(true));
            }
        }
    }
    entry.shift_insert(0, "when".into(), Value::Object(when));
    safe_json(&spaced(&Value::Object(entry))).into_owned()
}

/// What an entry's `when` says about the message of `question`: all of it, so that the entry answers no other question,
/// or its start, if it is very long.
pub(in crate::resolver) fn message_condition(question: &Question) -> Option<(String, Value)> {
    let prompt = &question.request.prompt;
    if prompt.trim().is_empty() {
        return None;
    }
    let start = start_of(prompt, LONGEST);
    let is_whole = start.len() == prompt.len();
    Some(("message".to_owned(), json!(if is_whole { start.to_owned() } else { format!("{start}*") })))
}

/// What an entry's `when` says about the link of `question`: its address with everything after the path left open, or
/// only that it is a link, if the address cannot be accepted or changes every time: a port on this machine.
pub(in crate::resolver) fn link_condition(question: &Question) -> (&'static str, Value) {
    let url = question.request.url.as_deref().unwrap_or_default();
    if question.link().is_some_and(|link| link.is_loopback()) {
        return ("mode", json!("url"));
    }
    let pattern = match url.find(['?', '#']) {
        Some(end) => format!("{}*", &url[..end]),
        None => url.to_owned(),
    };
    let fits = UrlPattern::parse(&pattern).is_ok_and(|pattern| pattern.fits(url));
    if fits { ("url", json!(pattern)) } else { ("mode", json!("url")) }
}

/// JSON on one line with a space after each `:` and `,`.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let pair = |(key, value): (&String, &Value)| format!("{}: {}", json!(key), spaced(value));
            format!("{{{}}}", object.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
