use std::{collections::HashSet, time::Duration};

use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    BeforeSending, CallEnd, PendingInput,
    open_call::OpenCall,
    outcome::{TaskState, read_inputs},
    rounds::responses,
};
use crate::{
    client::{ClientError, clock::Patience, conversation::refusal, wire::WireRequest},
    elicitation::Cause,
    protocol::{Frame, RpcError},
};

/// The pause between two polls if the server names none, and its bounds.
const POLL: Duration = Duration::from_secs(1);
const POLLS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(60));
/// How long the cancellation of a task may take.
const CANCEL: Duration = Duration::from_secs(2);

fn milliseconds(value: Option<&Value>) -> Option<Duration> {
    let value = value.and_then(Value::as_f64).filter(|value| *value >= 0.0)?;
    Duration::try_from_secs_f64(value / 1000.0).ok()
}

impl TaskState {
    /// How long to wait before the next poll.
    pub(super) fn pause(&self) -> Duration {
        let pause = milliseconds(self.poll.as_ref()).or_else(|| milliseconds(self.old_poll.as_ref()));
        pause.unwrap_or(POLL).clamp(POLLS.0, POLLS.1)
    }

    /// How long it lives from its creation, where that has an end.
    fn life(&self) -> Option<Duration> {
        let life = milliseconds(self.ttl.as_ref()).or_else(|| milliseconds(self.old_ttl.as_ref()));
        life.filter(|life| !life.is_zero())
    }

    /// Whether its status is final.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed" | "cancelled")
    }

    /// Its status message.
    pub(super) fn words(&self) -> Option<String> {
        self.message.as_ref().and_then(Value::as_str).map(str::to_owned)
    }
}

