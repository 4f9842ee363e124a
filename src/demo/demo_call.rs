use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    DemoOutbox,
    asker::{Asker, DemoPause, DemoQuestion},
};
use crate::{
    elicitation::{Modes, Verdict},
    form::Form,
    protocol::{Frame, RpcError, code},
};

/// One `tools/call`.
pub(super) struct DemoCall {
    /// The tool.
    pub(super) name: String,
    /// Its arguments.
    pub(super) arguments: Map<String, Value>,
    modes: Option<Modes>,
    asker: Asker,
    out: DemoOutbox,
    token: Option<Value>,
}

impl DemoCall {
    /// The call in `params`, from a client that declared `modes`.
    pub(super) fn new(params: &Value, modes: Option<Modes>, asker: Asker, out: &DemoOutbox) -> Result<Self, RpcError> {
        let invalid = |message: &str| RpcError::new(code::INVALID_PARAMS, message);
        let name = params.get("name").and_then(Value::as_str).ok_or_else(|| invalid("the call has no name"))?;
        let arguments = match params.get("arguments") {
            None => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(invalid("arguments is not an object")),
        };
        let token = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
        Ok(Self { name: name.to_owned(), arguments, modes, asker, out: Arc::clone(out), token })
    }

    /// Asks the client to fill in a form; `None` if it cannot.
    pub(super) async fn form(&self, message: &str, schema: &Value) -> Result<Option<Verdict>, DemoPause> {
        if !self.modes.is_some_and(|modes| modes.form) {
            return Ok(None);
        }
        let verdict = self.asker.ask("form", message, DemoQuestion::Form(schema), &self.name).await?;
        if self.asker.state().is_some_and(|state| state != self.name) {
            return Err(DemoPause::Failed(RpcError::new(code::INVALID_PARAMS, "requestState belongs to another call")));
        }
        if let Verdict::Accept(content) = &verdict {
            let content = content.as_object().cloned().unwrap_or_default();
            let errors = Form::from_schema(schema).check(&content);
            if let Some(error) = errors.first() {
                return Err(DemoPause::Failed(RpcError::new(
                    code::INVALID_PARAMS,
                    format!("the answer is wrong: {error}"),
                )));
            }
        }
        Ok(Some(verdict))
    }

    /// Asks the client to open a link; `None` if it cannot.
    pub(super) async fn link(&self, message: &str, url: &str, id: &str) -> Result<Option<Verdict>, DemoPause> {
        if !self.modes.is_some_and(|modes| modes.url) {
            return Ok(None);
        }
        self.asker.ask("link", message, DemoQuestion::Link { url, id }, id).await.map(Some)
    }

    /// See [`Asker::call_again`].
    pub(super) fn call_again(&self, state: &str) -> Result<(), DemoPause> {
        self.asker.call_again(state)
    }

    /// `requestState` of this call.
    pub(super) fn state(&self) -> Option<&str> {
        self.asker.state()
    }

    /// Sends a notification that belongs to the call.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        (self.out)(Frame::notification(method, Some(params)));
    }

    /// Reports the call's progress, if the client asked for it.
    pub(super) fn progress(&self, progress: u64, total: u64, message: &str) {
        if let Some(token) = &self.token {
            let params = json!({"progressToken": token, "progress": progress, "total": total, "message": message});
            self.notify("notifications/progress", &params);
        }
    }
}
