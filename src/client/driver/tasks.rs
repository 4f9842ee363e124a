use serde_json::{Value, json};

use super::{event_loop::Driver, questions::ReplyTo};
use crate::{
    client::capabilities,
    protocol::{Frame, Id, RpcError, code},
};

/// Tasks that the server created here by asking with `task` (2025-11-25, *tasks*, Task-augmented requests): it
/// immediately learns that the question is being asked, and fetches the answer later.
#[derive(Default)]
pub(super) struct OwnTasks(Vec<OwnTask>);

struct OwnTask {
    id: String,
    created: String,
    updated: String,
    ttl: Value,
    status: &'static str,
    /// The `ElicitResult`, if there is one.
    result: Option<Value>,
    /// The `tasks/result` requests that wait for it.
    waiting: Vec<Id>,
}

/// How often the server may poll, in milliseconds.
const POLL: u64 = 500;

impl OwnTask {
    fn to_value(&self) -> Value {
        json!({
            "taskId": self.id, "status": self.status, "createdAt": self.created, "lastUpdatedAt": self.updated,
            "ttl": self.ttl, "pollInterval": POLL,
        })
    }

    /// The answer to `tasks/result`, if the task is over.
    fn outcome(&self) -> Option<Result<Value, RpcError>> {
        match (self.status, &self.result) {
            ("completed", Some(result)) => {
                let mut result = result.clone();
                if let Some(object) = result.as_object_mut() {
                    let related = json!({"io.modelcontextprotocol/related-task": {"taskId": self.id}});
                    object.insert("_meta".into(), related);
                }
                Some(Ok(result))
            }
            ("cancelled", _) => Some(Err(invalid("the task was cancelled"))),
            _ => None,
        }
    }

    fn end(&mut self, status: &'static str, result: Option<Value>) {
        (self.status, self.result, self.updated) = (status, result, now());
    }
}

impl Driver {
    /// Whether we declared tasks.
    pub(super) fn speaks_tasks(&self) -> bool {
        self.setup.resolver.is_some() && capabilities::has_own_tasks(self.setup.modes, self.revision)
    }

    /// Creates a task for the question `request` and replies with it. `task` is the request's own, with the requested
    /// `ttl`.
    pub(super) fn open_task(&mut self, request: &Id, task: &Value) -> String {
        let id = format!("question-{}", self.next_key());
        let ttl = task.get("ttl").cloned().unwrap_or_default();
        let (status, waiting) = ("input_required", Vec::new());
        let task = OwnTask { id: id.clone(), created: now(), updated: now(), ttl, status, result: None, waiting };
        self.send(Frame::result(request, &json!({"task": task.to_value()})));
        self.tasks.0.push(task);
        id
    }

    /// The question of a task was answered.
    pub(super) fn complete_task(&mut self, id: &str, result: Value) {
        self.end_task(id, "completed", Some(result));
    }

    /// Answers a server's request about tasks here.
    pub(super) fn serve_task(&mut self, request: &Id, method: &str, params: &Value) {
        let reply = self.task_reply(request, method, params);
        match reply {
            Some(Ok(result)) => self.send(Frame::result(request, &result)),
            Some(Err(error)) => self.send(Frame::error(request, &error)),
            None => {}
        }
    }

    /// `None` if the answer comes later.
    fn task_reply(&mut self, request: &Id, method: &str, params: &Value) -> Option<Result<Value, RpcError>> {
        if method == "tasks/list" {
            return Some(Ok(json!({"tasks": self.tasks.0.iter().map(OwnTask::to_value).collect::<Vec<Value>>()})));
        }
        let id = params.get("taskId").and_then(Value::as_str);
        let Some(task) = self.tasks.0.iter_mut().find(|task| Some(task.id.as_str()) == id) else {
            return Some(Err(invalid("there is no such task")));
        };
        match method {
            "tasks/get" => Some(Ok(task.to_value())),
            "tasks/result" => {
                let outcome = task.outcome();
                if outcome.is_none() {
                    task.waiting.push(request.clone());
                }
                outcome
            }
            _ if task.outcome().is_some() => Some(Err(invalid("the task has ended"))),
            _ => {
                let id = task.id.clone();
                self.withdraw_where(|reply_to| reply_to == &ReplyTo::Task(id.clone()));
                self.end_task(&id, "cancelled", None).map(Ok)
            }
        }
    }

    fn end_task(&mut self, id: &str, status: &'static str, result: Option<Value>) -> Option<Value> {
        let task = self.tasks.0.iter_mut().find(|task| task.id == id)?;
        task.end(status, result);
        let (value, waiting) = (task.to_value(), std::mem::take(&mut task.waiting));
        let outcome = task.outcome();
        for request in waiting {
            match &outcome {
                Some(Ok(result)) => self.send(Frame::result(&request, result)),
                Some(Err(error)) => self.send(Frame::error(&request, error)),
                None => {}
            }
        }
        self.send(Frame::notification("notifications/tasks/status", Some(&value)));
        Some(value)
    }
}

/// Now, as ISO 8601.
fn now() -> String {
    jiff::Timestamp::now().to_string()
}

fn invalid(message: &str) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, message)
}
