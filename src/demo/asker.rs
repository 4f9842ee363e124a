use std::{io, sync::Arc};

use serde_json::{Map, Value, json};

use super::{DemoOutbox, DemoSession, demo_session::DemoReply};
use crate::{
    elicitation::{ServerHalfError, Verdict, build_callback, build_request, build_url_request, parse_result},
    protocol::{Frame, RpcError, code},
    text::with_causes,
};

/// How a tool asks the client during one call.
pub(super) enum Asker {
    /// With requests, which are answered while the call is in progress.
    Legacy {
        /// Receives the replies.
        session: Arc<DemoSession>,
        /// Sends the requests.
        out: DemoOutbox,
    },
    /// With results that ask the client to call again with the answers.
    Modern {
        /// `inputResponses`.
        responses: Map<String, Value>,
        /// `requestState`.
        state: Option<String>,
    },
}

/// A tool's question.
pub(super) enum DemoQuestion<'a> {
    /// To fill a form.
    Form(&'a Value),
    /// To open a link.
    Link {
        /// The address.
        url: &'a str,
        /// Its `elicitationId`, which the modern era does not need.
        id: &'a str,
    },
}

/// Why a tool stops early.
pub(super) enum DemoPause {
    /// The client is asked to call again: an `input_required` result.
    Input(Value),
    /// The call fails.
    Failed(RpcError),
}

impl Asker {
    /// Asks, and returns the client's verdict. In the modern era, if there is no answer yet, the call ends with
    /// [`DemoPause::Input`], which carries `state`; the next call gets here again, with the answer under `key`.
    pub(super) async fn ask(
        &self,
        key: &str,
        message: &str,
        what: DemoQuestion<'_>,
        state: &str,
    ) -> Result<Verdict, DemoPause> {
        match self {
            Self::Legacy { session, out } => {
                let (id, reply) = session.expect_reply(out);
                let request = match what {
                    DemoQuestion::Form(schema) => build_request(&id, message, schema),
                    DemoQuestion::Link { url, id: elicitation } => build_url_request(&id, message, url, elicitation),
                };
                round_trip(request, reply, Arc::clone(out)).await
            }
            Self::Modern { responses, .. } => match responses.get(key) {
                Some(response) => parse_result(response).map_err(failed),
                None => Err(DemoPause::Input(json!({
                    "resultType": "input_required",
                    "inputRequests": {key: {"method": "elicitation/create", "params": params(message, &what)}},
                    "requestState": state,
                }))),
            },
        }
    }

    /// In the modern era, ends the call with a request to call again without an answer; on a legacy connection, does
    /// nothing.
    pub(super) fn call_again(&self, state: &str) -> Result<(), DemoPause> {
        match self {
            Self::Legacy { .. } => Ok(()),
            Self::Modern { .. } => {
                Err(DemoPause::Input(json!({"resultType": "input_required", "requestState": state})))
            }
        }
    }

    /// `requestState` of this call.
    pub(super) fn state(&self) -> Option<&str> {
        match self {
            Self::Legacy { .. } => None,
            Self::Modern { state, .. } => state.as_deref(),
        }
    }
}

/// Sends `request` and waits for the reply to it.
async fn round_trip(request: Frame, reply: DemoReply, out: DemoOutbox) -> Result<Verdict, DemoPause> {
    let write = move |frame: Frame| {
        out(frame);
        Ok(())
    };
    let mut reply = Some(reply);
    let read = move || {
        let reply = reply.take();
        async { reply.ok_or(io::ErrorKind::UnexpectedEof)?.await }
    };
    match build_callback(Some(write), Some(read)) {
        Some(mut callback) => callback.send(request).await.map_err(failed),
        None => Ok(Verdict::Cancel),
    }
}

fn params(message: &str, what: &DemoQuestion<'_>) -> Value {
    match what {
        DemoQuestion::Form(schema) => json!({"mode": "form", "message": message, "requestedSchema": schema}),
        DemoQuestion::Link { url, .. } => json!({"mode": "url", "message": message, "url": url}),
    }
}

fn failed(error: ServerHalfError) -> DemoPause {
    DemoPause::Failed(match error {
        ServerHalfError::Refused(error) => error,
        error => RpcError::new(code::INVALID_PARAMS, with_causes(&error)),
    })
}
