use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::protocol::{Era, Revision};

/// What a server says about itself: the result of `initialize` (2025-11-25, *lifecycle*) or of `server/discover`
/// (2026-07-28, *Discovery*), read leniently. The texts are the server's, not yet safe for a terminal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The revision that was agreed on.
    pub revision: Revision,
    /// `serverInfo`: `name`, `version`, `title` and so on; empty if the server did not send it.
    pub server: Map<String, Value>,
    /// What it offers.
    pub capabilities: Map<String, Value>,
    /// How to use it.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// A server of which only the revision is known.
    pub fn new(revision: Revision) -> Self {
        Self { revision, server: Map::new(), capabilities: Map::new(), instructions: None }
    }

    /// The information in the result of `initialize` or `server/discover`.
    pub fn from_result(revision: Revision, result: &Value) -> Self {
        let object = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
        let in_meta = || result.get("_meta")?.get("io.modelcontextprotocol/serverInfo");
        Self {
            revision,
            server: object(result.get("serverInfo").or_else(in_meta)),
            capabilities: object(result.get("capabilities")),
            instructions: result.get("instructions").and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// The server's era.
    pub fn era(&self) -> Era {
        self.revision.era()
    }

    /// The server's own name.
    pub fn name(&self) -> Option<&str> {
        self.server.get("name").and_then(Value::as_str)
    }

    /// The server's version.
    pub fn version(&self) -> Option<&str> {
        self.server.get("version").and_then(Value::as_str)
    }

    /// Whether it declares the capability: `tools`, or a path such as `tasks.requests.tools.call`.
    pub fn declares(&self, path: &str) -> bool {
        let mut steps = path.split('.');
        let first = steps.next().and_then(|key| self.capabilities.get(key));
        let found = steps.fold(first, |value, key| value.and_then(|value| value.get(key)));
        found.is_some_and(|value| !value.is_null() && value != &Value::Bool(false))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_results_are_read() {
        let legacy = json!({"serverInfo": {"name": "a", "version": "1"}, "capabilities": {"tools": {}}});
        let info = ServerInfo::from_result(Revision::V2025_11_25, &legacy);
        assert_eq!((info.name(), info.version(), info.era()), (Some("a"), Some("1"), Era::Legacy));
        let modern = json!({"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "b"}}, "instructions": "x"});
        let info = ServerInfo::from_result(Revision::V2026_07_28, &modern);
        assert_eq!((info.name(), info.instructions.as_deref()), (Some("b"), Some("x")));
    }

    #[test]
    fn capabilities_are_found_by_path() {
        let result = json!({"capabilities": {"tasks": {"requests": {"tools": {"call": {}}}}, "tools": false}});
        let info = ServerInfo::from_result(Revision::V2025_11_25, &result);
        assert!(info.declares("tasks.requests.tools.call"));
        assert!(!info.declares("tools") && !info.declares("tasks.cancel") && !info.declares("x.y"));
    }
}
