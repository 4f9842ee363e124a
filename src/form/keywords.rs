use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

/// The keywords of a schema, most of them borrowed from the document, so that a part with a thousand references to it
/// is not copied a thousand times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keywords<'a>(BTreeMap<&'a str, Cow<'a, Value>>);

impl<'a> Keywords<'a> {
    /// The value of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).map(AsRef::as_ref)
    }

    /// Whether the keyword is present.
    pub(crate) fn contains_key(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Each keyword with its value, sorted by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (*key, value.as_ref()))
    }

    /// Sets `key`.
    pub(super) fn insert(&mut self, key: &'a str, value: Cow<'a, Value>) {
        self.0.insert(key, value);
    }
}
