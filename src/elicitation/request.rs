use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A question, as whoever answers gets it. Its JSON has exactly these keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// `elc-<monotonic ms>-<counter>`, unique in the process.
    pub id: String,
    /// What is wanted.
    pub kind: RequestKind,
    /// The server's message, `""` if it sent none. Not made safe for a terminal.
    pub prompt: String,
    /// Where an authorization happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What comes with the question; `schema` for kind `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// When the question expires, in milliseconds since the Unix epoch.
    #[serde(default, rename = "expiresAt", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// The kind of a [`Request`]: an open vocabulary, of which the bridge uses two words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestKind(String);

impl RequestKind {
    /// `"input"`: a form.
    pub fn input() -> Self {
        Self("input".to_owned())
    }

    /// `"authorization"`: a link.
    pub fn authorization() -> Self {
        Self("authorization".to_owned())
    }

    /// The word itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for RequestKind {
    fn from(word: &str) -> Self {
        Self(word.to_owned())
    }
}

impl Request {
    /// The schema of a form, if the request has one.
    pub fn schema(&self) -> Option<&Value> {
        self.data.as_ref()?.get("schema")
    }

    /// Whether the request is a link to open, not a form to fill.
    pub fn is_link(&self) -> bool {
        self.url.is_some() || self.kind == RequestKind::authorization()
    }
}

/// The next id: `elc-<ms since the first one>-<counter>`.
pub(super) fn next_id() -> String {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    static COUNTER: AtomicU64 = AtomicU64::new(1);
    let milliseconds = START.elapsed().as_millis();
    format!("elc-{milliseconds}-{}", COUNTER.fetch_add(1, Ordering::Relaxed))
}
