use serde_json::{Map, Value, json};

use crate::{
    elicitation::Modes,
    protocol::{Era, Revision},
};

/// The extension for tasks (2026-07-28).
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What a client offers: it decides what is declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// The elicitation modes, if there is a resolver.
    pub(super) elicitation: Option<Modes>,
    /// Whether there are roots.
    pub(super) roots: bool,
}

impl Offer {
    /// The client capabilities, for `initialize` and for `_meta`.
    pub(super) fn capabilities(self, era: Era) -> Value {
        let mut all = Map::new();
        if self.roots {
            all.insert("roots".into(), json!({}));
        }
        if let Some(modes) = self.elicitation {
            // Old servers may refuse the sub-keys: the plain form has none, and means forms.
            let value = if modes.url { json!({"form": {}, "url": {}}) } else { json!({}) };
            all.insert("elicitation".into(), value);
        }
        match era {
            Era::Modern => {
                all.insert("extensions".into(), json!({TASKS: {}}));
            }
            Era::Legacy if self.elicitation.is_some_and(|modes| has_own_tasks(modes, None)) => {
                let requests = json!({"elicitation": {"create": {}}});
                all.insert("tasks".into(), json!({"list": {}, "cancel": {}, "requests": requests}));
            }
            Era::Legacy => {}
        }
        Value::Object(all)
    }
}

/// Whether a server that was offered `modes` may ask in a task. `agreed` is the revision, once it is known.
pub(super) fn has_own_tasks(modes: Modes, agreed: Option<Revision>) -> bool {
    modes.url && agreed.is_none_or(|revision| revision == Revision::V2025_11_25)
}

/// Who we are.
pub(super) fn client_info() -> Value {
    json!({"name": "toolnexus", "title": "toolnexus", "version": env!("CARGO_PKG_VERSION")})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_offered_is_declared() {
        let nothing = Offer { elicitation: None, roots: false };
        assert_eq!(nothing.capabilities(Era::Legacy), json!({}));
        let all = Offer { elicitation: Some(Modes::ALL), roots: true };
        let declared = all.capabilities(Era::Legacy);
        assert_eq!(declared["elicitation"], json!({"form": {}, "url": {}}));
        assert_eq!(declared["tasks"]["requests"], json!({"elicitation": {"create": {}}}));
        assert_eq!(all.capabilities(Era::Modern)["extensions"], json!({"io.modelcontextprotocol/tasks": {}}));
        let plain = Offer { elicitation: Some(Modes::PLAIN), roots: false };
        assert_eq!(plain.capabilities(Era::Legacy), json!({"elicitation": {}}));
    }
}
