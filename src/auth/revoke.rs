use url::Url;

use super::{AuthError, Store, token::TokenEndpoint};
use crate::{
    config::OAuth,
    transport::{HttpEndpoint, HttpKind, Web},
};

/// A server that was signed out of.
#[derive(Debug)]
pub struct SignedOut {
    /// Its address.
    pub url: String,
    /// Whether the tokens were revoked, or why not; `None` if the authorization server cannot revoke tokens.
    pub revoked: Option<Result<(), AuthError>>,
}

/// Signs out of the server at `endpoint`, or of whatever was signed in to at `url`: the tokens are revoked (RFC 7009)
/// if possible, and forgotten in any case. `None` if nobody was signed in.
///
/// # Errors
/// If the stored sign-ins cannot be read or written.
pub async fn sign_out(
    store: &Store,
    url: &str,
    endpoint: Option<&HttpEndpoint>,
    oauth: &OAuth,
) -> Result<Option<SignedOut>, AuthError> {
    let locked = store.lock().await?;
    let mut book = locked.read()?;
    let Some(place) = book.servers.iter().position(|known| known.url == url) else { return Ok(None) };
    let known = book.servers.remove(place);
    // A client that nothing else uses is forgotten, too.
    if !book.servers.iter().any(|other| other.issuer == known.issuer) {
        book.clients.retain(|registered| registered.issuer != known.issuer);
    }
    locked.write(&mut book)?;
    drop(locked);
    let Some(revocation) = known.revocation_endpoint.as_deref().and_then(|url| Url::parse(url).ok()) else {
        return Ok(Some(SignedOut { url: known.url, revoked: None }));
    };
    let revoked = async {
        let unusable = |_| AuthError::unusable("the server's address is no longer valid");
        let plain = match endpoint {
            Some(endpoint) => endpoint.clone(),
            None => HttpEndpoint {
                url: Url::parse(&known.url).map_err(unusable)?,
                headers: Vec::new(),
                kind: HttpKind::Auto,
                ca_file: None,
                insecure: false,
            },
        };
        let web =
            Web::new(&plain).map_err(|source| AuthError::Missing { what: "the revocation of the tokens", source })?;
        let endpoint =
            TokenEndpoint { web: &web, url: &revocation, issuer: &known.issuer, client: &known.client, oauth };
        for (kind, token) in [("refresh_token", &known.refresh_token), ("access_token", &known.access_token)] {
            let Some(token) = token else { continue };
            let fields = vec![("token", token.clone()), ("token_type_hint", kind.to_owned())];
            let document = endpoint.post(&revocation, fields).await?;
            if document.status != 200 {
                return Err(AuthError::refused(
                    "the revocation of the tokens",
                    &format!("HTTP {}", document.status),
                    None,
                ));
            }
        }
        Ok(())
    }
    .await;
    Ok(Some(SignedOut { url: known.url, revoked: Some(revoked) }))
}
