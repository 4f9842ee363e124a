use std::{fmt, io};

use futures_util::{FutureExt as _, future::LocalBoxFuture};
use serde_json::{Value, json};

use crate::protocol::{Frame, FrameError, FrameKind, Id, RpcError};

/// A client's reply to a question, as the server reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Agreed, with what was entered (`{}` if nothing was).
    Accept(Value),
    /// An explicit no.
    Decline,
    /// Closed without an answer.
    Cancel,
}

/// Why a reply is not a verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerHalfError {
    /// The reply was not JSON.
    #[error("the reply is not JSON: {0}")]
    InvalidJson(String),
    /// The reply was not an `ElicitResult`: no result, or an unknown action.
    #[error("the reply is not an answer: {0}")]
    InvalidResponse(String),
    /// The client answered with an error.
    #[error("the client refused the question: {0}")]
    Refused(RpcError),
    /// The channel to the client broke.
    #[error("the client cannot be reached")]
    Io(#[from] io::Error),
}

/// The request `elicitation/create` for a form.
///
/// ```
/// use toolnexus::elicitation::build_request;
/// let frame = build_request(&7.into(), "Your name?", &serde_json::json!({"type": "object", "properties": {}}));
/// assert_eq!(frame.method(), Some("elicitation/create"));
/// ```
pub fn build_request(id: &Id, message: &str, schema: &Value) -> Frame {
    Frame::request(id, "elicitation/create", Some(&json!({"message": message, "requestedSchema": schema})))
}

/// The request `elicitation/create` for a link (2025-11-25, *client/elicitation*, URL Mode).
pub fn build_url_request(id: &Id, message: &str, url: &str, elicitation_id: &str) -> Frame {
    let params = json!({"mode": "url", "message": message, "url": url, "elicitationId": elicitation_id});
    Frame::request(id, "elicitation/create", Some(&params))
}

/// Reads the client's reply.
///
/// # Errors
/// [`ServerHalfError::InvalidResponse`] for an unknown action or no result, [`ServerHalfError::Refused`] for an error.
///
/// ```
/// use toolnexus::{elicitation::{Verdict, parse_response}, protocol::Frame};
/// let parse = |text: &str| parse_response(&Frame::parse(text.as_bytes().to_vec()).unwrap());
/// assert_eq!(parse(r#"{"id":1,"result":{"action":"decline"}}"#).unwrap(), Verdict::Decline);
/// assert!(parse(r#"{"id":1,"result":{"action":"shrug"}}"#).is_err());
/// ```
pub fn parse_response(frame: &Frame) -> Result<Verdict, ServerHalfError> {
    let body = frame.body_value().map_err(|error| ServerHalfError::InvalidJson(error.to_string()))?;
    match frame.kind() {
        FrameKind::Response { .. } => parse_result(&body),
        FrameKind::Error { .. } => Err(ServerHalfError::Refused(RpcError::from_value(&body))),
        FrameKind::Request { .. } | FrameKind::Notification { .. } => {
            Err(ServerHalfError::InvalidResponse("it has no result".into()))
        }
    }
}

/// Reads an `ElicitResult` object, which `inputResponses` also contains.
///
/// # Errors
/// [`ServerHalfError::InvalidResponse`] for an unknown action, or for content that is not an object.
pub fn parse_result(result: &Value) -> Result<Verdict, ServerHalfError> {
    match result.get("action").and_then(Value::as_str) {
        Some("accept") => match result.get("content") {
            None | Some(Value::Null) => Ok(Verdict::Accept(json!({}))),
            Some(content @ Value::Object(_)) => Ok(Verdict::Accept(content.clone())),
            Some(_) => Err(ServerHalfError::InvalidResponse("its content is not an object".into())),
        },
        Some("decline") => Ok(Verdict::Decline),
        Some("cancel") => Ok(Verdict::Cancel),
        Some(other) => Err(ServerHalfError::InvalidResponse(format!("{other:?} is not an action"))),
        None => Err(ServerHalfError::InvalidResponse("it has no action".into())),
    }
}

/// A round trip to the client: see [`build_callback`].
pub struct Callback<W, R> {
    write: W,
    read: R,
    asked: u64,
}

/// The round trip over the two halves of a channel to the client, or `None` if either is missing: the tool then
/// continues with its defaults. `write` sends a frame; `read` waits for the client's next message, as bytes.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use toolnexus::{elicitation::{Verdict, build_callback}, protocol::Frame};
/// let write = |_: Frame| Ok(());
/// let read = async || Ok(br#"{"id":"ask-1","result":{"action":"cancel"}}"#.to_vec());
/// let mut callback = build_callback(Some(write), Some(read)).unwrap();
/// let schema = serde_json::json!({"type": "object", "properties": {}});
/// assert_eq!(callback.ask("Your name?", &schema).await.unwrap(), Verdict::Cancel);
/// assert!(build_callback(Some(write), None::<fn() -> std::future::Ready<std::io::Result<Vec<u8>>>>).is_none());
/// # })
/// ```
pub fn build_callback<W, R>(write: Option<W>, read: Option<R>) -> Option<Callback<W, R>>
where
    W: FnMut(Frame) -> io::Result<()>,
    R: AsyncFnMut() -> io::Result<Vec<u8>>,
{
    Some(Callback { write: write?, read: read?, asked: 0 })
}

