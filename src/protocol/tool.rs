use serde_json::{Map, Value};

/// One entry of `tools/list` (2025-11-25, *server/tools*, Tool), read leniently.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name for `tools/call`.
    pub name: String,
    /// The whole entry as the server sent it.
    pub raw: Value,
}

impl Tool {
    /// The tool in `value`, or `None` if it has no name.
    pub fn from_value(value: Value) -> Option<Self> {
        let name = value.get("name")?.as_str()?.to_owned();
        Some(Self { name, raw: value })
    }

    /// The title for people: `title`, or else `annotations.title`.
    pub fn title(&self) -> Option<&str> {
        let title = self.raw.get("title").or_else(|| self.raw.get("annotations")?.get("title"));
        title?.as_str()
    }

    /// What the tool does, in the server's words.
    pub fn description(&self) -> Option<&str> {
        self.raw.get("description")?.as_str()
    }

    /// The schema of the arguments, if it is an object.
    pub fn input_schema(&self) -> Option<&Map<String, Value>> {
        self.raw.get("inputSchema")?.as_object()
    }

    /// The schema of `structuredContent`, if the tool has one.
    pub fn output_schema(&self) -> Option<&Value> {
        self.raw.get("outputSchema")
    }

    /// Whether a lost call may be repeated: the tool is marked read-only or idempotent.
    pub fn is_repeatable(&self) -> bool {
        let hint = |key| self.raw.get("annotations").and_then(|a| a.get(key)) == Some(&Value::Bool(true));
        hint("readOnlyHint") || hint("idempotentHint")
    }
}
