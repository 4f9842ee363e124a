use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::command_link::{CommandLink, QuestionOut};
use crate::{
    client::{Notice, NoticeKind, PendingCall, PendingInput},
    elicitation::{Answer, Cause, Outcome, Question, Resolver, Waited, answer_to_elicit_result},
    protocol::Era,
};

/// The command that a call currently belongs to.
#[derive(Clone)]
pub(super) struct OperationOwner {
    pub(super) link: Arc<CommandLink>,
    /// The operation's id in that command.
    pub(super) id: u64,
    pub(super) stop: CancellationToken,
    /// Whether the call was put aside before, and is being resumed.
    pub(super) is_resumed: bool,
}

/// A call that was put aside: its open question waits in the keeper.
pub(super) struct Aside {
    pub(super) question: Arc<Question>,
    pub(super) owner: OperationOwner,
    /// Whether the command's own resolver decided this, and not a person who could not answer.
    pub(super) is_deferred: bool,
}

/// Who answers the questions of one call: the command that it belongs to, and later the next one.
#[derive(Clone)]
pub(super) struct Party {
    owner: watch::Sender<Option<OperationOwner>>,
    aside: mpsc::UnboundedSender<Aside>,
}

impl Party {
    /// A party with its first command.
    pub(super) fn new(owner: OperationOwner) -> (Self, mpsc::UnboundedReceiver<Aside>) {
        let (aside, receiver) = mpsc::unbounded_channel();
        (Self { owner: watch::Sender::new(Some(owner)), aside }, receiver)
    }

    pub(super) fn owner(&self) -> Option<OperationOwner> {
        self.owner.borrow().clone()
    }

    /// The call belongs to this command now.
    pub(super) fn give(&self, owner: OperationOwner) {
        self.owner.send_replace(Some(owner));
    }

    async fn settle(
        self,
        question: Arc<Question>,
        mut asked: Option<(OperationOwner, QuestionOut)>,
        stop: CancellationToken,
    ) -> Outcome {
        let can_wait = question.origin.era == Era::Legacy && matches!(question.origin.cause, Cause::Asked(_));
        loop {
            if let Some((owner, asked)) = asked.take() {
                let outcome = asked.end(&stop).await;
                let is_deferred = outcome == Outcome::Deferred;
                if !can_wait || stop.is_cancelled() || !(is_deferred || owner.is_resumed) {
                    return outcome;
                }
                match &outcome {
                    Outcome::Answered(answer) if may_send(&owner, &question, answer).await => return outcome,
                    Outcome::Unanswerable(why) => owner.link.notice(Notice {
                        server: question.origin.server.clone(),
                        kind: NoticeKind::Unanswered { question: Arc::clone(&question), why: why.clone() },
                    }),
                    _ => {}
                }
                self.owner.send_replace(None);
                drop(self.aside.send(Aside { question: Arc::clone(&question), owner, is_deferred }));
            }
            let mut owners = self.owner.subscribe();
            tokio::select! {
                () = stop.cancelled() => return Outcome::Withdrawn,
                owner = owners.wait_for(Option::is_some) => {
                    let owner = owner.ok().and_then(|owner| owner.clone());
                    asked = owner.map(|owner| {
                        let asked = owner.link.ask(&question);
                        (owner, asked)
                    });
                }
            }
        }
    }
}

async fn may_send(owner: &OperationOwner, question: &Question, answer: &Answer) -> bool {
    if owner.link.gone.is_cancelled() {
        return false;
    }
    let mut pending = pending(question, None);
    for input in &mut pending.inputs {
        input.response = Some(answer_to_elicit_result(answer.clone()).to_value());
    }
    owner.link.may_send(owner.id, pending).await
}

/// A call with its open question, as the command that put it aside sees it; `kept` is its name in the keeper.
pub(super) fn pending(question: &Question, kept: Option<String>) -> PendingCall {
    let name = question.origin.call.as_ref().map(ToString::to_string).unwrap_or_default();
    let method = if question.origin.is_tool { "tools/call" } else { "prompts/get" };
    let input = Map::from_iter([("method".to_owned(), json!("elicitation/create"))]);
    let request = Some(question.request.clone());
    PendingCall {
        method: method.to_owned(),
        params: json!({"name": name}),
        request_state: None,
        inputs: vec![PendingInput { key: question.request.id.clone(), input, request, response: None }],
        task: None,
        kept,
    }
}

impl Resolver for Party {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let asked = self.owner().map(|owner| {
            let asked = owner.link.ask(&question);
            (owner, asked)
        });
        self.clone().settle(question, asked, stop).boxed()
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        match self.owner() {
            Some(owner) => owner.link.wait(link, done, limit).boxed(),
            None => std::future::ready(Waited::Cancel).boxed(),
        }
    }
}
