use std::{sync::Arc, time::Duration};

use super::{
    AuthError, Store, StoredSignIn,
    client::OAuthClient,
    credentials::SignInCore,
    discovery::{self, AuthServer, Resource},
    known::union,
    store::Registered,
};
use crate::{
    config::OAuth,
    elicitation::{Resolver, ServerName},
    transport::{Challenge, Web},
};

/// Everything about one sign-in that is about to happen.
pub(super) struct Plan<'a> {
    pub(super) server: &'a ServerName,
    pub(super) web: &'a Web,
    pub(super) oauth: &'a OAuth,
    pub(super) resource: Resource,
    pub(super) auth_server: AuthServer,
    pub(super) scopes: Vec<String>,
    pub(super) patience: Duration,
    pub(super) person: Option<&'a Arc<dyn Resolver>>,
    pub(super) store: Option<&'a Store>,
    pub(super) registered: Option<Registered>,
}

impl SignInCore {
    /// Finds out where to sign in, and with which scopes.
    pub(super) async fn plan(
        &self,
        earlier: Option<&StoredSignIn>,
        challenge: Option<&Challenge>,
    ) -> Result<Plan<'_>, AuthError> {
        let resource = discovery::resource(&self.web, &self.url, challenge).await?;
        let issuer = match &self.oauth.issuer {
            Some(issuer) if !resource.issuers.contains(issuer) => {
                let reason =
                    format!("the configuration names {issuer}, but the server trusts another authorization server");
                return Err(AuthError::unusable(reason));
            }
            Some(issuer) => issuer.clone(),
            // An earlier one is used again while the server trusts it.
            None => {
                let same = earlier.map(|known| known.issuer.clone()).filter(|issuer| resource.issuers.contains(issuer));
                same.or_else(|| resource.issuers.first().cloned()).unwrap_or_default()
            }
        };
        let auth_server = discovery::auth_server(&self.web, &issuer, resource.is_assumed).await?;
        let scopes = self.scopes(&resource, &auth_server, earlier, challenge);
        let registered = match &self.store {
            Some(store) => {
                let book = store.lock().await?.read()?;
                book.clients.into_iter().find(|registered| registered.issuer == issuer)
            }
            None => None,
        };
        Ok(Plan {
            server: &self.server,
            web: &self.web,
            oauth: &self.oauth,
            resource,
            auth_server,
            scopes,
            patience: self.options.patience,
            person: self.options.person.as_ref(),
            store: self.store.as_ref(),
            registered,
        })
    }

    /// Which scopes to request (2026-07-28, *authorization*, Scope Selection Strategy and Step-Up).
    fn scopes(
        &self,
        resource: &Resource,
        auth_server: &AuthServer,
        earlier: Option<&StoredSignIn>,
        challenge: Option<&Challenge>,
    ) -> Vec<String> {
        let mut scopes = Vec::new();
        if let Some(known) = earlier.filter(|known| known.issuer == auth_server.issuer) {
            union(&mut scopes, known.requested.iter().cloned());
        }
        let challenged = challenge.map(Challenge::scopes).unwrap_or_default();
        let wanted = match (&self.oauth.scopes, challenged) {
            (configured, challenged) if !configured.is_empty() => [configured.clone(), challenged].concat(),
            (_, challenged) if !challenged.is_empty() => challenged,
            _ if scopes.is_empty() => resource.scopes.clone(),
            _ => Vec::new(),
        };
        union(&mut scopes, wanted);
        union(&mut scopes, self.options.scopes.iter().cloned());
        if auth_server.scopes.iter().any(|scope| scope == "offline_access") {
            union(&mut scopes, ["offline_access".to_owned()]);
        } else {
            scopes.retain(|scope| scope != "offline_access");
        }
        scopes
    }
}

impl Plan<'_> {
    /// The client that was registered earlier.
    pub(super) fn registered(&self) -> Option<&Registered> {
        self.registered.as_ref()
    }

    /// Our identity at the authorization server, returning to `redirect`: configured, described by our own document,
    /// registered earlier, or registered now.
    pub(super) async fn client(&self, redirect: &str) -> Result<OAuthClient, AuthError> {
        if let Some(client) = OAuthClient::configured(self.oauth, &self.auth_server)? {
            return Ok(client);
        }
        if let Some(registered) = self.registered.as_ref().filter(|registered| registered.redirect == redirect) {
            return Ok(registered.client.clone());
        }
        let client = OAuthClient::register(self.web, &self.auth_server, redirect).await?;
        if let Some(store) = self.store {
            let issuer = self.auth_server.issuer.clone();
            let registered = Registered { issuer, redirect: redirect.to_owned(), client: client.clone() };
            store.lock().await?.register(registered)?;
        }
        Ok(client)
    }
}
