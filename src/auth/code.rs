use std::{sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom as _, SystemRandom},
};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    AuthError,
    callback::{Return, SignInCallback, belongs},
    client::OAuthClient,
    known::Tokens,
    plan::Plan,
    token::TokenEndpoint,
};
use crate::{
    elicitation::{Answer, Outcome},
    pages::{Address, Fields, Pages, Site, unguessable},
    text::with_causes,
};

const PATH: &str = "/callback";

/// How long the last page may take to reach the browser.
const GOODBYE: Duration = Duration::from_secs(2);

/// A sign-in in the browser (OAuth 2.1, authorization code with PKCE).
pub(super) async fn sign_in(plan: &Plan<'_>, stop: &CancellationToken) -> Result<(OAuthClient, Tokens), AuthError> {
    let server = &plan.auth_server;
    let Some(authorization) = &server.authorization else {
        return Err(AuthError::unusable("the authorization server does not support sign-in with a browser"));
    };
    if !server.has_s256 {
        return Err(AuthError::unusable(
            "the authorization server does not announce PKCE with S256, which protects the sign-in",
        ));
    }
    let random = |_| AuthError::unusable("random numbers are not available");
    let state = unguessable().map_err(random)?;
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| AuthError::unusable("random numbers are not available"))?;
    let verifier = BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let (callback, mut returns) = SignInCallback::new(state.clone(), plan.server.to_string());
    let pages = serve(plan, Arc::new(callback)).await?;
    let redirect = pages.url().to_owned();
    let client = plan.client(&redirect).await?;
    let mut url = authorization.clone();
    {
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        let mut query = url.query_pairs_mut();
        query.extend_pairs([
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", &redirect),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &plan.resource.id),
        ]);
        if !plan.scopes.is_empty() {
            query.append_pair("scope", &plan.scopes.join(" "));
        }
        if plan.scopes.iter().any(|scope| scope == "offline_access") {
            // OpenID Connect (section 11): without it the scope is dropped.
            query.append_pair("prompt", "consent");
        }
    }
    plan.consent(url.as_str(), stop).await?;
    let came = timeout(plan.patience, come_back(plan, &state, &mut returns, stop)).await;
    let (fields, done) = came.map_err(|_| AuthError::TimedOut(plan.patience))??;
    let ended = async {
        let code = code(plan, &fields)?;
        let endpoint = TokenEndpoint {
            web: plan.web,
            url: &server.token,
            issuer: &server.issuer,
            client: &client,
            oauth: plan.oauth,
        };
        let form = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", redirect.clone()),
            ("code_verifier", verifier),
            ("resource", plan.resource.id.clone()),
        ];
        endpoint.ask("the request for a token", form).await
    }
    .await;
    if let Some(done) = done {
        // A browser that is gone reads nothing.
        drop(done.send(ended.as_ref().err().map(|error| with_causes(error))));
    }
    pages.close(GOODBYE).await;
    Ok((client, ended?))
}

/// The page to which the browser returns: on the configured port, or on that of an earlier registration, or on a free
/// one.
async fn serve(plan: &Plan<'_>, site: Arc<dyn Site>) -> Result<Pages, AuthError> {
    let at = |port| Address::Known { path: PATH.to_owned(), port };
    let failed = |error: std::io::Error| {
        AuthError::unusable(format!("the page for the end of the sign-in cannot be served: {error}"))
    };
    if let Some(port) = plan.oauth.redirect_port {
        return Pages::serve(at(Some(port)), site).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => AuthError::unusable(format!(
                "another program uses port {port}, to which the browser must return: end it, or change `redirectPort`"
            )),
            _ => failed(error),
        });
    }
    let earlier = plan.registered().and_then(|registered| Url::parse(&registered.redirect).ok()?.port());
    if let Some(port) = earlier
        && let Ok(pages) = Pages::serve(at(Some(port)), Arc::clone(&site)).await
    {
        return Ok(pages);
    }
    Pages::serve(at(None), site).await.map_err(failed)
}

type BrowserReturn = (Fields, Option<tokio::sync::oneshot::Sender<Option<String>>>);

/// Waits for the browser, or for the person to paste the final address.
async fn come_back(
    plan: &Plan<'_>,
    state: &str,
    returns: &mut mpsc::Receiver<Return>,
    stop: &CancellationToken,
) -> Result<BrowserReturn, AuthError> {
    let (mut pasting, mut is_wrong) = (true, false);
    loop {
        let over = stop.child_token();
        let pasted = plan.pasted(is_wrong, &over);
        tokio::pin!(pasted);
        let came = tokio::select! {
            Some(back) = returns.recv() => Some(back),
            outcome = &mut pasted, if pasting => match outcome {
                Outcome::Answered(answer) if answer.ok => {
                    if let Some(fields) = read_pasted(&answer, state) {
                        return Ok((fields, None));
                    }
                    is_wrong = true;
                    continue;
                }
                Outcome::Answered(_) | Outcome::Withdrawn => return Err(AuthError::No),
                Outcome::Pass | Outcome::Deferred | Outcome::Unanswerable(_) => {
                    pasting = false;
                    None
                }
            },
            () = stop.cancelled() => return Err(AuthError::No),
        };
        over.cancel();
        if let Some(back) = came {
            if pasting {
                // The terminal is restored.
                pasted.await;
            }
            return Ok((back.fields, Some(back.done)));
        }
    }
}

/// The query of a pasted address.
fn read_pasted(answer: &Answer, state: &str) -> Option<Fields> {
    let text = answer.data.as_ref()?.get("address")?.as_str()?.trim();
    let fields = Fields::of(&Url::parse(text).ok()?);
    belongs(&fields, state).then_some(fields)
}

/// The code that the browser brought, after checking who sent it (RFC 9207, section 2.4).
fn code(plan: &Plan<'_>, fields: &Fields) -> Result<String, AuthError> {
    let server = &plan.auth_server;
    let brought = fields.all("iss");
    let is_right = match brought.as_slice() {
        [] => !server.sends_iss,
        [one] => *one == server.issuer,
        _ => false,
    };
    if !is_right {
        return Err(AuthError::unusable("the answer comes from a different authorization server"));
    }
    if let Some(error) = fields.one("error") {
        return Err(AuthError::refused("the sign-in", error, fields.one("error_description")));
    }
    let code = fields.one("code").filter(|code| !code.is_empty());
    code.map(str::to_owned).ok_or_else(|| AuthError::unusable("the browser returned without a code"))
}
