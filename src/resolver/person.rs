use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::BoxFuture};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    queue::{Queue, QueuePlace, QueueTurn},
    tally::{Tally, Turnout},
};
use crate::{
    elicitation::{Answer, Cause, Outcome, Question, QuestionBody, Resolver, Waited, Why},
    terminal::{Asking, DialogEnd, PersonReply, Terminal},
};

/// A person at a terminal. Everything is asked in order of arrival, one question at a time.
#[derive(Clone, Debug)]
pub struct Person {
    terminal: Terminal,
    /// Whether links may be opened.
    browser: bool,
    queue: Queue,
    tally: Tally,
}

impl Person {
    /// A person at `terminal`; `browser` says whether links may be opened.
    pub fn new(terminal: Terminal, browser: bool) -> Self {
        Self { terminal, browser, queue: Queue::default(), tally: Tally::default() }
    }

    async fn answer(self, question: Arc<Question>, stop: CancellationToken, mut place: QueuePlace) -> Outcome {
        let id = &question.request.id;
        let turn = tokio::select! {
            biased;
            () = stop.cancelled() => return Outcome::Withdrawn,
            turn = place.turn() => turn,
        };
        let reply = match turn {
            QueueTurn::SentAway => Ok(PersonReply::Cancel),
            QueueTurn::Yours => self.ask(&question, &stop).await,
        };
        if matches!(reply, Ok(PersonReply::CancelAll)) {
            self.queue.send_away();
        }
        match reply {
            Ok(PersonReply::Send(_)) if question.request.is_link() => Outcome::Answered(Answer::accept(id, None)),
            Ok(PersonReply::Send(content)) => Outcome::Answered(Answer::accept(id, Some(Value::Object(content)))),
            Ok(PersonReply::Decline) => Outcome::Answered(Answer::decline(id)),
            Ok(PersonReply::Cancel | PersonReply::CancelAll) | Err(DialogEnd::Interrupted) => {
                Outcome::Answered(Answer::cancel(id))
            }
            Err(DialogEnd::Withdrawn) => Outcome::Withdrawn,
            Err(end) => Outcome::Unanswerable(Why::new(end.to_string())),
        }
    }

    /// Asks, now that the terminal is free.
    async fn ask(&self, question: &Question, stop: &CancellationToken) -> Result<PersonReply, DialogEnd> {
        let origin = &question.origin;
        let request = &question.request;
        let verb = match (request.is_link(), &origin.cause) {
            (_, Cause::SignIn) => "asks you to sign in",
            (true, _) => "asks you to open a link",
            (false, _) => "asks",
        };
        let mut asking = Asking::of(origin, verb, &request.prompt, self.queue.waiting());
        if origin.cause == Cause::SignIn {
            // The server does not get to know about it.
            asking.server = None;
        }
        match self.tally.count(origin) {
            Turnout::Silenced => return Ok(PersonReply::Cancel),
            Turnout::AskWhether(many) => match self.terminal.ask_to_go_on(asking.clone(), many, stop).await? {
                PersonReply::Send(_) => {}
                reply => {
                    self.tally.silence(origin);
                    return Ok(reply);
                }
            },
            Turnout::Ask => {}
        }
        let redraw = |redraw| self.queue.ring(redraw);
        match question.body() {
            QuestionBody::Link(link) => {
                self.terminal.ask_link(asking, Arc::clone(link), self.browser, stop, redraw).await
            }
            QuestionBody::Refused(refused) => {
                Terminal::refuse_link(&asking, request.url.as_deref().unwrap_or_default(), refused);
                Ok(PersonReply::Cancel)
            }
            QuestionBody::Form(_) if origin.cause == Cause::SignIn => {
                self.terminal.ask_for_address(asking, stop, redraw).await
            }
            QuestionBody::Form(form) => self.terminal.ask_form(asking, Arc::clone(form), stop, redraw).await,
        }
    }
}

impl Resolver for Person {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let place = self.queue.join();
        self.clone().answer(question, stop, place).boxed()
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        let person = self.clone();
        async move {
            let begin = Instant::now();
            let end = begin + limit;
            loop {
                // While other questions are asked, the link is waited for without a screen.
                let mut place = person.queue.join();
                let turn = tokio::select! {
                    biased;
                    () = done.cancelled() => return Waited::Complete,
                    () = tokio::time::sleep_until(end.into()) => return Waited::TimedOut,
                    turn = place.turn() => turn,
                };
                if turn == QueueTurn::SentAway {
                    return Waited::Cancel;
                }
                let asking = Asking::of(&link.origin, "", "", person.queue.waiting());
                let redraw = |redraw| person.queue.ring(redraw);
                if let Some(waited) = person.terminal.wait_for_link(asking, (begin, end), &done, redraw).await {
                    return waited;
                }
            }
        }
        .boxed()
    }
}
