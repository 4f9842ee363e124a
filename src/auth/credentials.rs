use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{FutureExt as _, future::BoxFuture};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    AuthError, Store, StoreError, StoredSignIn, client::OAuthClient, code, device, exchange, jwt, known::Tokens,
    plan::Plan, token::TokenEndpoint,
};
use crate::{
    client::SignInOptions,
    config::OAuth,
    elicitation::ServerName,
    text::with_causes,
    transport::{Challenge, Credentials, CredentialsError, Grant, HttpEndpoint, Refused, TransportError, Web},
};

/// The grant type for another authority's JWT.
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// How often a person is asked to sign in to one server in one run.
const SIGN_INS: usize = 3;
/// After this time a sign-in no longer counts towards that limit, for example in a kept server whose token has expired.
const LONG_AGO: Duration = Duration::from_secs(60);

/// The sign-in to one server: [`Credentials`] from a token that is stored, renewed, or obtained from a person.
pub struct SignIn(Arc<SignInCore>);

crate::text::opaque! { SignIn }

/// What is needed for a sign-in.
pub(super) struct SignInCore {
    pub(super) server: ServerName,
    pub(super) url: Url,
    pub(super) oauth: OAuth,
    pub(super) options: SignInOptions,
    pub(super) web: Web,
    pub(super) store: Option<Store>,
    asking: watch::Sender<bool>,
    state: Mutex<SignInState>,
}

#[derive(Default)]
struct SignInState {
    is_loaded: bool,
    known: Option<StoredSignIn>,
    /// Why the stored sign-ins cannot be used.
    broken: Option<StoreError>,
    sign_ins: usize,
    /// When the last sign-in was.
    last: Option<Instant>,
    /// Refresh tokens that were tried.
    tried: HashSet<String>,
}

impl SignInState {
    /// Whether another sign-in is allowed, which then counts.
    fn may_sign_in(&mut self) -> bool {
        if self.last.is_some_and(|last| last.elapsed() > LONG_AGO) {
            self.sign_ins = 0;
        }
        self.sign_ins += 1;
        self.last = Some(Instant::now());
        self.sign_ins <= SIGN_INS
    }
}

impl SignIn {
    /// The sign-in to `server`, which is at `endpoint`; the result is kept in `store`, or else for this run.
    ///
    /// # Errors
    /// If the endpoint's settings cannot be used.
    pub fn new(
        server: ServerName,
        endpoint: &HttpEndpoint,
        oauth: OAuth,
        options: SignInOptions,
        store: Option<Store>,
    ) -> Result<Self, TransportError> {
        Ok(Self(Arc::new(SignInCore {
            server,
            url: endpoint.url.clone(),
            oauth,
            options,
            web: Web::new(endpoint)?,
            store,
            asking: watch::Sender::new(false),
            state: Mutex::default(),
        })))
    }
}

impl Credentials for SignIn {
    fn headers(&self) -> BoxFuture<'_, Result<Grant, CredentialsError>> {
        async {
            let mut state = self.0.state.lock().await;
            self.0.load(&mut state);
            if state.known.as_ref().is_some_and(|known| !known.is_fresh() && known.can_renew()) {
                // A token that cannot be renewed is sent anyway: the server says what it needs.
                drop(self.0.renew(&mut state).await);
            }
            let token = state.known.as_ref().and_then(|known| known.access_token.as_deref());
            Ok(token.map(Grant::bearer).unwrap_or_default())
        }
        .boxed()
    }

    fn refused<'a>(&'a self, refusal: &'a Refused) -> BoxFuture<'a, Result<bool, CredentialsError>> {
        let (inner, refusal) = (Arc::clone(&self.0), refusal.clone());
        let stop = CancellationToken::new();
        let guard = stop.clone().drop_guard();
        async move {
            // In a separate task, so that a prompt can end properly when nobody waits any more.
            let handled = tokio::spawn(async move { inner.handle(&refusal, &stop).await }).await;
            drop(guard);
            handled.unwrap_or(Ok(false)).map_err(|error| CredentialsError {
                is_no: matches!(error, AuthError::No),
                reason: with_causes(&error),
            })
        }
        .boxed()
    }

    fn asking(&self) -> watch::Receiver<bool> {
        self.0.asking.subscribe()
    }
}

impl SignInCore {
    /// Reads the stored sign-in, once.
    fn load(&self, state: &mut SignInState) {
        if state.is_loaded {
            return;
        }
        state.is_loaded = true;
        match self.store.as_ref().map_or(Ok(None), |store| store.find(self.url.as_str())) {
            Ok(known) => state.known = known.filter(|_| !self.options.again),
            // A server that requires no sign-in is not affected by this.
            Err(error) => state.broken = Some(error),
        }
    }

    async fn handle(&self, refusal: &Refused, stop: &CancellationToken) -> Result<bool, AuthError> {
        let mut state = self.state.lock().await;
        self.load(&mut state);
        if let Some(error) = state.broken.take() {
            return Err(error.into());
        }
        let current = state.known.as_ref().and_then(|known| known.access_token.as_deref());
        if current.is_some_and(|token| Grant::bearer(token) != refusal.grant) {
            // Another process has done it meanwhile.
            return Ok(true);
        }
        let challenge = refusal.challenge.as_ref();
        if refusal.status == 403 {
            let needs = challenge.map(Challenge::scopes).unwrap_or_default();
            let is_step_up = challenge.and_then(|challenge| challenge.param("error")) == Some("insufficient_scope");
            let has = state.known.as_ref().map(|known| known.requested.clone()).unwrap_or_default();
            // If the same scopes were already requested and are not enough, they will not be enough next time.
            if !is_step_up || needs.iter().all(|scope| has.contains(scope)) {
                return Ok(false);
            }
        } else if self.renew(&mut state).await.unwrap_or(false) {
            return Ok(true);
        }
        if self.oauth.is_own_account {
            return self.own_account(&mut state, challenge).await;
        }
        if !self.options.person.as_ref().is_some_and(|person| person.is_there()) || !state.may_sign_in() {
            return Ok(false);
        }
        self.asking.send_replace(true);
        let signed_in = self.ask(&state, challenge, stop).await;
        self.asking.send_replace(false);
        let known = signed_in?;
        self.keep(&known).await?;
        state.known = Some(known);
        Ok(true)
    }

