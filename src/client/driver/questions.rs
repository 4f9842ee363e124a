use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::event_loop::{Driver, DriverEvent};
use crate::{
    client::{Caller, NoticeKind, clock::ClockPause, scope::CallScope},
    elicitation::{Cause, ElicitResult, Elicited, Origin, Question, Why, elicit},
    protocol::{Era, Frame, Id},
};

/// How many questions of one connection may be open at the same time.
pub(super) const MOST_OPEN: usize = 200;

/// A server's question that is being answered.
pub(super) struct OpenQuestion {
    pub(super) question: Arc<Question>,
    pub(super) reply_to: ReplyTo,
    pub(super) stop: CancellationToken,
    /// The calls during which it was asked; when all are over, the question is over, too.
    pub(super) scopes: Vec<u64>,
    state: QuestionState,
    /// The `elicitationId` of a link.
    pub(super) link: Option<String>,
    /// Whether the link's notification arrived before its answer.
    pub(super) is_complete: bool,
    /// Who made the call during which it was asked, if several callers share the client.
    pub(super) caller: Option<Caller>,
    /// The clocks are paused while the question is open.
    _pauses: Vec<ClockPause>,
}

/// Where the answer goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ReplyTo {
    /// To the server's request.
    Request(Id),
    /// Into a task of ours, from which the server fetches it (2025-11-25, *tasks*).
    Task(String),
}

#[derive(Clone, Copy, PartialEq)]
enum QuestionState {
    Open,
    /// There is no reply.
    Withdrawn,
    /// The server was told cancel.
    Ended,
}

impl OpenQuestion {
    /// Whether it is over for the server, and only its prompt is still there.
    pub(super) fn is_gone(&self) -> bool {
        self.state != QuestionState::Open
    }
}

impl Driver {
    /// Asks a question that belongs to these calls, and primarily to the last of them, in order of arrival.
    pub(super) fn ask(&mut self, id: &Id, params: &Value, during: &[Arc<CallScope>]) {
        let scope = during.last();
        let caller = scope.and_then(|scope| scope.caller.clone());
        let own = caller.as_ref().map(|caller| Arc::clone(&caller.resolver));
        let Some(resolver) = own.or_else(|| self.setup.resolver.clone()) else { return };
        let origin = Origin {
            server: self.setup.server.clone(),
            call: scope.map(|scope| scope.name.clone()),
            is_tool: scope.is_some_and(|scope| scope.is_tool),
            era: Era::Legacy,
            cause: Cause::Asked(id.clone()),
        };
        let stop = CancellationToken::new();
        let asked = match elicit(&*resolver, params, origin, self.setup.modes, stop.clone()) {
            Ok(asked) => asked,
            Err(error) => return self.send(Frame::error(id, &error)),
        };
        let scopes: Vec<u64> = during.iter().map(|scope| scope.token).collect();
        for scope in during {
            scope.mark_asked();
        }
        self.setup.notice_of(caller.as_ref(), NoticeKind::Asked(Arc::clone(&asked.question)));
        let reply_to = match params.get("task").filter(|_| self.speaks_tasks()) {
            Some(task) => ReplyTo::Task(self.open_task(id, task)),
            None => ReplyTo::Request(id.clone()),
        };
        let key = self.next_key();
        let is_link = asked.question.request.is_link();
        let open = OpenQuestion {
            question: asked.question,
            reply_to,
            stop,
            _pauses: self.pauses(&scopes),
            scopes,
            state: QuestionState::Open,
            link: params.get("elicitationId").and_then(Value::as_str).filter(|_| is_link).map(str::to_owned),
            is_complete: false,
            caller,
        };
        self.questions.insert(key, open);
        let end = match scope.filter(|scope| scope.caller.is_some()) {
            Some(scope) => self.leave_floor(scope, asked.end),
            None => asked.end,
        };
        self.running.push(end.map(move |elicited| DriverEvent::Elicited(key, elicited)).boxed());
    }

    /// A question ended.
    pub(super) fn elicited(&mut self, key: u64, elicited: Elicited) {
        let Some(open) = self.questions.remove(&key) else { return };
        match open.state {
            QuestionState::Open => self.reply(&open, elicited),
            QuestionState::Withdrawn => {
                let kind = NoticeKind::Withdrawn(Arc::clone(&open.question));
                self.setup.notice_of(open.caller.as_ref(), kind);
            }
            QuestionState::Ended => {}
        }
        for scope in self.scopes_of(&open.scopes) {
            scope.set_blocked(false);
            scope.touch();
        }
        self.ask_unclear();
    }

