use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::open_call::OpenCall;
use crate::{
    client::{ClientError, NoticeKind},
    elicitation::{Cause, ElicitResult, Question, Waited, Why, check_elicitation},
    protocol::RpcError,
};

/// How often one call may require links.
const ROUNDS: usize = 5;

/// How often a call has required links so far.
#[derive(Debug, Default)]
pub(super) struct RequiredLinks {
    rounds: usize,
}

/// One link of an error -32042.
struct Required {
    params: Value,
    id: String,
    /// Fires when its notification arrives.
    done: CancellationToken,
}

impl OpenCall<'_> {
    /// The error -32042 (2025-11-25, *client/elicitation*): asks about every link in turn, and then waits for all of
    /// them. After that, the call may be repeated.
    ///
    /// # Errors
    /// The server's own error if it cannot be handled, or if the person declines.
    pub(super) async fn open_links(&mut self, links: &mut RequiredLinks, error: RpcError) -> Result<(), ClientError> {
        links.rounds += 1;
        let Some(required) = self.required(&error).filter(|_| links.rounds <= ROUNDS) else {
            return Err(self.refused(error));
        };
        for link in &required {
            self.session.wire.expect_link(link.id.clone(), link.done.clone());
        }
        let is_met = self.meet(&required).await;
        // Nobody waits for their notifications any more.
        for link in &required {
            link.done.cancel();
        }
        if is_met? { Ok(()) } else { Err(self.refused(error)) }
    }

    /// The links that the error names; `None` if there are none, one cannot be asked about, or nobody answers.
    fn required(&self, error: &RpcError) -> Option<Vec<Required>> {
        let list = error.data.as_ref()?.get("elicitations")?.as_array().filter(|list| !list.is_empty())?;
        let Some(modes) = self.session.manner.offer.elicitation else {
            self.notice(NoticeKind::NotDeclared { method: "elicitation/create".into() });
            return None;
        };
        let read = |entry: &Value| {
            let mut params = entry.as_object()?.clone();
            params.entry("mode").or_insert_with(|| json!("url"));
            let params = Value::Object(params);
            let is_link = params.get("mode") == Some(&json!("url")) && check_elicitation(&params, modes).is_ok();
            let id = params.get("elicitationId").and_then(Value::as_str).unwrap_or_default().to_owned();
            is_link.then_some(Required { params, id, done: CancellationToken::new() })
        };
        list.iter().map(read).collect()
    }

    /// Asks about every link and waits for all of them; returns whether all were accepted.
    async fn meet(&self, required: &[Required]) -> Result<bool, ClientError> {
        let _pause = self.clock().pause();
        let mut accepted = Vec::new();
        for link in required {
            let asked = self.put(&link.params, Cause::UrlRequired(link.id.clone()), self.stop.child_token())?;
            let deferred = asked.end.await;
            if deferred == crate::elicitation::Elicited::Deferred {
                let why = Why::new("a call that requires a link ends with its connection and cannot be put aside");
                self.scope.add_unanswered(why.clone());
                self.notice(NoticeKind::Unanswered { question: asked.question, why });
                return Ok(false);
            }
            match self.settle(&asked.question, deferred)? {
                ElicitResult::Accept { .. } => accepted.push((asked.question, link.done.clone())),
                ElicitResult::Decline | ElicitResult::Cancel => return Ok(false),
            }
        }
        for (question, done) in accepted {
            match self.wait(question, done).await? {
                Waited::Complete => {}
                Waited::Cancel => return Ok(false),
                // There is one wait for all of them, and the person ends it once.
                Waited::Continue | Waited::TimedOut => break,
            }
        }
        Ok(true)
    }

    async fn wait(&self, link: Arc<Question>, done: CancellationToken) -> Result<Waited, ClientError> {
        let Some(resolver) = self.resolver() else { return Ok(Waited::TimedOut) };
        let over = CancellationToken::new();
        let waited = resolver.wait(link, over.clone(), self.url_wait());
        tokio::pin!(waited);
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {}
            () = done.cancelled() => {}
            waited = &mut waited => return Ok(waited),
        }
        over.cancel();
        waited.await;
        if self.stop.is_cancelled() { Err(self.interrupted()) } else { Ok(Waited::Complete) }
    }
}
