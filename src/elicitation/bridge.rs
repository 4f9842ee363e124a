use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use serde_json::{Map, Value, json};

use super::{Answer, ElicitResult, Request, RequestKind, WaitFor, request::next_id};
use crate::protocol::{Frame, Id, RpcError};

/// The params of `elicitation/create` as a [`Request`].
///
/// `mode` absent or anything but `"url"` is kind `input` with `data.schema` = `requestedSchema`; `mode: "url"` is kind
/// `authorization` with `url`, and never a schema.
///
/// ```
/// use serde_json::json;
/// use toolnexus::elicitation::elicitation_to_request;
/// let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
/// let request = elicitation_to_request(&json!({"message": "What is your name?", "requestedSchema": schema}));
/// let id = &request.id;
/// assert_eq!(
///     serde_json::to_value(&request).unwrap(),
///     json!({"id": id, "kind": "input", "prompt": "What is your name?", "data": {"schema": schema}}),
/// );
/// assert_eq!(elicitation_to_request(&json!({})).prompt, "");
///
/// let link = elicitation_to_request(&json!({"mode": "url", "message": "Sign in", "url": "https://idp.example/"}));
/// assert_eq!(link.kind.as_str(), "authorization");
/// assert_eq!(link.url.as_deref(), Some("https://idp.example/"));
/// assert_eq!(link.data, None);
/// ```
pub fn elicitation_to_request(params: &Value) -> Request {
    let text = |key: &str| params.get(key).and_then(Value::as_str).map(str::to_owned);
    let is_link = params.get("mode").and_then(Value::as_str) == Some("url");
    let schema = params.get("requestedSchema").filter(|_| !is_link);
    Request {
        id: next_id(),
        kind: if is_link { RequestKind::authorization() } else { RequestKind::input() },
        prompt: text("message").unwrap_or_default(),
        url: text("url").filter(|_| is_link),
        data: schema.map(|schema| Map::from_iter([("schema".to_owned(), schema.clone())])),
        expires_at: None,
    }
}

/// An [`Answer`] as the [`ElicitResult`] that the server gets.
///
/// ```
/// use serde_json::json;
/// use toolnexus::elicitation::{Answer, answer_to_elicit_result, make_answer};
/// let told = |answer: Answer| answer_to_elicit_result(answer).to_value();
/// assert_eq!(told(make_answer("1", true, Some(json!({"a": 1})))), json!({"action": "accept", "content": {"a": 1}}));
/// assert_eq!(told(make_answer("1", true, None)), json!({"action": "accept", "content": {}}));
/// assert_eq!(told(Answer::decline("1")), json!({"action": "decline"}));
/// assert_eq!(told(make_answer("1", false, Some(json!({"half": "filled"})))), json!({"action": "cancel"}));
/// ```
pub fn answer_to_elicit_result(answer: Answer) -> ElicitResult {
    match (answer.ok, answer.reason.as_deref()) {
        (true, _) => ElicitResult::Accept { content: Some(answer.data.unwrap_or_else(|| json!({}))) },
        (false, Some("declined")) => ElicitResult::Decline,
        (false, _) => ElicitResult::Cancel,
    }
}

