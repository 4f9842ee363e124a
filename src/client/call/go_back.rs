use serde_json::{Map, Value};

use super::run::Call;
use crate::{
    client::{ClientError, NoticeKind},
    protocol::{Era, ProtocolChoice, RpcError, code},
};

impl Call<'_> {
    /// Whether the server refused the call because it can ask in legacy revisions alone, and may be spoken to so.
    ///
    /// Servers on some SDKs answer `server/discover`, but their tools ask by a request of their own, which no modern
    /// revision has: what they answer then is Invalid Request, with the method that they cannot send.
    pub(super) fn could_ask_before(&self, error: &RpcError) -> bool {
        self.era() == Era::Modern
            && error.code == code::INVALID_REQUEST
            && error.message.contains("elicitation/create")
            && self.options().resolver.is_some()
            && self.client.opener.choice() == ProtocolChoice::Auto
    }

    /// Opens the conversation again in a legacy revision, and gives the params to call with. The call was answered, so
    /// this is no second try at a lost one.
    ///
    /// # Errors
    /// With `refusal`, when the server cannot be spoken to so; when the call is given up.
    pub(super) async fn go_back(&mut self, refusal: RpcError) -> Result<Map<String, Value>, ClientError> {
        self.end_waiting().await;
        if let Err(error) = self.client.go_back(&self.session, &self.stop).await {
            let is_interrupted = matches!(error, ClientError::Interrupted { .. });
            return Err(if is_interrupted { error } else { self.refused(refusal) });
        }
        self.session = self.client.session(&self.method, &self.stop).await?;
        self.open_scope();
        self.notice(NoticeKind::CalledAgain { revision: self.session.info.revision });
        let mut params = self.params.clone();
        params.extend(self.legacy_task().map(|task| ("task".to_owned(), task)));
        Ok(params)
    }
}
