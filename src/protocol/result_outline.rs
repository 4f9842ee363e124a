use std::{borrow::Cow, collections::HashMap};

use serde_json::{Value, value::RawValue};

use super::parse_lenient;

/// The parts of a `CallToolResult` in the server's own bytes, read leniently: nothing is copied, however long it is.
#[derive(Debug, Default)]
pub struct ResultOutline<'a> {
    /// The content blocks, in order; empty if missing.
    pub content: Vec<&'a RawValue>,
    /// `structuredContent`, any JSON value.
    pub structured: Option<&'a str>,
    /// Whether the tool itself failed.
    pub is_error: bool,
    /// What breaks the protocol but was read anyway, in our words.
    pub oddity: Option<String>,
}

impl<'a> ResultOutline<'a> {
    /// Reads a result. Never fails: what does not fit is left empty.
    pub fn of(result: &'a RawValue) -> Self {
        let Some(parts) = members(result) else { return Self::default() };
        // Some servers send text, or one block, instead of the list.
        let blocks = |raw: &&'a RawValue| serde_json::from_str(raw.get()).unwrap_or_else(|_| vec![*raw]);
        let content = parts.get("content").filter(|raw| raw.get() != "null").map(blocks).unwrap_or_default();
        let structured = parts.get("structuredContent").map(|raw| raw.get()).filter(|text| *text != "null");
        let (is_error, oddity) = parts.get("isError").map_or((false, None), |raw| failed(raw.get()));
        Self { content, structured, is_error, oddity }
    }
}

/// The members of an object; `None` if it is not an object.
pub(super) fn members(object: &RawValue) -> Option<HashMap<Cow<'_, str>, &RawValue>> {
    serde_json::from_str(object.get()).ok()
}

/// The value of `isError`. If it is neither true nor false, it counts as an error, unless it is null, empty, or says
/// no.
fn failed(json: &str) -> (bool, Option<String>) {
    let says_no = match json {
        "true" => return (true, None),
        "false" | "null" => return (false, None),
        _ => match parse_lenient(json).unwrap_or_default() {
            Value::String(text) => matches!(text.trim().to_lowercase().as_str(), "" | "false" | "no" | "0"),
            Value::Number(number) => number.as_f64() == Some(0.0),
            _ => false,
        },
    };
    let meaning = if says_no { "toolnexus treats it as false" } else { "toolnexus treats it as true" };
    let shown: String = json.chars().take(40).collect();
    (!says_no, Some(format!("isError is {shown}, which is neither true nor false: {meaning}")))
}
