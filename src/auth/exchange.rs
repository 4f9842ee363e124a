use serde_json::Value;

use super::{AuthError, client::OAuthClient, discovery, jwt, plan::Plan, token::TokenEndpoint};
use crate::config::{IdentityProvider, OAuth};

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// Exchanges the person's ID token at the identity provider for a statement of who they are, which is valid only at the
/// authorization server of `plan` (enterprise-managed authorization; RFC 8693).
pub(super) async fn statement(plan: &Plan<'_>, provider: &IdentityProvider) -> Result<String, AuthError> {
    const WHAT: &str = "the token exchange with the identity provider";
    let id_token = jwt::statement(&provider.id_token, "ID token")?;
    let oauth = OAuth {
        client_id: Some(provider.client_id.clone()),
        client_secret: provider.client_secret.clone(),
        ..OAuth::default()
    };
    let server = discovery::auth_server(plan.web, &provider.issuer, false).await?;
    let client = OAuthClient::configured(&oauth, &server)?;
    let client = client.ok_or_else(|| AuthError::unusable("`identityProvider` needs `clientId`"))?;
    let endpoint =
        TokenEndpoint { web: plan.web, url: &server.token, issuer: &server.issuer, client: &client, oauth: &oauth };
    let mut fields = vec![
        ("grant_type", TOKEN_EXCHANGE.to_owned()),
        ("requested_token_type", ID_JAG.to_owned()),
        ("audience", plan.auth_server.issuer.clone()),
        ("resource", plan.resource.id.clone()),
        ("subject_token", id_token),
        ("subject_token_type", ID_TOKEN.to_owned()),
    ];
    if !plan.scopes.is_empty() {
        fields.push(("scope", plan.scopes.join(" ")));
    }
    let answer = endpoint.reply(WHAT, fields).await?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("issued_token_type") != ID_JAG {
        return Err(AuthError::unusable(format!("{WHAT}: the answer is a different kind of token")));
    }
    let statement = text("access_token");
    let is_one = statement.split('.').count() == 3 && statement.bytes().all(|byte| byte.is_ascii_graphic());
    if is_one { Ok(statement.to_owned()) } else { Err(AuthError::unusable(format!("{WHAT}: it is not a signed JWT"))) }
}
