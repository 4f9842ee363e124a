use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::form_urlencoded::byte_serialize;

use super::{AuthError, discovery::AuthServer, jwt};
use crate::{config::OAuth, transport::Web};

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Our identity as a client of an authorization server.
#[derive(Clone, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct OAuthClient {
    pub(super) id: String,
    #[serde(default)]
    secret: Option<String>,
    method: Method,
}

/// How a client authenticates (RFC 6749, section 2.3; RFC 7523).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Method {
    None,
    ClientSecretBasic,
    ClientSecretPost,
    PrivateKeyJwt,
}

impl Method {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "none" => Self::None,
            "client_secret_basic" => Self::ClientSecretBasic,
            "client_secret_post" => Self::ClientSecretPost,
            "private_key_jwt" => Self::PrivateKeyJwt,
            _ => return None,
        })
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// The method for a client with or without a secret at `server`.
    fn at(server: &AuthServer, has_secret: bool) -> Self {
        let takes = |method: Self| {
            server
                .methods
                .as_ref()
                .map_or(method == Self::ClientSecretBasic, |all| all.iter().any(|one| one == method.as_str()))
        };
        match has_secret {
            true if takes(Self::ClientSecretBasic) => Self::ClientSecretBasic,
            true if takes(Self::ClientSecretPost) => Self::ClientSecretPost,
            true if takes(Self::None) => Self::None,
            true => Self::ClientSecretBasic,
            false => Self::None,
        }
    }
}

impl OAuthClient {
    /// A client without a secret.
    pub(super) fn public(id: &str) -> Self {
        Self { id: id.to_owned(), secret: None, method: Method::None }
    }

    /// The configured client for `server`; `None` if there is none.
    pub(super) fn configured(oauth: &OAuth, server: &AuthServer) -> Result<Option<Self>, AuthError> {
        let Some(id) = &oauth.client_id else {
            let Some(url) = oauth.client_metadata_url.as_deref().filter(|_| server.takes_metadata_url) else {
                return Ok(None);
            };
            let is_one = url::Url::parse(url).is_ok_and(|url| url.scheme() == "https" && url.path() != "/");
            if !is_one {
                return Err(AuthError::unusable("`clientMetadataUrl` is not an https address with a path"));
            }
            return Ok(Some(Self::public(url)));
        };
        let secret = oauth.client_secret.as_ref().map(|secret| secret.0.clone());
        let method = match &oauth.private_key_file {
            Some(_) => Method::PrivateKeyJwt,
            None => Method::at(server, secret.is_some()),
        };
        Ok(Some(Self { id: id.clone(), secret, method }))
    }

    /// Registers a client (RFC 7591) that returns to `redirect`.
    pub(super) async fn register(web: &Web, server: &AuthServer, redirect: &str) -> Result<Self, AuthError> {
        const WHAT: &str = "the registration of this program";
        let Some(endpoint) = &server.registration else {
            return Err(AuthError::unusable(format!(
                "{} does not register clients automatically: register a client there, and put its `clientId` under \
                 `oauth`",
                super::error::tame(&server.issuer)
            )));
        };
        let is_public = server.methods.as_ref().is_none_or(|all| all.iter().any(|method| method == "none"));
        let method = if is_public { Method::None } else { Method::at(server, true) };
        let body = json!({
            "client_name": "toolnexus",
            "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method.as_str(),
            "application_type": "native",
        });
        let missing = |source| AuthError::Missing { what: "the registration of this program", source };
        let document = web.post(endpoint, "application/json", body.to_string(), None).await.map_err(missing)?;
        let object = document.object().unwrap_or_default();
        let text = |key: &str| object.get(key).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
        if !(200..300).contains(&document.status) {
            let code = text("error").map_or_else(|| format!("HTTP {}", document.status), str::to_owned);
            return Err(AuthError::refused(WHAT, &code, text("error_description")));
        }
        let id = text("client_id").ok_or_else(|| AuthError::unusable("the registration has no client id"))?;
        let secret = text("client_secret").map(str::to_owned);
        let named = text("token_endpoint_auth_method").and_then(Method::parse);
        let method = named.unwrap_or(if is_public { Method::None } else { Method::at(server, secret.is_some()) });
        Ok(Self { id: id.to_owned(), secret, method })
    }

    /// Adds the client's authentication to a request: fields of the form, or the returned `Authorization` header.
    pub(super) fn show(
        &self,
        oauth: &OAuth,
        issuer: &str,
        form: &mut Vec<(&'static str, String)>,
    ) -> Result<Option<String>, AuthError> {
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let secret = self.secret.clone().unwrap_or_default();
        match self.method {
            Method::ClientSecretBasic => {
                let pair = format!("{}:{}", encoded(&self.id), encoded(&secret));
                return Ok(Some(format!("Basic {}", BASE64_STANDARD.encode(pair))));
            }
            Method::None => form.push(("client_id", self.id.clone())),
            Method::ClientSecretPost => {
                form.extend([("client_id", self.id.clone()), ("client_secret", secret)]);
            }
            Method::PrivateKeyJwt => {
                let file = oauth.private_key_file.as_ref();
                let file = file.ok_or_else(|| AuthError::unusable("the key of this client is no longer configured"))?;
                let assertion = jwt::assertion(file, &self.id, issuer)?;
                form.extend([("client_id", self.id.clone()), ("client_assertion_type", ASSERTION.to_owned())]);
                form.push(("client_assertion", assertion));
            }
        }
        Ok(None)
    }
}
