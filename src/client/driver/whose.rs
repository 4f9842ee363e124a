use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::Value;
use tokio::time::sleep;

use super::{
    event_loop::{Driver, DriverEvent},
    questions::{MOST_OPEN, OpenQuestion, ReplyTo},
};
use crate::{
    client::{NoticeKind, scope::CallScope},
    elicitation::{ElicitResult, Elicited, Why},
    protocol::{Frame, Id, RpcError, code},
};

/// How long a question waits until it is clear which call it belongs to.
const CLEAR: Duration = Duration::from_secs(10);

/// A question that arrived while calls of several callers were running, and that does not say which of them it belongs
/// to.
pub(super) struct Unclear {
    pub(super) id: Id,
    key: u64,
    params: Value,
}

impl Driver {
    /// `elicitation/create`, during the call with this progress token, if the transport knows.
    pub(super) fn take_question(&mut self, id: &Id, params: Value, token: Option<u64>) {
        let asked_already = |open: &OpenQuestion| open.reply_to == ReplyTo::Request(id.clone()) && !open.is_gone();
        if self.questions.values().any(asked_already) || self.unclear.iter().any(|unclear| &unclear.id == id) {
            return self.warn_once("question", || format!("it used the id {id} for two questions at the same time"));
        }
        if self.questions.len() + self.unclear.len() >= MOST_OPEN {
            self.warn_once("too many", || {
                format!("it asked more than {MOST_OPEN} questions at the same time; the others are refused")
            });
            let error = RpcError::new(code::INTERNAL_ERROR, "too many questions are open");
            return self.send(Frame::error(id, &error));
        }
        match self.whose(token) {
            Some(during) if self.unclear.is_empty() || token.is_some() => {
                self.ask(id, &params, &during);
                self.ask_unclear();
            }
            _ => {
                let key = self.next_key();
                self.unclear.push(Unclear { id: id.clone(), key, params });
                self.running.push(sleep(CLEAR).map(move |()| DriverEvent::Unclear(key)).boxed());
            }
        }
    }

    /// The calls that a question belongs to; `None` if that is not clear. With a single caller, a question belongs to
    /// all of its calls.
    fn whose(&mut self, token: Option<u64>) -> Option<Vec<Arc<CallScope>>> {
        if self.scopes.iter().all(|scope| scope.caller.is_none()) {
            return Some(self.scopes.clone());
        }
        if let Some(scope) = self.scopes.iter().find(|scope| Some(scope.token) == token) {
            return Some(vec![Arc::clone(scope)]);
        }
        self.setup.floor.need();
        if self.scopes.len() == 1 {
            // From now on, an open question no longer implies that nothing else is asked during its call.
            self.asks_at_once |= self.scopes[0].is_blocked();
            return Some(self.scopes.clone());
        }
        let mut running = self.running_scopes();
        match (running.next(), running.next()) {
            (Some(only), None) => Some(vec![Arc::clone(only)]),
            _ => None,
        }
    }

    /// The calls during which the server is not waiting for an answer.
    fn running_scopes(&self) -> impl Iterator<Item = &Arc<CallScope>> {
        let waits = |token: u64| self.waits.values().any(|wait| wait.scopes.contains(&token));
        self.scopes.iter().filter(move |scope| self.asks_at_once || !(scope.is_blocked() || waits(scope.token)))
    }

    /// A call ended: it may now be clear which call a question belongs to.
    pub(super) fn ask_unclear(&mut self) {
        while !self.unclear.is_empty() {
            let Some(during) = self.whose(None) else { return };
            let Unclear { id, params, .. } = self.unclear.remove(0);
            self.ask(&id, &params, &during);
        }
    }

    /// It is not clear which call a question belongs to: it is answered with cancel, and every possible owner is told.
    pub(super) fn stays_unclear(&mut self, key: u64) {
        let Some(place) = self.unclear.iter().position(|unclear| unclear.key == key) else { return };
        let Unclear { id, .. } = self.unclear.remove(place);
        let text = "it asked a question while several commands were making calls, and did not say which one it \
                    meant, so the question was cancelled";
        let why = Why::new(text).with_hint("make this call on its own, or with --no-keep");
        let mut whose: Vec<Arc<CallScope>> = self.running_scopes().map(Arc::clone).collect();
        if whose.is_empty() {
            whose.clone_from(&self.scopes);
        }
        for scope in &whose {
            scope.mark_asked();
            scope.add_unanswered(why.clone());
            self.setup.notice_of(scope.caller.as_ref(), NoticeKind::Warning(text.to_owned()));
        }
        self.tell(&ReplyTo::Request(id), &ElicitResult::Cancel);
        self.ask_unclear();
    }

    /// The call of `scope` leaves the floor to others while its question is open, and takes it again before the answer
    /// is sent.
    pub(super) fn leave_floor(
        &self,
        scope: &Arc<CallScope>,
        end: BoxFuture<'static, Elicited>,
    ) -> BoxFuture<'static, Elicited> {
        scope.set_blocked(true);
        scope.leave_floor();
        let (scope, floor) = (Arc::clone(scope), Arc::clone(&self.setup.floor));
        async move {
            let elicited = end.await;
            if matches!(elicited, Elicited::Replied { .. }) {
                floor.take(&scope).await;
            }
            elicited
        }
        .boxed()
    }
}
