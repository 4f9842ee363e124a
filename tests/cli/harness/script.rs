use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One step of a scripted server. In every JSON value the text `"$id"` stands for the id of the request that the script
/// answers, and `"$token"` for its progress token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Writes a message; `jsonrpc` is added.
    Send(Value),
    /// Writes a line that need not be a message.
    Raw(String),
    /// Writes this text, with `$id` replaced, as a line.
    RawReply(String),
    /// Answers the request.
    Reply(Value),
    /// Answers the request with an error object.
    Fail(Value),
    /// Answers the request with one text block of this many bytes.
    ReplyBytes(usize),
    /// Waits for a message that contains everything in this one.
    Expect(Value),
    /// Waits until the client has closed the server's stdin.
    ExpectEnd,
    /// Waits until there is a file with this name in the run's folder.
    ExpectFile(String),
    /// Pauses for this many milliseconds.
    Pause(u64),
    /// Writes a line to stderr.
    Stderr(String),
    /// Ends the server with this status.
    Exit(i32),
}

/// What a scripted server does with the requests of one method: the first script is for the first one, and so on; the
/// last one is for all later ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scripts {
    /// The method, or `start` for what happens before anything is read.
    pub(crate) method: String,
    /// The scripts.
    pub(crate) turns: Vec<Vec<Step>>,
}