impl OpenCall<'_> {
    /// Follows a task of the extension `io.modelcontextprotocol/tasks` to its end. `answered` are answers that the task
    /// has not received yet.
    pub(super) async fn follow_task(
        &mut self,
        task: TaskState,
        answered: Vec<PendingInput>,
    ) -> Result<CallEnd, ClientError> {
        let id = task.id.clone();
        if let Some(sink) = &self.on_task {
            sink.tell(&self.pending(&answered, None, Some(id.clone())));
        }
        let end = self.poll(task, answered).await;
        self.cancel_unless_over(&id, &end).await;
        end
    }

    /// Continues a task that was put aside.
    pub(super) async fn take_up_task(
        &mut self,
        id: String,
        mut inputs: Vec<PendingInput>,
        before_sending: BeforeSending<'_>,
    ) -> Result<CallEnd, ClientError> {
        let answers = self.answer(&mut inputs, |_| Cause::Task(id.clone())).await?;
        if answers.is_deferred {
            return Ok(CallEnd::Deferred(Box::new(self.pending(&inputs, None, Some(id)))));
        }
        if !before_sending(self.pending(&inputs, None, Some(id.clone()))).await {
            return Err(self.interrupted());
        }
        self.follow_task(TaskState { id, ..TaskState::default() }, inputs).await
    }

    /// Cancels a task that was given up. A task that has ended or was put aside is left alone.
    pub(super) async fn cancel_unless_over(&self, id: &str, end: &Result<CallEnd, ClientError>) {
        let Err(ClientError::Interrupted { .. } | ClientError::TimedOut { .. } | ClientError::TaskExpired { .. }) = end
        else {
            return;
        };
        let ask = WireRequest::new("tasks/cancel", Some(Map::from_iter([("taskId".to_owned(), json!(id))])));
        let patience = Patience::at_most(self.clock(), CANCEL);
        let never = CancellationToken::new();
        drop(timeout(CANCEL, self.session.request(ask, patience, None, &never)).await);
    }

    async fn poll(&mut self, mut task: TaskState, answered: Vec<PendingInput>) -> Result<CallEnd, ClientError> {
        let id = task.id.clone();
        let mut known: HashSet<String> = answered.iter().map(|input| input.key.clone()).collect();
        if !answered.is_empty() {
            self.update(&id, &answered).await?;
        }
        // Without a known status, the task is polled immediately.
        let begun = self.clock().now();
        let mut is_due = task.status.is_empty() || task.is_over() || task.status == "input_required";
        loop {
            self.tell_task(&task);
            if !is_due {
                self.rest(&task, begun).await?;
            }
            task = self.look(&id).await?;
            self.is_alive(&task, begun)?;
            is_due = false;
            match task.status.as_str() {
                "completed" => {
                    self.tell_task(&task);
                    let result = task.result.ok_or_else(|| self.invalid("the task was completed without a result"))?;
                    return Ok(self.done(result));
                }
                "failed" => {
                    let error = task.error.unwrap_or_else(|| json!({"message": "the task failed"}));
                    return Err(self.refused(RpcError::from_value(&error)));
                }
                "cancelled" => return Err(self.invalid("the server cancelled the task")),
                "input_required" => {
                    let inputs = read_inputs(task.inputs.take()).map_err(|reason| self.invalid(reason))?;
                    let mut new: Vec<_> = inputs.into_iter().filter(|input| !known.contains(&input.key)).collect();
                    if new.is_empty() {
                        continue;
                    }
                    self.check(&new)?;
                    self.tell_task(&task);
                    let answers = self.answer(&mut new, |_| Cause::Task(id.clone())).await?;
                    if answers.is_deferred {
                        return Ok(CallEnd::Deferred(Box::new(self.pending(&new, None, Some(id)))));
                    }
                    known.extend(new.iter().map(|input| input.key.clone()));
                    self.update(&id, &new).await?;
                }
                _ => {}
            }
        }
    }

    /// Reports the task's status, if it has changed.
    pub(super) fn tell_task(&self, task: &TaskState) {
        if !task.status.is_empty() {
            self.session.wire.setup().task(&task.id, task.status.clone(), task.words());
        }
    }

    /// Whether a task that was first seen at `begun` may still end: the server forgets it when its time to live is
    /// over.
    ///
    /// # Errors
    /// [`ClientError::TaskExpired`] when its time is over.
    pub(super) fn is_alive(&self, task: &TaskState, begun: Duration) -> Result<(), ClientError> {
        match task.life() {
            Some(life) if !task.is_over() && self.clock().now().saturating_sub(begun) >= life => {
                Err(ClientError::TaskExpired { method: self.method.clone(), after: life })
            }
            _ => Ok(()),
        }
    }

    /// Waits before the next look at `task`, which was first seen at `begun`: no longer than it lives, and than the call may
    /// take.
    ///
    /// # Errors
    /// When the call is given up.
    pub(super) async fn rest(&self, task: &TaskState, begun: Duration) -> Result<(), ClientError> {
        let end = task.life().map_or(self.patience.until, |life| self.patience.until.min(begun + life));
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(self.interrupted()),
            () = sleep(task.pause()) => Ok(()),
            () = self.clock().until(end) => if end < self.patience.until { Ok(()) } else { Err(self.took_too_long()) },
        }
    }

    fn took_too_long(&self) -> ClientError {
        ClientError::TimedOut { method: self.method.clone(), after: self.patience.total }
    }

    /// `tasks/get`.
    pub(super) async fn look(&mut self, id: &str) -> Result<TaskState, ClientError> {
        let params = Map::from_iter([("taskId".to_owned(), json!(id))]);
        let frame = self.ask_about_task("tasks/get", params).await?;
        let mut task: TaskState = frame
            .body()
            .and_then(|body| serde_json::from_str(body).ok())
            .ok_or_else(|| self.invalid("the task cannot be read"))?;
        id.clone_into(&mut task.id);
        Ok(task)
    }

    async fn update(&mut self, id: &str, answered: &[PendingInput]) -> Result<(), ClientError> {
        let params =
            Map::from_iter([("taskId".to_owned(), json!(id)), ("inputResponses".to_owned(), responses(answered))]);
        self.ask_about_task("tasks/update", params).await.map(drop)
    }

    /// A request about a task of this call; repeating it does no harm.
    pub(super) async fn ask_about_task(
        &mut self,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Frame, ClientError> {
        match self.exchange(WireRequest::new(method, Some(params)), true).await {
            Ok(frame) => refusal(method, &frame).map_or(Ok(frame), Err),
            // It was the call that took too long, not what was asked last.
            Err(ClientError::TimedOut { .. }) if self.clock().now() >= self.patience.until => Err(self.took_too_long()),
            Err(error) => Err(error),
        }
    }
}
