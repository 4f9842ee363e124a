use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Instant,
};

use reqwest::{
    Method, Response, StatusCode,
    header::{CONTENT_ENCODING, COOKIE, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE},
};
use tokio::{sync::mpsc, task::AbortHandle};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    cookies::Cookies,
    headers::{self, SESSION, VERSION},
    proxy, redirect,
    tls::{Clients, words},
};
use crate::{
    protocol::Revision,
    transport::{Challenge, Credentials, Grant, HttpKind, Incoming, Limits, Refused, Trace, TransportError},
};

/// How often one request is sent again after it was refused.
const MAX_REFUSALS: usize = 3;

/// One server as HTTP sees it: everything that the tasks of a connection share.
pub(super) struct HttpPeer {
    pub(super) url: Url,
    pub(super) kind: HttpKind,
    pub(super) limits: Limits,
    /// The configured headers, only for the origin of `url`.
    pub(super) headers: HeaderMap,
    /// Authorizes requests to the origin of `url`.
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    pub(super) clients: Clients,
    pub(super) cookies: Cookies,
    pub(super) trace: Option<Trace>,
    /// Where messages go once the server turned out to speak HTTP+SSE.
    pub(super) posts_to: OnceLock<Url>,
    pub(super) incoming: mpsc::Sender<Incoming>,
    /// Fires when we close the connection.
    pub(super) closed: CancellationToken,
    pub(super) state: Mutex<FetchState>,
}

/// State that changes while a connection lasts.
#[derive(Default)]
pub(super) struct FetchState {
    session: Option<HttpSession>,
    revision: Option<Revision>,
    /// Ends the listening stream of the session.
    listener: CancellationToken,
}

/// A session (2025-11-25, *transports*, Session Management), and the origin that issued it.
#[derive(Clone)]
struct HttpSession {
    id: HeaderValue,
    issuer: Url,
}

/// One HTTP request.
pub(super) struct HttpRequest<'a> {
    pub(super) method: Method,
    pub(super) url: &'a Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<&'a [u8]>,
    /// Whether it does no harm if the server receives it twice.
    pub(super) is_repeatable: bool,
}

/// The answer to an [`HttpRequest`], with its body still unread.
pub(super) struct Fetched {
    pub(super) response: Response,
    /// Whether the request belonged to a session.
    pub(super) in_session: bool,
}

impl Fetched {
    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }
}

impl HttpPeer {
    /// Sends one request with the current credentials. A refused request was not processed: it is sent again if there
    /// are other credentials.
    pub(super) async fn fetch(&self, ask: HttpRequest<'_>) -> Result<Fetched, TransportError> {
        let Some(credentials) = &self.credentials else { return self.ask_along(&ask, &Grant::default()).await };
        let mut tries = 0;
        loop {
            let grant = credentials.headers().await.map_err(TransportError::Credentials)?;
            let fetched = self.ask_along(&ask, &grant).await?;
            let (status, challenge) = (fetched.status().as_u16(), challenge(&fetched.response));
            let is_refusal = status == 401 || (status == 403 && challenge.is_some());
            if !is_refusal || tries == MAX_REFUSALS || !redirect::same_origin(&self.url, fetched.response.url()) {
                return Ok(fetched);
            }
            tries += 1;
            let refused = Refused { status, challenge, grant };
            if !credentials.refused(&refused).await.map_err(TransportError::Credentials)? {
                return Ok(fetched);
            }
        }
    }

    /// Sends one request and follows redirects. Our headers go only to our origin, the session only to its issuer.
    async fn ask_along(&self, ask: &HttpRequest<'_>, grant: &Grant) -> Result<Fetched, TransportError> {
        let granted = headers::configured(&grant.0)?;
        let mut url = ask.url.clone();
        for _ in 0..=redirect::MAX {
            let mut headers =
                if redirect::same_origin(&self.url, &url) { self.headers.clone() } else { HeaderMap::new() };
            if redirect::same_origin(&self.url, &url) {
                for (name, value) in &granted {
                    headers.insert(name.clone(), value.clone());
                }
            }
            for (name, value) in &ask.headers {
                headers.insert(name.clone(), value.clone());
            }
            let session = self.state().session.clone().filter(|session| redirect::same_origin(&session.issuer, &url));
            let in_session = session.is_some();
            if let Some(session) = session {
                headers.insert(SESSION, session.id);
            }
            if let Some(cookies) = self.cookies.beside(&url, headers.get(COOKIE)) {
                headers.insert(COOKIE, cookies);
            }
            let response = match self.send(ask, &url, &headers).await {
                // The connection may have been closed while it was idle: try once more on a new one.
                Err(TransportError::Unreachable { connected: true, .. })
                    if self.clients.keep_no_more() && ask.is_repeatable =>
                {
                    self.send(ask, &url, &headers).await?
                }
                sent => sent?,
            };
            if !redirect::is_redirection(response.status()) {
                return Ok(Fetched { response, in_session });
            }
            let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            url = redirect::target(&url, &ask.method, response.status(), location)?;
        }
        Err(TransportError::NoAnswer(format!("more than {} redirects", redirect::MAX)))
    }

