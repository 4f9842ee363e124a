use std::sync::Arc;

use serde_json::{Map, Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::{CallEnd, open_call::OpenCall};
use crate::{
    client::{
        ClientError, NoticeKind,
        conversation::Conversation,
        direct_client::{DirectClient, Route},
    },
    protocol::{ContentBlock, Era, ProtocolChoice, ResultOutline},
    text::start_of,
};

/// How servers say that they could not ask: the method or its name, and one of these phrases.
const CANNOT: [&str; 12] = [
    "unavailable",
    "not available",
    "not supported",
    "unsupported",
    "does not support",
    "doesn't support",
    "cannot send",
    "can't send",
    "not possible",
    "no back-channel",
    "back channel",
    "server-initiated",
];
/// The longest text, in bytes, that is searched for such phrases.
const LONGEST: usize = 4096;
/// The largest result, in bytes, that may be such a refusal.
const LONGEST_RESULT: usize = 64 * 1024;

impl OpenCall<'_> {
    /// The connection on which this call begins: a legacy one, if the tool is known to be able to ask only there.
    pub(super) async fn line(
        client: &DirectClient,
        method: &str,
        name: &str,
        stop: &CancellationToken,
    ) -> Result<(Route, Arc<Conversation>), ClientError> {
        let session = client.session(method, stop).await?;
        let is_legacy_tool = method == "tools/call"
            && session.is_modern()
            && client.opener.choice() == ProtocolChoice::Auto
            && client.options().resolver.is_some()
            && client.opener.memory().is_legacy_tool(name);
        if !is_legacy_tool {
            return Ok((Route::Found, session));
        }
        match client.session_of(Route::ByHandshake, method, stop).await {
            Ok(session) => Ok((Route::ByHandshake, session)),
            Err(error @ ClientError::Interrupted { .. }) => Err(error),
            Err(_) => {
                client.opener.memory().mark_legacy_tool(name, false);
                Ok((Route::Found, session))
            }
        }
    }

    /// Whether the server says that the tool could not ask its question in this revision, and the call may be made in
    /// another one.
    ///
    /// Servers on some SDKs answer `server/discover`, but their tools ask with a request, which no modern revision has.
    /// The Python SDK then refuses the call; FastMCP turns it into a result with `isError`.
    pub(super) fn may_ask_by_handshake(&self, words: &str) -> bool {
        self.era() == Era::Modern
            && self.scope.is_tool
            && self.options().resolver.is_some()
            && self.client.opener.choice() == ProtocolChoice::Auto
            && !self.scope.has_asked()
            && could_not_ask(words)
    }

    /// The params for a call over a legacy connection, if a result says that its tool could not ask.
    pub(super) async fn begin_again_after(
        &mut self,
        result: &RawValue,
    ) -> Result<Option<Map<String, Value>>, ClientError> {
        if self.era() != Era::Modern || !self.scope.is_tool || result.get().len() > LONGEST_RESULT {
            return Ok(None);
        }
        let outline = ResultOutline::of(result);
        let says_so = |block: &&RawValue| matches!(ContentBlock::from_raw(block), ContentBlock::Text(text) if self.may_ask_by_handshake(&text));
        if outline.is_error && outline.content.iter().any(says_so) { self.begin_again().await } else { Ok(None) }
    }

    /// Opens a second, legacy connection and returns the params of the call; `None` if there can be no such connection.
    /// The first call was answered, so this does not repeat a lost call.
    ///
    /// # Errors
    /// If the call is given up.
    pub(super) async fn begin_again(&mut self) -> Result<Option<Map<String, Value>>, ClientError> {
        self.end_waiting().await;
        let session = match self.client.session_of(Route::ByHandshake, &self.method, &self.stop).await {
            Ok(session) => session,
            Err(error @ ClientError::Interrupted { .. }) => return Err(error),
            Err(_) => return Ok(None),
        };
        (self.session, self.line) = (session, Route::ByHandshake);
        self.open_scope();
        self.notice(NoticeKind::CalledAgain { revision: self.session.info.revision });
        let mut params = self.params.clone();
        params.extend(self.legacy_task().map(|task| ("task".to_owned(), task)));
        Ok(Some(params))
    }

    /// Remembers that the tool needs a legacy connection, if the call got further on it; forgets it if the call failed
    /// there, so that the next run finds out again.
    pub(super) fn learn(&self, end: &Result<CallEnd, ClientError>) {
        let is_second = self.line == Route::ByHandshake;
        let is_by_hint = self.era() == Era::Legacy && self.options().tool.as_deref() == Some(self.scope.name.as_str());
        if !self.scope.is_tool || !(is_second || is_by_hint) {
            return;
        }
        let memory = self.client.opener.memory();
        let got_further = self.scope.has_asked()
            || match end {
                Ok(CallEnd::Done(report)) => !ResultOutline::of(&report.result).is_error,
                Ok(CallEnd::Deferred(_)) => true,
                Err(ClientError::Interrupted { .. }) => return,
                Err(_) => false,
            };
        let name = self.scope.name.as_str();
        if got_further && is_second {
            memory.mark_legacy_tool(name, true);
        } else if !got_further {
            memory.mark_legacy_tool(name, false);
        }
    }
}

/// Whether a server's message says that it could not send a question.
fn could_not_ask(words: &str) -> bool {
    let words = start_of(words, LONGEST).to_lowercase();
    words.contains("elicitation/create") || (words.contains("elicit") && CANNOT.iter().any(|it| words.contains(it)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_say_that_a_question_could_not_be_sent() {
        for words in [
            "Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.",
            "Error calling tool 'ask': elicitation via server-initiated requests is unavailable on 2026-07-28 connections",
            "Elicitation is not supported on this connection",
        ] {
            assert!(could_not_ask(words), "{words}");
        }
        for words in ["", "Cannot do that", "Session not found", "the person declined the elicitation", "unavailable"] {
            assert!(!could_not_ask(words), "{words}");
        }
    }
}
