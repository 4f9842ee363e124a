use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::event_loop::Driver;
use crate::{
    client::{NoticeKind, ToolProgress},
    protocol::{Era, Frame, Id},
};

impl Driver {
    pub(super) fn take_notification(&mut self, method: &str, params: &Value, token: Option<u64>) {
        let text = |key: &str| params.get(key).and_then(Value::as_str).map(str::to_owned);
        match method {
            "notifications/progress" => self.take_progress(params),
            "notifications/message" => {
                let log = NoticeKind::Log {
                    level: text("level").unwrap_or_else(|| "info".to_owned()),
                    logger: text("logger"),
                    data: params.get("data").cloned().unwrap_or_default(),
                };
                let scope = self.scopes.iter().find(|scope| Some(scope.token) == token);
                self.setup.notice_of(scope.and_then(|scope| scope.caller.as_ref()), log);
            }
            "notifications/cancelled" => {
                if let Some(id) = params.get("requestId").and_then(Id::from_value) {
                    self.take_cancelled(&id);
                }
            }
            "notifications/elicitation/complete" => {
                if let Some(id) = text("elicitationId") {
                    self.link_complete(&id);
                }
            }
            "notifications/tasks" | "notifications/tasks/status" => {
                if let (Some(id), Some(status)) = (text("taskId"), text("status")) {
                    self.setup.task(&id, status, text("statusMessage"));
                }
            }
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated"
            | "notifications/subscriptions/acknowledged" => {
                if method == "notifications/tools/list_changed" {
                    self.setup.tool_changes.fetch_add(1, Ordering::Relaxed);
                }
                self.setup.notice(NoticeKind::Changed { method: method.to_owned(), params: params.clone() });
            }
            _ if method.starts_with("notifications/") => {}
            // JSON-RPC 2.0, section 4: the id of a request is a string or a number.
            _ => self
                .warn_once("id", || format!("it sent a request without a usable id; the request is ignored: {method}")),
        }
    }

    fn take_progress(&mut self, params: &Value) {
        let token = params.get("progressToken").and_then(Value::as_u64);
        let Some(scope) = self.scopes.iter().find(|scope| Some(scope.token) == token) else { return };
        scope.touch();
        let progress = params.get("progress").and_then(Value::as_f64).unwrap_or_default();
        let total = params.get("total").and_then(Value::as_f64);
        let message = params.get("message").and_then(Value::as_str).map(str::to_owned);
        scope.advance(ToolProgress { progress, total, message: message.clone() });
        let call = Some(scope.name.clone());
        self.setup.notice_of(scope.caller.as_ref(), NoticeKind::Progress { call, progress, total, message });
    }

    /// The server withdraws a question, or ends one of our subscriptions (2026-07-28, *Cancellation*).
    fn take_cancelled(&mut self, id: &Id) {
        if self.revision.is_none_or(|revision| revision.era() == Era::Legacy) {
            self.withdraw(id);
        } else if let Some(pending) = self.pending.remove(id) {
            drop(pending.reply.send(Ok(Frame::result(id, &json!({})))));
        }
    }
}
