use serde_json::Value;

/// A view of a `CallToolResult` (2025-11-25, *server/tools*, Tool Result), read leniently.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallToolResult {
    /// The content blocks, in order; empty when missing.
    pub content: Vec<ContentBlock>,
    /// `structuredContent`, any JSON value.
    pub structured: Option<Value>,
    /// Whether the tool itself failed.
    pub is_error: bool,
}

/// One content block of a result.
#[derive(Clone, Debug, PartialEq)]
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
        /// Where it is.
        uri: String,
        /// Its title or name.
        name: Option<String>,
        /// What it is.
        description: Option<String>,
    },
    /// An embedded resource: the `resource` object.
    Resource(Value),
    /// A block of a kind, or in a shape, that this program does not know.
    Unknown(Value),
}

impl CallToolResult {
    /// Reads a result object. Never fails: what does not fit becomes [`ContentBlock::Unknown`] or is empty.
    pub fn from_value(value: &Value) -> Self {
        let blocks = value.get("content").and_then(Value::as_array);
        Self {
            content: blocks.map(|blocks| blocks.iter().map(ContentBlock::from_value).collect()).unwrap_or_default(),
            structured: value.get("structuredContent").filter(|value| !value.is_null()).cloned(),
            is_error: value.get("isError") == Some(&Value::Bool(true)),
        }
    }
}

impl ContentBlock {
    /// Reads one block; see [`CallToolResult::from_value`].
    pub fn from_value(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let known = match value.get("type").and_then(Value::as_str) {
            Some("text") => text("text").map(Self::Text),
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
