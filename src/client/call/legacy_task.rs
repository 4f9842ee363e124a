use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, json, value::RawValue};

use super::{CallEnd, open_call::OpenCall, outcome::TaskState};
use crate::{client::ClientError, protocol::Era};

/// How long the server is asked to keep a task, in milliseconds.
const KEPT: u64 = 60 * 60 * 1000;

/// A result that may be a task, as 2025-11-25 has it.
#[derive(Deserialize)]
struct Created {
    #[serde(default)]
    task: Option<TaskState>,
    #[serde(default)]
    content: Option<IgnoredAny>,
}

/// The task that a result is in place of the call's own: in its frame, or as some servers send it, without. `None` where it
/// is no task.
fn task_in(result: &RawValue) -> Option<TaskState> {
    let Created { task, content: None } = serde_json::from_str(result.get()).ok()? else { return None };
    let bare = || serde_json::from_str(result.get()).ok().filter(|bare: &TaskState| !bare.status.is_empty());
    task.or_else(|| bare().filter(|bare| !bare.id.is_empty()))
}

impl OpenCall<'_> {
    /// The `task` of a call to a tool that must be called as a task (2025-11-25, *tasks*, Tool-Level Negotiation).
    pub(super) fn legacy_task(&self) -> Option<Value> {
        let support = self.tool.as_ref()?.raw.get("execution")?.get("taskSupport")?.as_str()?;
        let is_task = self.era() == Era::Legacy
            && support == "required"
            && self.session.info.declares("tasks.requests.tools.call");
        is_task.then(|| json!({"ttl": KEPT}))
    }

    /// The end of a call whose server gave `result`: that, or what comes of the task that it is. The task's questions come
    /// as requests of the server's own, which the driver answers.
    pub(super) async fn end_of_legacy(&mut self, result: Box<RawValue>) -> Result<CallEnd, ClientError> {
        // A task is never the result of its call, whether it was asked for or not.
        let Some(task) = task_in(&result) else { return Ok(self.done(result)) };
        if task.id.is_empty() {
            return Err(self.invalid("the result is a task without a taskId"));
        }
        let id = task.id.clone();
        let end = self.fetch(task).await;
        self.cancel_unless_over(&id, &end).await;
        end
    }

    async fn fetch(&mut self, mut task: TaskState) -> Result<CallEnd, ClientError> {
        let (id, begun) = (task.id.clone(), self.clock().now());
        // `tasks/result` waits for the end, and some servers that need input ask only on its stream.
        let mut waits = true;
        loop {
            while !(task.is_over() || waits && task.status == "input_required") {
                self.tell_task(&task);
                self.rest(&task, begun).await?;
                task = self.look(&id).await?;
                self.is_alive(&task, begun)?;
            }
            self.tell_task(&task);
            let params = Map::from_iter([("taskId".to_owned(), json!(id))]);
            match self.ask_about_task("tasks/result", params).await {
                Ok(frame) => {
                    let result = frame.into_body().ok_or_else(|| self.invalid("the result is not text"))?;
                    match task_in(&result) {
                        None => return Ok(self.done(result)),
                        Some(_) if task.is_over() => {
                            return Err(self.invalid("the task is over, and tasks/result gave the task again"));
                        }
                        Some(_) => waits = false,
                    }
                }
                // This server returns results only for tasks that are finished.
                Err(ClientError::Rpc { .. }) if !task.is_over() => waits = false,
                Err(error) => return Err(error),
            }
        }
    }
}
