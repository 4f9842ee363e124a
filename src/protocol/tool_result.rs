use serde_json::{Value, value::RawValue};

use super::{ResultOutline, parse_lenient, result_outline::members};

/// A view of a `CallToolResult` (2025-11-25, *server/tools*, Tool Result), read leniently.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// The content blocks, in order; empty if missing.
    pub content: Vec<ContentBlock>,
    /// For each block, whether it is only an aside: not meant for the user (`annotations.audience`), or entirely
    /// optional (`annotations.priority` 0).
    pub asides: Vec<bool>,
    /// `structuredContent`, any JSON value, in the server's own bytes.
    pub structured: Option<String>,
    /// Whether the tool itself failed.
    pub is_error: bool,
    /// What breaks the protocol but was read anyway, in our words.
    pub oddity: Option<String>,
}

/// One content block of a result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(String),
    /// An image: MIME type and base64 data.
    Image {
        /// The MIME type, as sent.
        mime_type: String,
        /// The data, base64.
        data: String,
    },
    /// Audio: MIME type and base64 data.
    Audio {
        /// The MIME type, as sent.
        mime_type: String,
        /// The data, base64.
        data: String,
    },
    /// A link to a resource.
    ResourceLink {
        /// Its URI.
        uri: String,
        /// Its title or name.
        name: Option<String>,
        /// What it is.
        description: Option<String>,
    },
    /// An embedded resource: the `resource` object.
    Resource(Value),
    /// A block of a type, or in a shape, that this program does not know.
    Unknown(Value),
}

impl CallToolResult {
    /// Reads a result. Never fails: what does not fit becomes [`ContentBlock::Unknown`] or is left empty, and one odd
    /// part (a value that is nested too deeply, a lone surrogate) does not affect the others.
    pub fn from_raw(result: &RawValue) -> Self {
        let ResultOutline { content, structured, is_error, oddity } = ResultOutline::of(result);
        let (content, asides) = content.into_iter().map(read).unzip();
        Self { content, asides, structured: structured.map(str::to_owned), is_error, oddity }
    }
}

impl CallToolResult {
    /// The texts of the result, separated by line ends, not yet safe for a terminal; empty if there are none.
    ///
    /// ```
    /// use serde_json::value::RawValue;
    /// use toolnexus::protocol::CallToolResult;
    /// let result = r#"{"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}"#;
    /// let result = CallToolResult::from_raw(&RawValue::from_string(result.into()).unwrap());
    /// assert_eq!(result.text(), "a\nb");
    /// ```
    pub fn text(&self) -> String {
        self.texts().join("\n")
    }

    fn texts(&self) -> Vec<&str> {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The essence of the result, as JSON text: the structured content in the server's own bytes; or else the text, if
    /// it is JSON; or else the text as a JSON string, or a list of such values if there are several blocks of JSON.
    /// `None` if there is neither.
    pub fn data(&self) -> Option<String> {
        if let Some(structured) = &self.structured {
            return Some(structured.clone());
        }
        let texts = self.texts();
        let is_json = |text: &&str| serde_json::from_str::<&RawValue>(text).is_ok();
        match texts.as_slice() {
            [] => None,
            [one] if is_json(one) => Some(one.trim().to_owned()),
            many if many.len() > 1 && many.iter().all(is_json) => Some(format!("[{}]", many.join(","))),
            many => Some(Value::from(many.join("\n")).to_string()),
        }
    }
}

/// A block, and whether it is not meant for the user or entirely optional (2025-11-25, *server/resources*,
/// Annotations).
fn read(block: &RawValue) -> (ContentBlock, bool) {
    let Some(parts) = members(block) else { return (ContentBlock::whole(block), false) };
    let annotations: Value = parts.get("annotations").and_then(|raw| parse_lenient(raw.get()).ok()).unwrap_or_default();
    let audience = annotations["audience"].as_array();
    let excludes_user = audience.is_some_and(|of| !of.is_empty() && of.iter().all(|role| role != "user"));
    let is_aside = excludes_user || annotations["priority"].as_f64() == Some(0.0);
    // What may be long is copied only once.
    let text = |key: &str| parts.get(key).and_then(|raw| parse_lenient::<String>(raw.get()).ok());
    let known = match text("type").as_deref() {
        Some("text") | None => text("text").map(ContentBlock::Text),
        Some("image") => {
            text("data").map(|data| ContentBlock::Image { mime_type: text("mimeType").unwrap_or_default(), data })
        }
        Some("audio") => {
            text("data").map(|data| ContentBlock::Audio { mime_type: text("mimeType").unwrap_or_default(), data })
        }
        Some(_) => None,
    };
    (known.unwrap_or_else(|| ContentBlock::whole(block)), is_aside)
}

impl ContentBlock {
    /// Reads one block; see [`CallToolResult::from_raw`].
    pub fn from_raw(block: &RawValue) -> Self {
        read(block).0
    }

