use std::{collections::VecDeque, sync::Arc};

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use super::{
    event_loop::{Driver, DriverEvent},
    questions::OpenQuestion,
};
use crate::{
    client::{NoticeKind, clock::ClockPause},
    elicitation::Waited,
};

/// Waiting for what happens behind an accepted link.
pub(super) struct LinkWait {
    link: Option<String>,
    pub(super) done: CancellationToken,
    pub(super) scopes: Vec<u64>,
    /// The clocks are paused while this lasts.
    pauses: Vec<ClockPause>,
}

impl LinkWait {
    /// Whether it was told to end.
    pub(super) fn is_over(&self) -> bool {
        self.done.is_cancelled()
    }
}

/// How many notifications are remembered that arrived before anybody waited for them.
const EARLY: usize = 64;

/// Links of errors -32042 whose notifications somebody waits for.
#[derive(Default)]
pub(super) struct ExpectedLinks {
    waiting: Vec<(String, CancellationToken)>,
    early: VecDeque<String>,
}

impl ExpectedLinks {
    /// Fires `done` when the notification for `id` arrives, or if it has already arrived.
    pub(super) fn expect(&mut self, id: String, done: CancellationToken) {
        self.waiting.retain(|(_, done)| !done.is_cancelled());
        match self.early.iter().position(|early| *early == id) {
            Some(place) => {
                self.early.remove(place);
                done.cancel();
            }
            None => self.waiting.push((id, done)),
        }
    }

    /// The notification for `id` arrived; returns whether anybody was waiting for it.
    fn complete(&mut self, id: &str) -> bool {
        let mut is_expected = false;
        for (_, done) in self.waiting.extract_if(.., |(waiting, done)| waiting == id && !done.is_cancelled()) {
            done.cancel();
            is_expected = true;
        }
        is_expected
    }

    /// Remembers a notification that nobody waits for yet: it may be early.
    fn remember(&mut self, id: &str) {
        if self.early.len() == EARLY {
            self.early.pop_front();
        }
        self.early.push_back(id.to_owned());
    }
}

impl Driver {
    /// A link was accepted and the server has its answer: its call now waits for what happens there, for a while with
    /// its clock paused (2025-11-25, *client/elicitation*, URL Mode).
    pub(super) fn wait_behind(&mut self, open: &OpenQuestion) {
        let (own, url_wait) = match &open.caller {
            Some(caller) => (Some(Arc::clone(&caller.resolver)), caller.url_wait),
            None => (self.setup.resolver.clone(), self.setup.url_wait),
        };
        let Some(resolver) = own else { return };
        if open.is_complete || open.scopes.is_empty() || self.closed.is_some() {
            return;
        }
        let (key, done) = (self.next_key(), CancellationToken::new());
        let waited = resolver.wait(Arc::clone(&open.question), done.clone(), url_wait);
        let (link, scopes) = (open.link.clone(), open.scopes.clone());
        let pauses = self.pauses(&open.scopes);
        // Meanwhile other calls may run.
        for scope in self.scopes_of(&scopes) {
            scope.leave_floor();
        }
        self.waits.insert(key, LinkWait { link, done, scopes, pauses });
        self.running.push(waited.map(move |waited| DriverEvent::Waited(key, waited)).boxed());
    }

    /// The wait for a link is over, however it ended: the server knows that the link was accepted, and decides how the
    /// call continues.
    pub(super) fn waited(&mut self, key: u64, waited: Waited) {
        let Some(wait) = self.waits.remove(&key) else { return };
        for scope in self.scopes_of(&wait.scopes) {
            scope.touch();
        }
        if waited == Waited::TimedOut && self.scopes_of(&wait.scopes).next().is_some() {
            let limit = self.setup.url_wait.as_secs_f64();
            self.setup.warn(format!(
                "the server has not reported the step behind the link as finished within {limit} s; the call goes on until it ends or --timeout"
            ));
        }
        // The clocks continue.
        drop(wait.pauses);
    }

    /// `notifications/elicitation/complete`. Unknown and finished ids are ignored.
    pub(super) fn link_complete(&mut self, id: &str) {
        let mut is_ours = false;
        for wait in self.waits.values().filter(|wait| wait.link.as_deref() == Some(id) && !wait.is_over()) {
            wait.done.cancel();
            is_ours = true;
        }
        for open in self.questions.values_mut().filter(|open| open.link.as_deref() == Some(id)) {
            is_ours |= !open.is_complete;
            open.is_complete = true;
        }
        is_ours |= self.expected_links.complete(id);
        if is_ours {
            self.setup.notice(NoticeKind::LinkComplete(id.to_owned()));
        } else {
            self.expected_links.remember(id);
        }
    }
}
