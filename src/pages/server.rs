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
    guard,
    reply::{self, Body, Reply},
    unguessable,
};

/// The largest form that is taken, in bytes.
const MAX_FORM: usize = 1 << 20;
/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// How many connections there may be at once.
const CONNECTIONS: usize = 64;
/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// What stands on the pages.
pub trait Site: Send + Sync + 'static {
    /// Answers a request that may be answered: it came to the right address, from no page of somebody else's, and a form
    /// in it is one of this site's own.
    fn answer(self: Arc<Self>, visit: Visit) -> BoxFuture<'static, Reply>;
}

/// A request for a page.
pub struct Visit {
    /// The path below the site's own: empty for the site itself.
    pub path: String,
    /// The query.
    pub query: Fields,
    /// The form, when one was sent.
    pub form: Option<Fields>,
    token: String,
}

impl Visit {
    /// What every form of a page needs: a hidden field with its token. A form counts once, so a page has one form, or
    /// several of which one will be sent.
    pub fn token(&self) -> Markup {
        html! { input type="hidden" name=(TOKEN) value=(self.token); }
    }
}

/// Where a site stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// On a free port, below a path that cannot be guessed.
    Secret,
    /// At this path, which has to be known beforehand; on this port, or a free one. What stands there checks a secret of
    /// its own.
    Known {
        /// Begins with a slash.
        path: String,
        /// The port.
        port: Option<u16>,
    },
}

/// A site that is being served, until this is dropped or closed.
pub struct Pages {
    url: String,
    connections: TaskTracker,
    stop: CancellationToken,
    _stops: DropGuard,
}

struct Shared {
    site: Arc<dyn Site>,
    base: String,
    port: u16,
    forms: Forms,
}

impl Pages {
    /// Serves `site` on 127.0.0.1. Must be called in a runtime.
    ///
    /// # Errors
    /// When the port cannot be had.
    pub async fn serve(address: Address, site: Arc<dyn Site>) -> io::Result<Self> {
        let (base, port) = match address {
            Address::Secret => (format!("/{}/", unguessable()?), None),
            Address::Known { path, port } => (path, port),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        let url = format!("http://127.0.0.1:{port}{base}");
        let shared = Arc::new(Shared { site, base, port, forms: Forms::new(port)? });
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

    /// Takes no more requests, and gives those under way `grace` to end.
    pub async fn close(self, grace: Duration) {
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

async fn accept(listener: TcpListener, shared: Arc<Shared>, connections: TaskTracker) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(shared.answer(request).await) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MAX_HEAD).keep_alive(false);
            // A browser that breaks off is its own business.
            drop(http.serve_connection(TokioIo::new(stream), service).await);
            drop(place);
        });
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if !guard::admits(&head.method, &head.headers, self.port) {
            return reply::plain(StatusCode::FORBIDDEN, "This page is not for you.\n");
        }
        let Some(path) = self.below(head.uri.path()) else {
            return reply::plain(StatusCode::NOT_FOUND, "There is no such page.\n");
        };
        let form = if head.method == Method::POST {
            let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            if !kind.starts_with("application/x-www-form-urlencoded") {
                return reply::plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "This is not a form.\n");
            }
            let Ok(Ok(body)) = timeout(PATIENCE, Limited::new(body, MAX_FORM).collect()).await else {
                return reply::plain(StatusCode::PAYLOAD_TOO_LARGE, "This form is too large, or came too slowly.\n");
            };
            let fields = Fields::parse(&body.to_bytes());
            if !self.forms.accept(&head.headers, &fields) {
                return reply::plain(
                    StatusCode::FORBIDDEN,
                    "This form was sent already, or is not from this page, or the browser keeps no cookies. \
                     Open the page again.\n",
                );
            }
            Some(fields)
        } else {
            None
        };
        let query = Fields::parse(head.uri.query().unwrap_or_default().as_bytes());
        let (Ok(token), Ok(nonce)) = (self.forms.open(), unguessable()) else {
            return reply::plain(StatusCode::INTERNAL_SERVER_ERROR, "The system has no randomness.\n");
        };
        let visit = Visit { path: path.to_owned(), query, form, token };
        let mut response = Arc::clone(&self.site).answer(visit).await.into_response(&self.base, &nonce);
        // It is made of digits and ASCII words.
        if let Ok(cookie) = HeaderValue::from_str(&self.forms.set_cookie(&self.base)) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    }

    /// What stands behind the site's own path.
    fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        let begin = path.get(..self.base.len()).filter(|begin| guard::is_same(begin, &self.base))?;
        let rest = &path[begin.len()..];
        (rest.is_empty() || begin.ends_with('/')).then_some(rest)
    }
}
