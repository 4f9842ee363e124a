use std::collections::HashSet;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    ClientError,
    conversation::refusal,
    direct_client::{DirectClient, Route},
    exchange::Exchange,
    wire::WireRequest,
};
use crate::protocol::{Tool, check_headers};

/// How many pages a listing may have.
const PAGES: usize = 1000;
/// How large a listing may be in total, in bytes; its last page may exceed this.
const BYTES: usize = 64 << 20;

/// How many duplicate tools are named in warnings.
const MOST_TOLD: usize = 5;

/// What is said of `count` entries of a listing without the `key` that every entry must have; `None` of none.
pub(crate) fn left_out(count: usize, method: &str, key: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("an entry of its {method} has no {key} and is left out")),
        count => Some(format!("{count} entries of its {method} have no {key} and are left out")),
    }
}

/// Whether a listing with this many pages and bytes is not continued.
fn is_enough(pages: usize, bytes: usize) -> bool {
    pages >= PAGES || bytes >= BYTES
}

impl DirectClient {
    /// All entries of a listing, page by page, within the time limit of one listing (2025-11-25, *pagination*).
    pub(super) async fn pages(
        &self,
        method: &str,
        key: &str,
        stop: &CancellationToken,
    ) -> Result<Vec<Value>, ClientError> {
        let patience = self.opener.patience();
        let (mut entries, mut cursors, mut cursor) = (Vec::new(), HashSet::new(), None);
        let mut bytes = 0;
        loop {
            let params = cursor.map(|cursor: String| Map::from_iter([("cursor".to_owned(), json!(cursor))]));
            let ask = WireRequest::new(method, params);
            let exchange = Exchange { ask, patience, scope: None, is_repeatable: true, line: Route::Found };
            let (session, frame) = self.exchange(exchange, stop).await?;
            if let Some(error) = refusal(method, &frame) {
                return Err(error);
            }
            let invalid = |reason: String| ClientError::Invalid { method: method.to_owned(), reason };
            let mut page = frame.body_value().map_err(|error| invalid(error.to_string()))?;
            let Some(Value::Array(list)) = page.get_mut(key).map(Value::take) else {
                return Err(invalid(format!("the result has no {key:?} list")));
            };
            let next = match page.get("nextCursor") {
                // Since 2026-07-28 an empty cursor is one like any other; before, servers mean the end by it.
                Some(Value::String(next)) if !next.is_empty() || session.is_modern() => Some(next.clone()),
                _ => None,
            };
            // A server that takes no cursors gives the same page again.
            let is_again = next.as_ref().is_some_and(|next| cursors.contains(next)) && entries.ends_with(&list);
            if !is_again {
                entries.extend(list);
            }
            let Some(next) = next else { return Ok(entries) };
            bytes += frame.bytes().len();
            if !cursors.insert(next.clone()) || is_enough(cursors.len(), bytes) {
                let pages = if cursors.len() == 1 { "1 page".to_owned() } else { format!("{} pages", cursors.len()) };
                session.wire.setup().warn(format!("{method} does not end; toolnexus stopped after {pages}"));
                return Ok(entries);
            }
            cursor = Some(next);
        }
    }

    /// The tools among the entries of a listing; other entries are left out with a notice.
    pub(super) async fn tools_of(&self, entries: Vec<Value>) -> Vec<Tool> {
        let session = self.current().await;
        // 2026-07-28, *Streamable HTTP*: a tool whose headers are invalid must not be called.
        let needs_headers = session.is_modern() && self.is_http();
        let warn = |text: String| session.wire.setup().warn(text);
        let mut nameless = 0;
        let read = |entry: Value| {
            let Some(tool) = Tool::from_value(entry) else {
                nameless += 1;
                return None;
            };
            match check_headers(&tool) {
                Err(reason) if needs_headers => {
                    warn(format!("its tool {:?} is left out: {reason}", tool.name));
                    None
                }
                _ => Some(tool),
            }
        };
        let tools: Vec<Tool> = entries.into_iter().filter_map(read).collect();
        if let Some(words) = left_out(nameless, "tools/list", "name") {
            warn(words);
        }
        let (mut names, mut told) = (HashSet::new(), HashSet::new());
        for tool in &tools {
            if !names.insert(&tool.name) && told.len() < MOST_TOLD && told.insert(&tool.name) {
                warn(format!("it lists the tool {:?} more than once; the first entry is used", tool.name));
            }
        }
        tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_are_left_out_are_told_together() {
        assert_eq!(left_out(0, "tools/list", "name"), None);
        let told = |count| left_out(count, "prompts/list", "name").expect("told");
        assert_eq!(told(1), "an entry of its prompts/list has no name and is left out");
        assert_eq!(told(2), "2 entries of its prompts/list have no name and are left out");
    }

    #[test]
    fn a_listing_is_bounded_in_pages_and_in_bytes() {
        assert!(!is_enough(1, 10 << 20) && !is_enough(PAGES - 1, BYTES - 1));
        assert!(is_enough(PAGES, 0) && is_enough(1, BYTES));
    }
}
