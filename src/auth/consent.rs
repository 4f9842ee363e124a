use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{AuthError, plan::Plan};
use crate::{
    elicitation::{Cause, Origin, Outcome, Question, Waited, elicitation_to_request},
    protocol::Era,
};

impl Plan<'_> {
    /// Asks whether to sign in, and has the page opened.
    pub(super) async fn consent(&self, url: &str, stop: &CancellationToken) -> Result<Arc<Question>, AuthError> {
        self.consent_to(url, None, stop).await
    }

    /// Like [`Plan::consent`], with other instructions for the page.
    pub(super) async fn consent_to(
        &self,
        url: &str,
        say: Option<&str>,
        stop: &CancellationToken,
    ) -> Result<Arc<Question>, AuthError> {
        let host = Url::parse(&self.auth_server.issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
        let mut prompt = format!("Sign in at {}.", host.unwrap_or_default());
        if !self.scopes.is_empty() {
            prompt = format!("{prompt}\nIt will allow this program: {}", self.scopes.join(", "));
        }
        if let Some(say) = say {
            prompt = format!("{prompt}\n{say}");
        }
        let question = self.question(&json!({"mode": "url", "message": prompt, "url": url}));
        match self.put(&question, stop).await {
            Outcome::Answered(answer) if answer.ok => Ok(question),
            Outcome::Answered(_) | Outcome::Withdrawn => Err(AuthError::No),
            Outcome::Unanswerable(why) => Err(AuthError::unusable(why.reason)),
            Outcome::Pass | Outcome::Deferred => Err(AuthError::Nobody),
        }
    }

    /// What the person pastes while the browser is being waited for.
    pub(super) async fn pasted(&self, is_wrong: bool, stop: &CancellationToken) -> Outcome {
        let mut message = "Continue in the browser. This question closes when you are done there.".to_owned();
        if is_wrong {
            message = format!("That is not the right address: it belongs to another sign-in, or to none.\n{message}");
        }
        let schema = json!({"type": "object", "properties": {"address": {"type": "string"}}, "required": ["address"]});
        let params = json!({"message": message, "requestedSchema": schema});
        self.put(&self.question(&params), stop).await
    }

    /// Waits while the person does something behind a link.
    pub(super) async fn wait(&self, link: Arc<Question>, done: &CancellationToken, limit: Duration) -> Waited {
        match self.person {
            Some(person) => person.wait(link, done.clone(), limit).await,
            None => Waited::TimedOut,
        }
    }

    fn question(&self, params: &Value) -> Arc<Question> {
        let origin =
            Origin { server: self.server.clone(), call: None, is_tool: false, era: Era::Modern, cause: Cause::SignIn };
        Arc::new(Question::new(elicitation_to_request(params), origin))
    }

    async fn put(&self, question: &Arc<Question>, stop: &CancellationToken) -> Outcome {
        match self.person {
            Some(person) => person.claim(Arc::clone(question), stop.clone()).await,
            None => Outcome::Pass,
        }
    }
}
