use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{CallEnd, open_call::OpenCall, outcome::TaskState};
use crate::{client::ClientError, protocol::Era};

/// How long the server is asked to keep a task, in milliseconds.
const KEPT: u64 = 60 * 60 * 1000;

#[derive(Deserialize)]
struct Created {
    #[serde(default)]
    task: Option<TaskState>,
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

    /// Follows the task that a call of a legacy server became. Its questions arrive as requests, which the driver
    /// answers.
    pub(super) async fn follow_legacy_task(&mut self, created: Box<RawValue>) -> Result<CallEnd, ClientError> {
        let task = match serde_json::from_str::<Created>(created.get()) {
            Ok(Created { task: Some(task) }) if !task.id.is_empty() => task,
            Ok(Created { task: Some(_) }) => return Err(self.invalid("the result is a task without a taskId")),
            // The server answered immediately.
            Ok(Created { task: None }) => return Ok(self.done(created)),
            // A task is never the result of its call.
            Err(error) => return Err(self.invalid(format!("the result is a task that cannot be read: {error}"))),
        };
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
                self.rest(task.pause()).await?;
                task = self.look(&id).await?;
                self.is_alive(&task, begun)?;
            }
            self.tell_task(&task);
            let params = Map::from_iter([("taskId".to_owned(), json!(id))]);
            match self.ask_about_task("tasks/result", params).await {
                Ok(frame) => {
                    let result = frame.into_body().ok_or_else(|| self.invalid("the result is not text"))?;
                    return Ok(self.done(result));
                }
                // This server returns results only for tasks that are finished.
                Err(ClientError::Rpc { .. }) if !task.is_over() => waits = false,
                Err(error) => return Err(error),
            }
        }
    }
}