/// The reply to one message from a server: `None` for a response or a notification, the resolver's answer for
/// `elicitation/create`, and -32601 for any other request or without a resolver. If the resolver fails or panics, the
/// reply is a cancel. The id keeps its JSON type; `jsonrpc` may be missing.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use serde_json::json;
/// use toolnexus::elicitation::{Answer, make_answer, server_request_response, wait_for};
/// async fn reply(slot: &toolnexus::elicitation::WaitFor, message: serde_json::Value) -> serde_json::Value {
///     let frame = server_request_response(Some(slot), &message).await.unwrap();
///     serde_json::from_slice(frame.bytes()).unwrap()
/// }
/// let ask = json!({"id": 77, "method": "elicitation/create", "params": {"message": "What is your name?"}});
///
/// let yes = wait_for(|request| async { Ok(make_answer(request.id, true, Some(json!({"name": "muthu"})))) });
/// assert_eq!(
///     reply(&yes, ask.clone()).await,
///     json!({"jsonrpc": "2.0", "id": 77, "result": {"action": "accept", "content": {"name": "muthu"}}}),
/// );
/// let no = wait_for(|request| async move { Ok(Answer::decline(&request.id)) });
/// assert_eq!(reply(&no, ask.clone()).await["result"], json!({"action": "decline"}));
/// let broken = wait_for(|_| async { Err("the slot broke".into()) });
/// assert_eq!(reply(&broken, ask.clone()).await["result"], json!({"action": "cancel"}));
///
/// let sampling = json!({"id": 9, "method": "sampling/createMessage"});
/// assert_eq!(reply(&yes, sampling).await["error"], json!({"code": -32601, "message": "Method not found"}));
/// let frame = server_request_response(None, &ask).await.unwrap();
/// assert_eq!(frame.body_value().unwrap()["code"], -32601);
/// assert!(server_request_response(Some(&yes), &json!({"method": "notifications/progress"})).await.is_none());
/// assert!(server_request_response(Some(&yes), &json!({"id": 1, "result": {}})).await.is_none());
/// # })
/// ```
pub async fn server_request_response(wait_for: Option<&WaitFor>, message: &Value) -> Option<Frame> {
    let method = message.get("method")?.as_str()?;
    let id = Id::from_value(message.get("id")?)?;
    let (Some(wait_for), "elicitation/create") = (wait_for, method) else {
        return Some(Frame::error(&id, &RpcError::method_not_found()));
    };
    let request = elicitation_to_request(message.get("params").unwrap_or(&Value::Null));
    let answer = match catch_unwind(AssertUnwindSafe(|| wait_for(request))) {
        Ok(future) => AssertUnwindSafe(future).catch_unwind().await,
        Err(panic) => Err(panic),
    };
    let result = match answer {
        Ok(Ok(answer)) => answer_to_elicit_result(answer),
        Ok(Err(_)) | Err(_) => ElicitResult::Cancel,
    };
    Some(Frame::result(&id, &result.to_value()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elicitation::{make_answer, wait_for};

    #[test]
    fn ids_are_unique_and_in_order() {
        let ids: Vec<String> = (0..100).map(|_| elicitation_to_request(&json!({})).id).collect();
        let counters: Vec<u64> =
            ids.iter().map(|id| id.rsplit('-').next().and_then(|n| n.parse().ok()).expect("a counter")).collect();
        assert!(ids.iter().all(|id| id.starts_with("elc-")));
        assert!(counters.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn an_unknown_mode_is_a_form_and_a_link_never_has_a_schema() {
        let params = json!({"mode": "hologram", "url": "https://a.example", "requestedSchema": {"type": "object"}});
        let request = elicitation_to_request(&params);
        assert_eq!((request.kind.as_str(), request.url), ("input", None));
        let params = json!({"mode": "url", "url": "https://a.example", "requestedSchema": {"type": "object"}});
        assert_eq!(elicitation_to_request(&params).data, None);
    }

    #[tokio::test]
    async fn a_panic_is_a_cancel_and_string_ids_stay_strings() {
        let sync_panic: WaitFor = std::sync::Arc::new(|_| panic!("at once"));
        let async_panic = wait_for(|request| async move {
            assert!(request.id.is_empty(), "later");
            Ok(make_answer("x", true, None))
        });
        for slot in [sync_panic, async_panic] {
            let message = json!({"id": "77", "method": "elicitation/create"});
            let frame = server_request_response(Some(&slot), &message).await.expect("a reply");
            assert_eq!(frame.id(), Some(&Id::from("77")));
            assert_eq!(frame.body(), Some(r#"{"action":"cancel"}"#));
        }
    }
}
