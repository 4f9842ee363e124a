use std::io;

use serde_json::{Value, json};

use crate::protocol::{Frame, FrameError, FrameKind, Id, RpcError};

/// What a client said to a question, as the server reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Agreed, with what was entered (`{}` when nothing was).
    Accept(Value),
    /// An explicit no.
    Decline,
    /// Closed without an answer.
    Cancel,
}

/// Why a reply is not a verdict.
#[derive(Debug, thiserror::Error)]
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

/// Reads an `ElicitResult` object, as it also stands in `inputResponses`.
///
/// # Errors
/// [`ServerHalfError::InvalidResponse`] for an unknown action.
pub fn parse_result(result: &Value) -> Result<Verdict, ServerHalfError> {
    match result.get("action").and_then(Value::as_str) {
        Some("accept") => Ok(Verdict::Accept(result.get("content").cloned().unwrap_or_else(|| json!({})))),
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
}

/// The round trip over the two halves of a channel to the client, or `None` if either is missing: the tool then goes on
/// with its defaults. `write` sends a frame; `read` waits for the reply to it, as bytes.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use toolnexus::{elicitation::{Verdict, build_callback, build_request}, protocol::Frame};
/// let write = |_: Frame| Ok(());
/// let read = async || Ok(br#"{"id":1,"result":{"action":"cancel"}}"#.to_vec());
/// let mut callback = build_callback(Some(write), Some(read)).unwrap();
/// let ask = build_request(&1.into(), "Your name?", &serde_json::json!({}));
/// assert_eq!(callback.ask(ask).await.unwrap(), Verdict::Cancel);
/// assert!(build_callback(Some(write), None::<fn() -> std::future::Ready<std::io::Result<Vec<u8>>>>).is_none());
/// # })
/// ```
pub fn build_callback<W, R>(write: Option<W>, read: Option<R>) -> Option<Callback<W, R>>
where
    W: FnMut(Frame) -> io::Result<()>,
    R: AsyncFnMut() -> io::Result<Vec<u8>>,
{
    Some(Callback { write: write?, read: read? })
}

impl<W, R> Callback<W, R>
where
    W: FnMut(Frame) -> io::Result<()>,
    R: AsyncFnMut() -> io::Result<Vec<u8>>,
{
    /// Sends `request` and waits for the verdict.
    ///
    /// # Errors
    /// [`ServerHalfError::InvalidJson`] when the reply is not JSON, and what [`parse_response`] gives.
    pub async fn ask(&mut self, request: Frame) -> Result<Verdict, ServerHalfError> {
        (self.write)(request)?;
        let bytes = (self.read)().await?;
        let frame = Frame::parse(bytes).map_err(|error| match error {
            FrameError::NotJson(error) => ServerHalfError::InvalidJson(error.to_string()),
            FrameError::NotRpc => ServerHalfError::InvalidResponse("it has no result".into()),
        })?;
        parse_response(&frame)
    }
}
