use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use super::{
    BeforeSending, CallEnd, PendingCall, PendingInput, open_call::OpenCall, outcome::InputRequired, waiting::LinkPause,
};
use crate::{client::ClientError, elicitation::Cause};

/// How many rounds of a call may ask something, and how many in a row may ask nothing.
const ASKING: usize = 10;
const QUIET: u32 = 10;
/// The shortest and the longest pause before a request is repeated.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// The rounds of one call (2026-07-28, *mrtr*).
#[derive(Debug, Default)]
pub(super) struct Rounds {
    asking: usize,
    /// Consecutive rounds that asked nothing new.
    quiet: u32,
    /// When the first of them arrived.
    since: Option<Instant>,
    /// The links that were accepted last, with their responses.
    accepted: Vec<PendingInput>,
}

impl Rounds {
    /// How long to wait before the next request, after a round that asked nothing new: the first is repeated
    /// immediately.
    fn pause(&mut self) -> Duration {
        self.since.get_or_insert_with(Instant::now);
        self.quiet += 1;
        match self.quiet {
            1 => Duration::ZERO,
            more => PAUSES.0.saturating_mul(1 << (more - 2).min(8)).min(PAUSES.1),
        }
    }

    fn start_over(&mut self) {
        (self.quiet, self.since) = (0, None);
    }
}

impl OpenCall<'_> {
    /// One `input_required` result: answers what it asks, and returns the params of the next request, or the deferred
    /// call.
    pub(super) async fn round(
        &mut self,
        rounds: &mut Rounds,
        asking: InputRequired,
    ) -> Result<Result<Map<String, Value>, PendingCall>, ClientError> {
        let InputRequired { mut inputs, state } = asking;
        if inputs.is_empty() {
            self.pause(rounds).await?;
            return Ok(Ok(self.next_params(&[], state)));
        }
        self.check(&inputs)?;
        if let Some(same) = self.accepted_before(rounds, &inputs) {
            // The person who accepted the link is busy there: the server gets the same answer again, and nobody is
            // asked again yet.
            self.pause(rounds).await?;
            return Ok(Ok(self.next_params(&same, state)));
        }
        self.end_waiting().await;
        rounds.start_over();
        rounds.asking += 1;
        if rounds.asking > ASKING {
            return Err(self.invalid(format!("it asked in more than {ASKING} rounds")));
        }
        self.fill(rounds, &mut inputs, state, None).await
    }

    /// Answers the open ones of `inputs`, and returns the params of the next request, or the deferred call.
    async fn fill(
        &mut self,
        rounds: &mut Rounds,
        inputs: &mut [PendingInput],
        state: Option<Value>,
        task: Option<String>,
    ) -> Result<Result<Map<String, Value>, PendingCall>, ClientError> {
        let answers = self.answer(inputs, |key| Cause::Input(key.to_owned())).await?;
        if answers.is_deferred {
            return Ok(Err(self.pending(inputs, state, task)));
        }
        let links: Vec<String> = answers.links.iter().filter_map(|link| link.request.url.clone()).collect();
        if let (Some(last), Some(resolver)) = (answers.links.last(), self.resolver()) {
            let limit = self.url_wait();
            self.waiting = Some(LinkPause::start(&**resolver, last.clone(), links, limit, self.clock()));
            rounds.accepted = inputs.to_vec();
        }
        Ok(Ok(self.next_params(inputs, state)))
    }

    /// Continues a deferred call: asks what is open, and sends it.
    pub(super) async fn take_up(
        &mut self,
        pending: PendingCall,
        before_sending: BeforeSending<'_>,
    ) -> Result<CallEnd, ClientError> {
        let PendingCall { mut inputs, request_state, task, .. } = pending;
        self.check(&inputs)?;
        if let Some(id) = task {
            return self.take_up_task(id, inputs, before_sending).await;
        }
        let mut rounds = Rounds { asking: 1, ..Rounds::default() };
        match self.fill(&mut rounds, &mut inputs, request_state.clone(), None).await? {
            Ok(_) if !before_sending(self.pending(&inputs, request_state, None)).await => Err(self.interrupted()),
            Ok(params) => self.steps(params, rounds).await,
            Err(pending) => Ok(CallEnd::Deferred(Box::new(pending))),
        }
    }

    pub(super) fn pending(&self, inputs: &[PendingInput], state: Option<Value>, task: Option<String>) -> PendingCall {
        PendingCall {
            method: self.method.clone(),
            params: Value::Object(self.params.clone()),
            request_state: state,
            inputs: inputs.to_vec(),
            task,
            kept: None,
        }
    }

    /// The call's own params with the answers, and the server's state unchanged.
    fn next_params(&self, inputs: &[PendingInput], state: Option<Value>) -> Map<String, Value> {
        let mut params = self.params.clone();
        if !inputs.is_empty() {
            params.insert("inputResponses".into(), responses(inputs));
        }
        if let Some(state) = state {
            params.insert("requestState".into(), state);
        }
        params
    }

    /// The previous responses, if the server asks only for links that were accepted and are still being waited for, or
    /// whose end it has not noticed yet.
    fn accepted_before(&mut self, rounds: &Rounds, inputs: &[PendingInput]) -> Option<Vec<PendingInput>> {
        let said_done = std::mem::take(&mut self.said_done);
        let links = self.waiting.as_ref().map_or(&said_done, |waiting| &waiting.links);
        let url = |input: &PendingInput| input.params().get("url").and_then(Value::as_str).map(str::to_owned);
        let same = |input: &PendingInput| {
            let url = url(input).filter(|url| links.contains(url))?;
            let before =
                rounds.accepted.iter().find(|before| before.params().get("url") == Some(&url.clone().into()))?;
            Some(PendingInput { response: before.response.clone(), ..input.clone() })
        };
        inputs.iter().map(same).collect()
    }

    /// Waits before the same request is sent again, but in total no longer than a link may take.
    async fn pause(&mut self, rounds: &mut Rounds) -> Result<(), ClientError> {
        let pause = rounds.pause();
        let limit = self.url_wait();
        let over = rounds.since.map_or(Duration::ZERO, |since| since.elapsed());
        if over >= limit && self.waiting.is_none() {
            let method = self.method.clone();
            let link = ClientError::LinkTimedOut { after: limit };
            let call = ClientError::TimedOut { method, after: over };
            return Err(if rounds.accepted.is_empty() { call } else { link });
        }
        if rounds.quiet > QUIET && self.waiting.is_none() {
            return Err(self.invalid(format!("it asked for the call to be repeated more than {QUIET} times")));
        }
        let (stop, waiting) = (&self.stop, &mut self.waiting);
        let waited = async {
            match waiting {
                Some(waiting) => waiting.over().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return Err(self.interrupted()),
            _ = waited => self.waiting = None,
            () = sleep(pause) => {}
        }
        Ok(())
    }

    pub(super) async fn end_waiting(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.end().await;
        }
    }
}

/// `inputResponses`: the answers under the server's keys.
pub(super) fn responses(inputs: &[PendingInput]) -> Value {
    let response = |input: &PendingInput| Some((input.key.clone(), input.response.clone()?));
    Value::Object(inputs.iter().filter_map(response).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_none_to_five_seconds() {
        let mut rounds = Rounds::default();
        let pauses: Vec<u128> = std::iter::repeat_with(|| rounds.pause().as_millis()).take(8).collect();
        assert_eq!(pauses, [0, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
    }
}
