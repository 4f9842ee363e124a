use std::{convert::Infallible, fmt, io, net::Ipv4Addr, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use maud::{Markup, html};
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    forms::{Fields, Forms, TOKEN},
    guard, owner,
    reply::{self, PageBody, PageReply},
    unguessable,
};

/// The largest form that is accepted, in bytes.
const MAX_FORM: usize = 1 << 20;
/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// How many connections there may be at the same time.
const CONNECTIONS: usize = 64;
/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// The content of the pages.
pub trait Site: Send + Sync + 'static {
    /// Answers a request that passed the checks: it has the right address, does not come from somebody else's page, and
    /// a form in it is one of this site's own.
    fn answer(self: Arc<Self>, visit: Visit) -> BoxFuture<'static, PageReply>;

    /// Whether the site is for one person: then it answers only this user's programs, as far as the system says whose
    /// they are, and only the first browser.
    fn is_personal(&self) -> bool {
        false
    }

    /// Whether a form that is sent to this path is only a trial, so that it can be sent again.
    fn is_trial(&self, _path: &str) -> bool {
        false
    }
}

/// A request for a page.
pub struct Visit {
    /// The path below the site's own: empty for the site itself.
    pub path: String,
    /// The query.
    pub query: Fields,
    /// The form, when one was sent.
    pub form: Option<Fields>,
    forms: Arc<Forms>,
}

crate::text::opaque! { Visit }

impl Visit {
    /// A hidden field with a token, which every form of a page needs. A form counts once, so a page has one form, or
    /// several of which one will be sent.
    pub fn token(&self) -> Markup {
        // Without random numbers there is no token, and no form is accepted.
        let token = self.forms.open().unwrap_or_default();
        html! { input type="hidden" name=(TOKEN) value=(token); }
    }
}

/// The address of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// On a free port, below a path that cannot be guessed.
    Secret,
    /// At this path, which must be known beforehand; on this port, or a free one. The site checks its own secret.
    Known {
        /// Begins with a slash.
        path: String,
        /// The port.
        port: Option<u16>,
    },
}

/// A running site, until this is dropped or closed.
pub struct Pages {
    url: String,
    connections: TaskTracker,
    stop: CancellationToken,
    _stops: DropGuard,
}

struct PageServer {
    site: Arc<dyn Site>,
    base: String,
    port: u16,
    forms: Arc<Forms>,
}

impl Pages {
    /// Serves `site` on 127.0.0.1. Must be called in a runtime.
    ///
    /// # Errors
    /// If the port is not available.
    pub async fn serve(address: Address, site: Arc<dyn Site>) -> io::Result<Self> {
        let (base, port) = match address {
            Address::Secret => (format!("/{}/", unguessable()?), None),
            Address::Known { path, port } => (path, port),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        let url = format!("http://127.0.0.1:{port}{base}");
        let shared = Arc::new(PageServer { site, base, port, forms: Arc::new(Forms::new(port)?) });
        let (connections, stop) = (TaskTracker::new(), CancellationToken::new());
        let pages =
            Self { url, connections: connections.clone(), stop: stop.clone(), _stops: stop.clone().drop_guard() };
        tokio::spawn(stop.run_until_cancelled_owned(accept(listener, shared, connections)));
        Ok(pages)
    }

    /// The address of the site.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Accepts no more requests, and gives those in progress `grace` to finish.
    pub async fn close(&self, grace: Duration) {
        self.connections.close();
        drop(timeout(grace, self.connections.wait()).await);
        self.stop.cancel();
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pages")
    }
}

async fn accept(listener: TcpListener, shared: Arc<PageServer>, connections: TaskTracker) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if shared.site.is_personal() && !owner::is_ours(peer.port(), shared.port) {
            continue;
        }
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(shared.answer(request).await) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MAX_HEAD).keep_alive(false);
            // If a browser disconnects, there is nothing to do.
            drop(http.serve_connection(TokioIo::new(stream), service).await);
            drop(place);
        });
    }
}

impl PageServer {
    async fn answer(&self, request: Request<Incoming>) -> Response<PageBody> {
        let (head, body) = request.into_parts();
        if !guard::admits(&head.method, &head.headers, self.port) {
            return reply::plain(StatusCode::FORBIDDEN, "This page cannot be opened from there.\n");
        }
        let Some(path) = self.below(head.uri.path()) else {
            return reply::plain(StatusCode::NOT_FOUND, "There is no such page.\n");
        };
        let Ok(nonce) = unguessable() else {
            return reply::plain(StatusCode::INTERNAL_SERVER_ERROR, "Random numbers are not available.\n");
        };
        let is_post = head.method == Method::POST;
        if self.site.is_personal() && !self.forms.has_cookie(&head.headers) && (is_post || !self.forms.claim()) {
            // A link from another site's page comes without the cookie; a link on this page comes with it.
            let words = "This page belongs to the browser that opened it first. This request came from another \
                         browser, or your browser does not accept cookies.";
            return reply::refusal("This page is open in another browser", words, &self.base, &nonce);
        }
        let form = if is_post {
            let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            if !kind.starts_with("application/x-www-form-urlencoded") {
                return reply::plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "This is not a form.\n");
            }
            let Ok(Ok(body)) = timeout(PATIENCE, Limited::new(body, MAX_FORM).collect()).await else {
                return reply::plain(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "This form is too large, or took too long to arrive.\n",
                );
            };
            let fields = Fields::parse(&body.to_bytes());
            if !self.forms.accept(&head.headers, &fields, self.site.is_trial(path)) {
                let words = "This form has already been sent, or it is not from this page, or your browser does not \
                             accept cookies. Nothing was done.";
                return reply::refusal("Not accepted", words, &self.base, &nonce);
            }
            Some(fields)
        } else {
            None
        };
        let query = Fields::parse(head.uri.query().unwrap_or_default().as_bytes());
        let visit = Visit { path: path.to_owned(), query, form, forms: Arc::clone(&self.forms) };
        let mut response = Arc::clone(&self.site).answer(visit).await.into_response(&self.base, &nonce);
        // It consists of digits and ASCII words.
        if let Ok(cookie) = HeaderValue::from_str(&self.forms.set_cookie(&self.base)) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    }

    /// The part after the site's own path.
    fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        let begin = path.get(..self.base.len()).filter(|begin| guard::is_same(begin, &self.base))?;
        let rest = &path[begin.len()..];
        (rest.is_empty() || begin.ends_with('/')).then_some(rest)
    }
}
