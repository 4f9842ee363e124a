use std::time::Duration;

use serde_json::Value;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{AuthError, client::OAuthClient, error::tame, known::Tokens, plan::Plan, token::TokenEndpoint};
use crate::elicitation::Waited;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// How long to wait between two polls, unless the server says so.
const INTERVAL: Duration = Duration::from_secs(5);
/// The maximum.
const LONGEST: Duration = Duration::from_secs(60);

/// A sign-in on another device (RFC 8628): the person gets a code and the address at which to enter it.
pub(super) async fn sign_in(plan: &Plan<'_>, stop: &CancellationToken) -> Result<(OAuthClient, Tokens), AuthError> {
    let server = &plan.auth_server;
    let Some(device) = &server.device else {
        return Err(AuthError::unusable("the authorization server does not support sign-in on another device"));
    };
    let client = plan.client("http://127.0.0.1/callback").await?;
    let endpoint =
        TokenEndpoint { web: plan.web, url: &server.token, issuer: &server.issuer, client: &client, oauth: plan.oauth };
    let mut fields = vec![("resource", plan.resource.id.clone())];
    if !plan.scopes.is_empty() {
        fields.push(("scope", plan.scopes.join(" ")));
    }
    let document = endpoint.post(device, fields).await?;
    let object = document.object().unwrap_or_default();
    let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if document.status != 200 {
        let error = text("error").map_or_else(|| format!("HTTP {}", document.status), str::to_owned);
        return Err(AuthError::refused("a sign-in on another device", &error, text("error_description")));
    }
    let lacks = || AuthError::unusable("the answer to a sign-in on another device lacks a code or an address");
    let (code, user_code) = text("device_code").zip(text("user_code")).ok_or_else(lacks)?;
    let address = text("verification_uri_complete").or(text("verification_uri")).ok_or_else(lacks)?;
    let seconds = |key: &str| object.get(key).and_then(Value::as_u64).map(Duration::from_secs);
    let life = seconds("expires_in").unwrap_or(plan.patience).min(plan.patience);
    let shown = text("verification_uri").unwrap_or(address);
    let say = format!("Enter the code {} at {}", tame(user_code), tame(shown));
    let link = plan.consent_to(address, Some(&say), stop).await?;

    let done = stop.child_token();
    let waiting = plan.wait(link, &done, life);
    let polling = timeout(life, poll(&endpoint, code, seconds("interval").unwrap_or(INTERVAL)));
    tokio::pin!(waiting, polling);
    let mut is_waited_for = true;
    loop {
        tokio::select! {
            polled = &mut polling => {
                done.cancel();
                if is_waited_for {
                    waiting.await;
                }
                return match polled {
                    Ok(tokens) => Ok((client.clone(), tokens?)),
                    Err(_) => Err(AuthError::TimedOut(life)),
                };
            }
            waited = &mut waiting, if is_waited_for => match waited {
                Waited::Cancel => return Err(AuthError::No),
                Waited::Complete | Waited::Continue | Waited::TimedOut => is_waited_for = false,
            },
            () = stop.cancelled() => return Err(AuthError::No),
        }
    }
}

/// Polls until the person has entered the code.
async fn poll(endpoint: &TokenEndpoint<'_>, code: &str, interval: Duration) -> Result<Tokens, AuthError> {
    let mut interval = interval.clamp(Duration::from_millis(500), LONGEST);
    let mut failures = 0;
    loop {
        sleep(interval).await;
        let fields = vec![("grant_type", GRANT.to_owned()), ("device_code", code.to_owned())];
        match endpoint.ask("the request for a token", fields).await {
            Err(AuthError::Refused { error, .. }) if error == "authorization_pending" => {}
            Err(AuthError::Refused { error, .. }) if error == "slow_down" => {
                interval = (interval + INTERVAL).min(LONGEST);
            }
            // A single connection failure is not the end (RFC 8628, section 3.5).
            Err(AuthError::Missing { .. }) if failures < 3 => failures += 1,
            ended => return ended,
        }
    }
}