    fn reply(&mut self, open: &OpenQuestion, elicited: Elicited) {
        let (result, why) = match elicited {
            Elicited::Replied { result, why } => (result, why),
            Elicited::Withdrawn => (ElicitResult::Cancel, None),
            Elicited::Deferred => {
                let why = Why::new(
                    "the call cannot be put aside: with this protocol revision, a call ends when its connection does",
                )
                .with_hint(
                    "keep the server with --keep or `toolnexus up`, so that the call can wait; or answer with \
                             --answers, --on-elicit or at a terminal",
                );
                (ElicitResult::Cancel, Some(why))
            }
        };
        self.tell(&open.reply_to, &result);
        let question = Arc::clone(&open.question);
        if let Some(why) = why {
            for scope in self.scopes_of(&open.scopes) {
                scope.add_unanswered(why.clone());
            }
            self.setup.notice_of(open.caller.as_ref(), NoticeKind::Unanswered { question, why });
        } else {
            let kind = NoticeKind::Answered { question, action: result.action().into() };
            self.setup.notice_of(open.caller.as_ref(), kind);
        }
        if open.question.request.is_link() && matches!(result, ElicitResult::Accept { .. }) {
            self.wait_behind(open);
        }
    }

    pub(super) fn tell(&mut self, reply_to: &ReplyTo, result: &ElicitResult) {
        match reply_to {
            ReplyTo::Request(id) => self.send(Frame::result(id, &result.to_value())),
            ReplyTo::Task(task) => self.complete_task(task, result.to_value()),
        }
    }

    /// The server withdraws the question with this `id`; an unknown one is ignored.
    pub(super) fn withdraw(&mut self, id: &Id) {
        self.unclear.retain(|unclear| &unclear.id != id);
        self.withdraw_where(|reply_to| reply_to == &ReplyTo::Request(id.clone()));
    }

    /// Withdraws these questions: nobody needs an answer any more.
    pub(super) fn withdraw_where(&mut self, is_one: impl Fn(&ReplyTo) -> bool) {
        for open in
            self.questions.values_mut().filter(|open| open.state == QuestionState::Open && is_one(&open.reply_to))
        {
            open.state = QuestionState::Withdrawn;
            open.stop.cancel();
        }
    }

    /// The connection is over.
    pub(super) fn withdraw_all(&mut self) {
        self.unclear.clear();
        self.withdraw_where(|_| true);
        self.waits.values().for_each(|wait| wait.done.cancel());
    }

    /// A call is over: questions that belong only to it are answered with cancel.
    pub(super) fn end_questions_of(&mut self, token: u64) {
        self.end_where(|scopes| {
            let before = scopes.len();
            scopes.retain(|scope| *scope != token);
            before > 0 && scopes.is_empty()
        });
    }

    /// The connection is going to end.
    pub(super) fn end_all_questions(&mut self) {
        for unclear in std::mem::take(&mut self.unclear) {
            self.tell(&ReplyTo::Request(unclear.id), &ElicitResult::Cancel);
        }
        self.end_where(|_| true);
    }

    fn end_where(&mut self, mut is_over: impl FnMut(&mut Vec<u64>) -> bool) {
        let mut told = Vec::new();
        for open in self.questions.values_mut() {
            if is_over(&mut open.scopes) && open.state == QuestionState::Open {
                open.state = QuestionState::Ended;
                open.stop.cancel();
                told.push((open.reply_to.clone(), Arc::clone(&open.question), open.caller.clone()));
            }
        }
        for wait in self.waits.values_mut() {
            if is_over(&mut wait.scopes) {
                wait.done.cancel();
            }
        }
        for (reply_to, question, caller) in told {
            self.tell(&reply_to, &ElicitResult::Cancel);
            let kind = NoticeKind::Answered { question, action: ElicitResult::Cancel.action().into() };
            self.setup.notice_of(caller.as_ref(), kind);
        }
    }

    /// Pauses the clocks of these calls, or the connection's if there are none.
    pub(super) fn pauses(&self, scopes: &[u64]) -> Vec<ClockPause> {
        let pauses: Vec<ClockPause> = self.scopes_of(scopes).map(|scope| scope.clock.pause()).collect();
        if pauses.is_empty() { vec![self.setup.clock.pause()] } else { pauses }
    }

    pub(super) fn scopes_of(&self, tokens: &[u64]) -> impl Iterator<Item = &Arc<CallScope>> {
        self.scopes.iter().filter(move |scope| tokens.contains(&scope.token))
    }
}
