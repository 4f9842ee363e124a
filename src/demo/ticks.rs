//! The demo server's notifications: its log, and changes of the clock.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use serde_json::{Value, json};

use super::{DemoOutbox, offers::CLOCK};
use crate::protocol::{Frame, Id};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// No client needs more subscriptions.
const MOST: usize = 100;

/// What a legacy client has subscribed to.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    wishes: Mutex<Wishes>,
}

#[derive(Debug, Default)]
struct Wishes {
    is_running: bool,
    logs: bool,
    subscribed: HashSet<String>,
}

impl Ticks {
    /// The client has set this log level (2025-11-25, *server/utilities/logging*).
    pub(super) fn log_from(self: &Arc<Self>, level: &str, out: &DemoOutbox) {
        self.change(out, |wishes| wishes.logs = is_told(level));
    }

    /// The client subscribes to a resource, or unsubscribes if `ends`.
    pub(super) fn subscribe(self: &Arc<Self>, uri: &str, ends: bool, out: &DemoOutbox) {
        self.change(out, |wishes| {
            if ends {
                wishes.subscribed.remove(uri);
            } else if wishes.subscribed.len() < MOST {
                wishes.subscribed.insert(uri.to_owned());
            }
        });
    }

    fn change(self: &Arc<Self>, out: &DemoOutbox, change: impl FnOnce(&mut Wishes)) {
        let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut wishes);
        if !std::mem::replace(&mut wishes.is_running, true) {
            tokio::spawn(tick(Arc::downgrade(self), Arc::clone(out)));
        }
    }
}

/// Sends notifications every second, as long as the session lasts.
async fn tick(ticks: Weak<Ticks>, out: DemoOutbox) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let Some(ticks) = ticks.upgrade() else { return };
        let wishes = ticks.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        if wishes.logs {
            out(log("the clock has ticked"));
        }
        if wishes.subscribed.contains(CLOCK) {
            out(Frame::notification("notifications/resources/updated", Some(&json!({"uri": CLOCK}))));
        }
    }
}

/// `subscriptions/listen` (2026-07-28, *Subscriptions*): lasts until the client ends it.
pub(super) async fn listen(id: &Id, params: &Value, out: &DemoOutbox) {
    let meta = json!({SUBSCRIPTION: id.to_value()});
    let wanted = params["notifications"]["resourceSubscriptions"].as_array().into_iter().flatten();
    let known: Vec<&Value> = wanted.filter(|uri| *uri == CLOCK).collect();
    let mut honored = json!({});
    if !known.is_empty() {
        honored["resourceSubscriptions"] = json!(known);
    }
    let acknowledged = json!({"_meta": meta, "notifications": honored});
    out(Frame::notification("notifications/subscriptions/acknowledged", Some(&acknowledged)));
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if !known.is_empty() {
            let updated = json!({"_meta": meta, "uri": CLOCK});
            out(Frame::notification("notifications/resources/updated", Some(&updated)));
        }
    }
}

/// Whether this server's log messages, all of level `info`, are sent to a client that asked for `level` and above.
pub(super) fn is_told(level: &str) -> bool {
    matches!(level, "debug" | "info")
}

/// A line of the log.
pub(super) fn log(words: &str) -> Frame {
    let params = json!({"level": "info", "logger": "demo", "data": words});
    Frame::notification("notifications/message", Some(&params))
}
