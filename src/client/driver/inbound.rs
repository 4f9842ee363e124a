use serde_json::{Value, json};

use super::event_loop::Driver;
use crate::{
    client::{NoticeKind, roots},
    protocol::{Era, Frame, FrameKind, Id, RpcError},
};

impl Driver {
    /// A message from the server.
    ///
    /// `token` is that of the call during which it arrived, if the transport knows.
    pub(super) fn take_frame(&mut self, frame: Frame, token: Option<u64>) {
        match frame.kind().clone() {
            FrameKind::Response { id } | FrameKind::Error { id: Some(id) } => self.take_response(&id, frame),
            FrameKind::Error { id: None } => self.take_error_for_nobody(frame),
            FrameKind::Notification { method } => self.take_notification(&method, &params(&frame), token),
            FrameKind::Request { id, method } => self.take_request(&id, &method, &frame, token),
        }
    }

    /// A response to our request. Our ids are numbers; some servers send them back as strings.
    fn take_response(&mut self, id: &Id, frame: Frame) {
        let number = id.as_number();
        let pending = self.pending.remove(id).or_else(|| self.pending.remove(number.as_ref()?));
        match pending {
            // The requester may be gone.
            Some(pending) => drop(pending.reply.send(Ok(frame))),
            None if [Some(id), number.as_ref()].into_iter().flatten().any(|id| self.abandoned.contains(id)) => {}
            None => {
                self.warn_once("response", || format!("it sent an answer to no open request, which is ignored: {id}"));
            }
        }
    }

    /// An error without an id belongs to the only request in progress.
    fn take_error_for_nobody(&mut self, frame: Frame) {
        let only = if self.pending.len() == 1 { self.pending.keys().next().cloned() } else { None };
        if let Some(pending) = only.and_then(|id| self.pending.remove(&id)) {
            drop(pending.reply.send(Ok(frame)));
            return;
        }
        let error = RpcError::from_value(&frame.body_value().unwrap_or_default());
        self.warn_once("error", || format!("it sent an error that does not belong to a request: {error}"));
    }

    fn take_request(&mut self, id: &Id, method: &str, frame: &Frame, token: Option<u64>) {
        if self.revision.is_some_and(|revision| revision.era() == Era::Modern) {
            // 2026-07-28, *basic*: servers MUST NOT initiate requests, and clients do not send responses.
            let text = || format!("it sent a request, which its protocol revision forbids; it is ignored: {method}");
            return self.warn_once("request", text);
        }
        let reply = match method {
            "ping" => Frame::result(id, &json!({})),
            "roots/list" if !self.setup.roots.is_empty() => Frame::result(id, &roots::list(&self.setup.roots)),
            "elicitation/create" if self.setup.resolver.is_some() => {
                return self.take_question(id, params(frame), token);
            }
            "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/list" if self.speaks_tasks() => {
                return self.serve_task(id, method, &params(frame));
            }
            _ => {
                if self.warned.insert(method.to_owned()) {
                    self.setup.notice(NoticeKind::NotDeclared { method: method.to_owned() });
                }
                Frame::error(id, &RpcError::method_not_found())
            }
        };
        self.send(reply);
    }
}

/// The params of a message; `null` if there are none, or they are not JSON.
fn params(frame: &Frame) -> Value {
    frame.body_value().unwrap_or_default()
}