    async fn send(&self, ask: &HttpRequest<'_>, url: &Url, headers: &HeaderMap) -> Result<Response, TransportError> {
        let mut request =
            self.clients.get(url.scheme(), ask.is_repeatable).await?.request(ask.method.clone(), url.clone());
        if let Some(body) = ask.body {
            request = request.body(body.to_vec());
        }
        let began = Instant::now();
        let sent = request.headers(headers.clone()).send().await.map_err(|error| self.unreachable(url, &error));
        self.trace(&ask.method, url, headers, &sent, began);
        let response = sent?;
        self.clients.learn(&response);
        self.cookies.take(url, response.headers());
        // A requested encoding has been decoded, and its header removed.
        match response.headers().get(CONTENT_ENCODING).map(|name| String::from_utf8_lossy(name.as_bytes())) {
            Some(name) if !name.eq_ignore_ascii_case("identity") && !name.trim().is_empty() => {
                let reason =
                    format!("the body is encoded as {name:?}, which toolnexus did not ask for and cannot read");
                Err(TransportError::NoAnswer(reason))
            }
            _ => Ok(response),
        }
    }

    fn trace(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        sent: &Result<Response, TransportError>,
        began: Instant,
    ) {
        let Some(trace) = &self.trace else { return };
        let error = sent.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let outcome = sent.as_ref().map(|got| (got.status().as_u16(), got.headers())).map_err(|_| error.as_str());
        trace.exchange(method.as_str(), url, headers, outcome, began.elapsed());
    }

    fn unreachable(&self, url: &Url, error: &reqwest::Error) -> TransportError {
        let reason = if error.is_timeout() {
            format!("no connection after {} s", self.limits.connect.as_secs())
        } else {
            words(error)
        };
        let way = proxy::of(url).map(|proxy| format!(" {}", proxy.words())).unwrap_or_default();
        TransportError::Unreachable { url: format!("{}{way}", shown(url)), reason, connected: !error.is_connect() }
    }

    /// Passes something to the client, waiting while it is busy.
    pub(super) async fn tell(&self, incoming: Incoming) {
        // Nobody listens any more while the connection is being closed.
        let _ = self.incoming.send(incoming).await;
    }

    /// Runs `work` until it ends or the connection is closed.
    pub(super) fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let closed = self.closed.clone();
        tokio::spawn(async move {
            closed.run_until_cancelled(work).await;
        })
        .abort_handle()
    }

    /// Forgets session and revision: a handshake begins.
    pub(super) fn start_over(&self) {
        let old = std::mem::take(&mut *self.state());
        old.listener.cancel();
    }

    /// Stores the session that the answer to `initialize` may contain.
    pub(super) fn keep_session(&self, response: &Response) {
        if let Some(id) = response.headers().get(SESSION).filter(|id| !id.is_empty()) {
            let mut id = id.clone();
            id.set_sensitive(true);
            self.state().session = Some(HttpSession { id, issuer: response.url().clone() });
        }
    }

    pub(super) fn has_session(&self) -> bool {
        self.state().session.is_some()
    }

    pub(super) fn agree(&self, revision: Revision) {
        self.state().revision = Some(revision);
    }

    /// The token that ends the stream of the current session.
    pub(super) fn listener(&self) -> CancellationToken {
        self.state().listener.clone()
    }

    /// The header with the agreed revision, if there is one.
    pub(super) fn version_header(&self) -> HeaderMap {
        let revision = self.state().revision;
        revision.map(|revision| (VERSION, HeaderValue::from_static(revision.as_str()))).into_iter().collect()
    }

    fn state(&self) -> MutexGuard<'_, FetchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The challenge of a refusal.
pub(super) fn challenge(response: &Response) -> Option<Challenge> {
    let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let all: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    Challenge::parse(&all.join(", "))
}

/// An address as it may be shown: without user info, query and fragment.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for addresses that cannot have these parts.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}
