use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

use super::{AuthError, client::OAuthClient, known::Tokens};
use crate::{config::OAuth, transport::Web};

/// A token endpoint, and the client that uses it.
pub(super) struct TokenEndpoint<'a> {
    pub(super) web: &'a Web,
    pub(super) url: &'a Url,
    pub(super) issuer: &'a str,
    pub(super) client: &'a OAuthClient,
    pub(super) oauth: &'a OAuth,
}

impl TokenEndpoint<'_> {
    /// Requests tokens with these fields; `what` names the request in errors.
    pub(super) async fn ask(
        &self,
        what: &'static str,
        fields: Vec<(&'static str, String)>,
    ) -> Result<Tokens, AuthError> {
        let object = self.reply(what, fields).await?;
        Tokens::read(&object).map_err(|reason| AuthError::unusable(format!("{what}: {reason}")))
    }

    /// Sends these fields, and returns the response unless it is a refusal.
    pub(super) async fn reply(
        &self,
        what: &'static str,
        fields: Vec<(&'static str, String)>,
    ) -> Result<Map<String, Value>, AuthError> {
        let document = self.post(self.url, fields).await.map_err(|error| match error {
            AuthError::Missing { source, .. } => AuthError::Missing { what, source },
            error => error,
        })?;
        let object = document.object();
        let Some(object) = object else {
            return Err(AuthError::unusable(format!("{what}: the answer is not JSON (HTTP {})", document.status)));
        };
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        match text("error") {
            Some(error) => Err(AuthError::refused(what, error, text("error_description"))),
            None if !(200..300).contains(&document.status) => {
                Err(AuthError::refused(what, &format!("HTTP {}", document.status), None))
            }
            None => Ok(object),
        }
    }

    /// Posts a form to an endpoint of the authorization server, as the client.
    pub(super) async fn post(
        &self,
        url: &Url,
        mut fields: Vec<(&'static str, String)>,
    ) -> Result<crate::transport::WebDocument, AuthError> {
        let authorization = self.client.show(self.oauth, self.issuer, &mut fields)?;
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let kind = "application/x-www-form-urlencoded";
        let posted = self.web.post(url, kind, body, authorization.as_deref()).await;
        posted.map_err(|source| AuthError::Missing { what: "the request to the authorization server", source })
    }
}
