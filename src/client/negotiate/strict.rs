use crate::{
    client::ClientError,
    protocol::{RpcError, code},
    transport::TransportError,
};

/// Messages of servers that do not know some of the declared keys.
const ABOUT_KEYS: [&str; 9] = [
    "elicitation",
    "capabilities",
    "unrecognized key",
    "unrecognized_keys",
    "unknown key",
    "unknown field",
    "additional propert",
    "extra inputs",
    "extra field",
];
/// The same, in an answer to `initialize` itself.
const ABOUT_PARAMS: [&str; 3] = ["validation", "invalid param", "invalid request param"];

/// Whether a server that could not be opened may have refused the sub-keys of `elicitation`, which are newer than some
/// servers (2025-06-18, *client/elicitation*, Capabilities: `{}`): it refused `initialize`, or exited, with a message
/// about that.
pub(super) fn may_be_about_keys(error: &ClientError) -> bool {
    match error {
        ClientError::Rpc { method, error } if method == "initialize" => {
            says(&words(error), &ABOUT_KEYS) || says(&words(error), &ABOUT_PARAMS)
        }
        ClientError::Connect(TransportError::Closed(closed)) => {
            closed.stderr.iter().any(|line| says(line, &ABOUT_KEYS))
        }
        ClientError::Connect(TransportError::Http { status: 400..=499, body, .. }) => says(body, &ABOUT_KEYS),
        _ => false,
    }
}

/// Whether a handshake was refused because of what came before it on the connection: not for what was declared. Of a
/// program (`is_program`) any refusal may be that; a web address that does not know the method does not know it again.
pub(super) fn was_spoiled(error: &ClientError, is_program: bool) -> bool {
    let ClientError::Rpc { method, error } = error else { return false };
    method == "initialize"
        && (is_program || !matches!(error.code, code::METHOD_NOT_FOUND | code::INVALID_PARAMS))
        && !says(&words(error), &ABOUT_KEYS)
}

fn says(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

fn words(error: &RpcError) -> String {
    format!("{} {}", error.message, error.data.as_ref().map(ToString::to_string).unwrap_or_default())
}
