use std::{
    sync::{Arc, MutexGuard, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::process::Keeper;
use crate::{
    client::Client,
    protocol::{Era, Tool},
};

/// How long a list of tools is valid if the server does not report changes.
const FRESH: Duration = Duration::from_secs(60);

/// The list of tools, as last returned.
pub(super) struct ListedTools {
    tools: Vec<Tool>,
    text: Arc<str>,
    at: Instant,
}

impl Keeper {
    /// The list of tools as JSON, if it is known to be still valid.
    pub(super) fn known_tools(&self, client: &Client, fresh: bool) -> Option<Arc<str>> {
        let tells = client.info().declares("tools.listChanged") && client.info().era() == Era::Legacy;
        let listed = self.listed();
        let listed = listed.as_ref()?;
        (tells || (!fresh && listed.at.elapsed() < FRESH)).then(|| Arc::clone(&listed.text))
    }

    /// Remembers the list of tools, unless the server has reported a change since.
    pub(super) fn learn_tools(&self, tools: Vec<Tool>, changes: u64) -> Arc<str> {
        let raw = tools.iter().map(|tool| tool.raw.clone()).collect();
        let text: Arc<str> = Value::Array(raw).to_string().into();
        if self.changes.load(Ordering::Relaxed) == changes {
            *self.listed() = Some(ListedTools { tools, text: Arc::clone(&text), at: Instant::now() });
        }
        text
    }

    /// The tool with this name, as last listed.
    pub(super) fn tool(&self, name: &str) -> Option<Tool> {
        self.listed().as_ref()?.tools.iter().find(|tool| tool.name == name).cloned()
    }

    /// What is known about the tools.
    pub(super) fn listed(&self) -> MutexGuard<'_, Option<ListedTools>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