    /// Reads a block with everything in it. A block that cannot be parsed is null.
    fn whole(block: &RawValue) -> Self {
        parse_lenient(block.get()).map_or(Self::Unknown(Value::Null), |value| Self::from_value(&value))
    }

    /// Reads a block that has already been parsed.
    pub fn from_value(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let known = match value.get("type").and_then(Value::as_str) {
            Some("text") => text("text").map(Self::Text),
            None => value.as_str().map(str::to_owned).or_else(|| text("text")).map(Self::Text),
            Some("image") => {
                text("data").map(|data| Self::Image { mime_type: text("mimeType").unwrap_or_default(), data })
            }
            Some("audio") => {
                text("data").map(|data| Self::Audio { mime_type: text("mimeType").unwrap_or_default(), data })
            }
            Some("resource_link") => text("uri").map(|uri| Self::ResourceLink {
                uri,
                name: text("title").or_else(|| text("name")),
                description: text("description"),
            }),
            Some("resource") => value.get("resource").filter(|r| r.is_object()).cloned().map(Self::Resource),
            _ => None,
        };
        known.unwrap_or_else(|| Self::Unknown(value.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> CallToolResult {
        CallToolResult::from_raw(&RawValue::from_string(json.to_owned()).expect("JSON"))
    }

    #[test]
    fn one_odd_block_spoils_no_other() {
        let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
        let result = read(&format!(
            r#"{{"content":[{{"type":"text","text":"a\ud83d"}},{{"type":"x","y":{deep}}},7],"structuredContent":{deep}}}"#
        ));
        assert_eq!(result.content[0], ContentBlock::Text("a\u{fffd}".to_owned()));
        assert!(matches!(result.content[1..], [ContentBlock::Unknown(_), ContentBlock::Unknown(_)]));
        assert_eq!(result.structured, Some(deep));
    }

    #[test]
    fn what_is_missing_is_empty() {
        for json in ["{}", "[]", "null", r#"{"content":null,"structuredContent":null,"isError":null}"#] {
            assert_eq!(read(json), CallToolResult::default(), "{json}");
        }
        assert!(read(r#"{"isError":true}"#).is_error);
    }

    #[test]
    fn an_error_that_is_told_in_another_type_is_one() {
        for (json, expected) in
            [(r#""true""#, true), ("1", true), (r#""yes""#, true), ("{}", true), ("0", false), (r#""False""#, false)]
        {
            let result = read(&format!(r#"{{"isError":{json}}}"#));
            assert_eq!(result.is_error, expected, "{json}");
            assert!(result.oddity.is_some_and(|oddity| oddity.contains(json)));
        }
        assert_eq!(read(r#"{"isError":false}"#), CallToolResult::default());
    }

    #[test]
    fn data_is_structured_content_or_the_text() {
        let data = |json: &str| read(json).data();
        let told = |text: &str| Some(text.to_owned());
        let text = |text: &str| json_text(&[text]);
        assert_eq!(data(r#"{"structuredContent": {"n": 1.0}, "content": []}"#), told(r#"{"n": 1.0}"#));
        assert_eq!(data(&text(" {\"a\": 1} ")), told("{\"a\": 1}"));
        assert_eq!(data(&text("two\nlines")), told(r#""two\nlines""#));
        assert_eq!(data(&json_text(&["{}", "[1]"])), told("[{},[1]]"));
        assert_eq!(data(&json_text(&["{}", "x"])), told(r#""{}\nx""#));
        assert_eq!(data(r#"{"content": []}"#), None);
    }

    fn json_text(texts: &[&str]) -> String {
        let blocks: Vec<Value> = texts.iter().map(|text| serde_json::json!({"type": "text", "text": text})).collect();
        serde_json::json!({"content": blocks}).to_string()
    }

    #[test]
    fn numbers_of_structured_content_keep_their_digits() {
        let result = read(r#"{"structuredContent": {"n": 10000000000000000000000.50}}"#);
        assert_eq!(result.structured.as_deref(), Some(r#"{"n": 10000000000000000000000.50}"#));
    }
}
