use serde_json::{Map, Value, json};

/// MCP's `ElicitResult` (2025-11-25, *client/elicitation*, Response Actions).
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitResult {
    /// Agreed. `content` is what was entered; an accepted link has none.
    Accept {
        /// The submitted data.
        content: Option<Value>,
    },
    /// An explicit no.
    Decline,
    /// Closed without an answer.
    Cancel,
}

impl ElicitResult {
    /// The word in `action`.
    pub fn action(&self) -> &'static str {
        match self {
            Self::Accept { .. } => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }

    /// `{action, content?}`; `decline` and `cancel` never have a `content`.
    pub fn to_value(&self) -> Value {
        let mut object = Map::new();
        object.insert("action".into(), json!(self.action()));
        if let Self::Accept { content: Some(content) } = self {
            object.insert("content".into(), content.clone());
        }
        Value::Object(object)
    }

    /// The result without content, which an accepted link must not have.
    #[must_use]
    pub fn without_content(self) -> Self {
        match self {
            Self::Accept { .. } => Self::Accept { content: None },
            other => other,
        }
    }
}
