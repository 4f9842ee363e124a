use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that a scripted server does. In every JSON value the text `"$id"` stands for the id of the request that the
/// script answers, and `"$token"` for its progress token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Writes a message; `jsonrpc` is added.
    Send(Value),
    /// Writes a line that need be no message.
    Raw(String),
    /// Writes this text, with `$id` replaced, as a line.
    RawReply(String),
    /// Answers the request.
    Reply(Value),
    /// Answers the request with an error object.
    Fail(Value),
    /// Answers the request with one text block of this many bytes.
    ReplyBytes(usize),
    /// Waits for a message that has all that this one has.
    Expect(Value),
    /// Waits until the client has closed the server's stdin.
    ExpectEnd,
    /// Waits until there is a file of this name in the run's folder.
    ExpectFile(String),
    /// Lets this many milliseconds pass.
    Pause(u64),
    /// Writes a line to stderr.
    Stderr(String),
    /// Ends the server with this status.
    Exit(i32),
}

/// What a scripted server does with the requests of one method: with the first one the first script, and so on; the last
/// one serves all that follow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scripts {
    /// The method, or `start` for what is done before anything is read.
    pub(crate) method: String,
    /// The scripts.
    pub(crate) turns: Vec<Vec<Step>>,
}
