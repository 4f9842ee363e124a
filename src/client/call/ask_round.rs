use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{PendingInput, open_call::OpenCall};
use crate::{
    client::{ClientError, NoticeKind, roots},
    elicitation::{Asked, Cause, ElicitResult, Elicited, Origin, Question, check_elicitation, elicit},
};

/// How a round of questions ended.
#[derive(Debug, Default)]
pub(super) struct RoundAnswers {
    /// Whether somebody put a question aside.
    pub(super) is_deferred: bool,
    /// The links that were accepted.
    pub(super) links: Vec<Arc<Question>>,
}

impl OpenCall<'_> {
    /// Refuses inputs that cannot be handled, before anything is asked.
    ///
    /// # Errors
    /// [`ClientError::Invalid`] naming the entry.
    pub(super) fn check(&self, inputs: &[PendingInput]) -> Result<(), ClientError> {
        let offer = self.session.manner.offer;
        for input in inputs {
            let method = input.method();
            let refused = match (method, offer.elicitation) {
                ("elicitation/create", Some(modes)) => {
                    check_elicitation(input.params(), modes).err().map(|error| error.message)
                }
                ("roots/list", _) if offer.roots => None,
                _ => {
                    self.notice(NoticeKind::NotDeclared { method: method.to_owned() });
                    Some(format!("{method} was not declared"))
                }
            };
            if let Some(reason) = refused {
                let reason = format!("the input request {:?} cannot be answered: {reason}", input.key);
                return Err(self.invalid(reason));
            }
        }
        Ok(())
    }

    /// Answers those of `inputs` that have no response yet, all at the same time, in their order, while the clock is
    /// paused. `cause` says how they arrived.
    ///
    /// # Errors
    /// [`ClientError::Interrupted`] if the call is given up meanwhile.
    pub(super) async fn answer(
        &self,
        inputs: &mut [PendingInput],
        cause: impl Fn(&str) -> Cause,
    ) -> Result<RoundAnswers, ClientError> {
        let _pause = self.clock().pause();
        let stop = self.stop.child_token();
        let mut asked = Vec::new();
        for input in inputs.iter_mut().filter(|input| input.response.is_none()) {
            if input.method() == "roots/list" {
                input.response = Some(roots::list(&self.options().roots));
                continue;
            }
            let question = self.put(input.params(), cause(&input.key), stop.clone())?;
            input.request = Some(question.question.request.clone());
            asked.push((input, question));
        }
        let (inputs, questions): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let (questions, ends): (Vec<_>, Vec<_>) =
            questions.into_iter().map(|asked| (asked.question, asked.end)).unzip();
        let ends = join_all(ends).await;
        let mut answers = RoundAnswers::default();
        for ((input, question), elicited) in inputs.into_iter().zip(questions).zip(ends) {
            match elicited {
                Elicited::Deferred => answers.is_deferred = true,
                elicited => {
                    let result = self.settle(&question, elicited)?;
                    if question.request.is_link() && matches!(result, ElicitResult::Accept { .. }) {
                        answers.links.push(question);
                    }
                    input.response = Some(result.to_value());
                }
            }
        }
        Ok(answers)
    }

    /// Asks one question, as part of this call.
    ///
    /// # Errors
    /// [`ClientError::Invalid`] if it cannot be asked.
    pub(super) fn put(&self, params: &Value, cause: Cause, stop: CancellationToken) -> Result<Asked, ClientError> {
        let offer = self.session.manner.offer;
        let (Some(resolver), Some(modes)) = (self.resolver(), offer.elicitation) else {
            return Err(self.invalid("elicitation was not declared"));
        };
        let origin = Origin {
            server: self.options().server.clone(),
            call: Some(self.scope.name.clone()),
            is_tool: self.scope.is_tool,
            era: self.era(),
            cause,
        };
        let asked = elicit(&**resolver, params, origin, modes, stop).map_err(|error| self.invalid(error.message))?;
        self.notice(NoticeKind::Asked(Arc::clone(&asked.question)));
        Ok(asked)
    }

    /// The reply to the server for a question that ended.
    ///
    /// # Errors
    /// [`ClientError::Interrupted`] if the call was given up.
    pub(super) fn settle(&self, question: &Arc<Question>, elicited: Elicited) -> Result<ElicitResult, ClientError> {
        let question = Arc::clone(question);
        if self.stop.is_cancelled() {
            self.notice(NoticeKind::Withdrawn(question));
            return Err(self.interrupted());
        }
        match elicited {
            Elicited::Replied { result, why: Some(why) } => {
                self.scope.add_unanswered(why.clone());
                self.notice(NoticeKind::Unanswered { question, why });
                Ok(result)
            }
            Elicited::Replied { result, why: None } => {
                self.notice(NoticeKind::Answered { question, action: result.action().into() });
                Ok(result)
            }
            Elicited::Withdrawn | Elicited::Deferred => Ok(ElicitResult::Cancel),
        }
    }
}