impl<W, R> Callback<W, R>
where
    W: FnMut(Frame) -> io::Result<()>,
    R: AsyncFnMut() -> io::Result<Vec<u8>>,
{
    /// Asks for what `schema` describes, and waits for the verdict.
    ///
    /// # Errors
    /// As for [`Callback::send`].
    pub async fn ask(&mut self, message: &str, schema: &Value) -> Result<Verdict, ServerHalfError> {
        let id = self.next_id();
        self.send(build_request(&id, message, schema)).await
    }

    /// Asks for a link to be opened, and waits for the verdict.
    ///
    /// # Errors
    /// As for [`Callback::send`].
    pub async fn ask_to_open(&mut self, message: &str, url: &str, link: &str) -> Result<Verdict, ServerHalfError> {
        let id = self.next_id();
        self.send(build_url_request(&id, message, url, link)).await
    }

    /// Sends `request` and waits for the reply with its id. Any other message that arrives meanwhile is ignored.
    ///
    /// # Errors
    /// [`ServerHalfError::InvalidJson`] if the message is not JSON, and the errors of [`parse_response`].
    pub async fn send(&mut self, request: Frame) -> Result<Verdict, ServerHalfError> {
        let id = request.id().cloned();
        (self.write)(request)?;
        loop {
            let frame = Frame::parse((self.read)().await?).map_err(|error| match error {
                FrameError::NotJson(error) => ServerHalfError::InvalidJson(error.to_string()),
                FrameError::NotRpc | FrameError::NoId => ServerHalfError::InvalidResponse("it has no result".into()),
            })?;
            match frame.kind() {
                FrameKind::Response { id: of } if Some(of) != id.as_ref() => {}
                FrameKind::Error { id: Some(of) } if Some(of) != id.as_ref() => {}
                FrameKind::Request { .. } | FrameKind::Notification { .. } => {}
                FrameKind::Response { .. } | FrameKind::Error { .. } => return parse_response(&frame),
            }
        }
    }

    fn next_id(&mut self) -> Id {
        self.asked += 1;
        Id::from(format!("ask-{}", self.asked).as_str())
    }
}

impl<W, R> fmt::Debug for Callback<W, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callback").field("asked", &self.asked).finish_non_exhaustive()
    }
}

/// A way to ask a client: a [`Callback`], behind `dyn`.
pub trait AskClient {
    /// [`Callback::ask`].
    fn ask<'a>(
        &'a mut self,
        message: &'a str,
        schema: &'a Value,
    ) -> LocalBoxFuture<'a, Result<Verdict, ServerHalfError>>;
}

impl<W, R> AskClient for Callback<W, R>
where
    W: FnMut(Frame) -> io::Result<()>,
    R: AsyncFnMut() -> io::Result<Vec<u8>>,
{
    fn ask<'a>(
        &'a mut self,
        message: &'a str,
        schema: &'a Value,
    ) -> LocalBoxFuture<'a, Result<Verdict, ServerHalfError>> {
        Callback::ask(self, message, schema).boxed_local()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Asks once, while the client sends the messages `said`, one after another.
    fn asked(said: &[&str]) -> Result<Verdict, String> {
        let mut said: VecDeque<Vec<u8>> = said.iter().map(|text| text.as_bytes().to_vec()).collect();
        let mut written = Vec::new();
        let read = async || said.pop_front().ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
        let write = |frame: Frame| {
            written.push(frame);
            Ok(())
        };
        let mut callback = build_callback(Some(write), Some(read)).expect("both halves");
        let dynamic: &mut dyn AskClient = &mut callback;
        let verdict = dynamic.ask("Who?", &json!({"type": "object"})).now_or_never().expect("it has been said");
        assert_eq!(written.len(), 1);
        assert_eq!(written[0].id(), Some(&Id::from("ask-1")));
        verdict.map_err(|error| error.to_string())
    }

    #[test]
    fn a_reply_is_known_by_its_id() {
        let verdict = asked(&[
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"ask-1","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"ask-7","result":{"action":"decline"}}"#,
            r#"{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{"name":"Ada"}}}"#,
        ]);
        assert_eq!(verdict, Ok(Verdict::Accept(json!({"name": "Ada"}))));
    }

    #[test]
    fn what_is_no_verdict_is_said() {
        for (said, error) in [
            (r#"{"id":"ask-1","error":{"code":-32602,"message":"no such mode"}}"#, "the client refused the question"),
            (r#"{"id":null,"error":{"code":-32700,"message":"Parse error"}}"#, "the client refused the question"),
            ("not JSON", "the reply is not JSON"),
            (r#"{"id":"ask-1","result":{"action":"shrug"}}"#, "\"shrug\" is not an action"),
            (r#"{"id":"ask-1","result":{}}"#, "it has no action"),
            (r#"{"id":"ask-1","result":{"action":"accept","content":[1]}}"#, "its content is not an object"),
        ] {
            let told = asked(&[said]).expect_err(said);
            assert!(told.contains(error), "{said}: {told}");
        }
        assert!(asked(&[]).is_err());
    }

    #[test]
    fn content_that_is_missing_is_an_empty_object() {
        let accept = r#"{"id":"ask-1","result":{"action":"accept"}}"#;
        assert_eq!(asked(&[accept]), Ok(Verdict::Accept(json!({}))));
        assert_eq!(asked(&[r#"{"id":"ask-1","result":{"action":"cancel"}}"#]), Ok(Verdict::Cancel));
    }
}