    /// Gets a new token for the known one; returns `true` if there is one now. Only one process does so at a time; the
    /// others use its result.
    async fn renew(&self, state: &mut SignInState) -> Result<bool, AuthError> {
        let Some(known) = state.known.clone() else { return Ok(false) };
        let locked = match &self.store {
            Some(store) => Some(store.lock().await?),
            None => None,
        };
        let kept = match &locked {
            Some(locked) => locked.read()?.servers.into_iter().find(|kept| kept.url == known.url),
            None => None,
        };
        let mut known = match kept {
            Some(kept) if kept.access_token != known.access_token && kept.is_fresh() => {
                state.known = Some(kept);
                return Ok(true);
            }
            Some(kept) => kept,
            None => known,
        };
        let Some(refresh) = known.refresh_token.clone() else { return Ok(false) };
        if !state.tried.insert(refresh.clone()) {
            return Ok(false);
        }
        let wrong = |_| AuthError::unusable("the stored token endpoint is not a valid address");
        let url = Url::parse(&known.token_endpoint).map_err(wrong)?;
        let (issuer, client) = (known.issuer.clone(), known.client.clone());
        let endpoint =
            TokenEndpoint { web: &self.web, url: &url, issuer: &issuer, client: &client, oauth: &self.oauth };
        let fields = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", refresh),
            ("resource", known.resource.clone()),
        ];
        match endpoint.ask("the renewal of the token", fields).await {
            Ok(tokens) => {
                known.take(tokens);
                if let Some(locked) = &locked {
                    locked.put(known.clone())?;
                }
                state.known = Some(known);
                Ok(true)
            }
            Err(error) => {
                if error.is_gone() {
                    known.refresh_token = None;
                    if let Some(locked) = &locked {
                        locked.put(known.clone())?;
                    }
                    state.known = Some(known);
                }
                Err(error)
            }
        }
    }

    /// A token for the program itself (OAuth 2.1, client credentials; RFC 7523, section 2.1).
    async fn own_account(&self, state: &mut SignInState, challenge: Option<&Challenge>) -> Result<bool, AuthError> {
        if !state.may_sign_in() {
            return Ok(false);
        }
        let plan = self.plan(None, challenge).await?;
        let server = &plan.auth_server;
        let client = OAuthClient::configured(&self.oauth, server)?;
        let client = client.ok_or_else(|| AuthError::unusable("`grant` needs `clientId`"))?;
        let endpoint = TokenEndpoint {
            web: &self.web,
            url: &server.token,
            issuer: &server.issuer,
            client: &client,
            oauth: &self.oauth,
        };
        let mut fields = vec![("resource", plan.resource.id.clone())];
        let statement = match (&self.oauth.assertion, &self.oauth.identity_provider) {
            (Some(assertion), _) => Some(jwt::statement(assertion, "assertion")?),
            (None, Some(provider)) => Some(exchange::statement(&plan, provider).await?),
            (None, None) => None,
        };
        match statement {
            None => fields.push(("grant_type", "client_credentials".to_owned())),
            Some(statement) => fields.extend([("grant_type", JWT_BEARER.to_owned()), ("assertion", statement)]),
        }
        let scopes: Vec<String> = plan.scopes.iter().filter(|scope| *scope != "offline_access").cloned().collect();
        if !scopes.is_empty() {
            fields.push(("scope", scopes.join(" ")));
        }
        let tokens = endpoint.ask("the request for a token", fields).await?;
        let mut known = self.known(&plan, &client, tokens);
        known.refresh_token = None;
        state.known = Some(known);
        Ok(true)
    }

    /// Lets the person sign in.
    async fn ask(
        &self,
        state: &SignInState,
        challenge: Option<&Challenge>,
        stop: &CancellationToken,
    ) -> Result<StoredSignIn, AuthError> {
        let earlier = match (&state.known, &self.store) {
            (None, Some(store)) => store.find(self.url.as_str())?,
            (known, _) => known.clone(),
        };
        let plan = self.plan(earlier.as_ref(), challenge).await?;
        let (client, tokens) =
            if self.options.device { device::sign_in(&plan, stop).await? } else { code::sign_in(&plan, stop).await? };
        Ok(self.known(&plan, &client, tokens))
    }

    fn known(&self, plan: &Plan<'_>, client: &OAuthClient, tokens: Tokens) -> StoredSignIn {
        let server = &plan.auth_server;
        let mut known = StoredSignIn {
            url: self.url.to_string(),
            resource: plan.resource.id.clone(),
            issuer: server.issuer.clone(),
            scopes: plan.scopes.clone(),
            requested: plan.scopes.clone(),
            expires_at: None,
            renew_at: None,
            token_endpoint: server.token.to_string(),
            revocation_endpoint: server.revocation.as_ref().map(Url::to_string),
            client: client.clone(),
            access_token: None,
            refresh_token: None,
        };
        known.take(tokens);
        known
    }

    async fn keep(&self, known: &StoredSignIn) -> Result<(), AuthError> {
        let Some(store) = &self.store else { return Ok(()) };
        Ok(store.lock().await?.put(known.clone())?)
    }
}
