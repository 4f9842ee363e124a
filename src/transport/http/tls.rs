use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::{Certificate, Client, ClientBuilder, Proxy, Response, redirect::Policy};
use tokio::sync::OnceCell;

use crate::transport::{HttpEndpoint, TransportError};

/// Connections are dropped after this idle time: many servers close them after 5 s, and a request at that moment would
/// be lost.
const IDLE: Duration = Duration::from_secs(4);

/// The HTTP clients of one endpoint. Reading the system's certificates takes a while, and fails if there are none, so
/// it is postponed until an `https` address is requested.
pub(super) struct Clients {
    /// Their connections are reused.
    keeping: Pair,
    /// Each of their requests gets a new connection.
    single: Pair,
    reuse: Mutex<Reuse>,
    ca_file: Option<PathBuf>,
    insecure: bool,
    connect: Duration,
}

/// Whether the server keeps connections open after an answer. A server that does not, and does not say so either, may
/// close them while the next request is on its way.
#[derive(Clone, Copy)]
enum Reuse {
    /// Not known; our end of the connection that carried the last answer.
    Unknown(Option<SocketAddr>),
    /// One carried two answers.
    Proven,
    /// One broke before its answer.
    Broke,
}

#[derive(Default)]
struct Pair {
    plain: OnceCell<Client>,
    secure: OnceCell<Client>,
}

impl Clients {
    pub(super) fn new(endpoint: &HttpEndpoint, connect: Duration) -> Result<Self, TransportError> {
        // An error means that a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clients = Self {
            keeping: Pair::default(),
            single: Pair::default(),
            reuse: Mutex::new(Reuse::Unknown(None)),
            ca_file: endpoint.ca_file.clone(),
            insecure: endpoint.insecure,
            connect,
        };
        let plain = clients.build_plain(true)?;
        Ok(Self { keeping: Pair { plain: OnceCell::new_with(Some(plain)), ..Pair::default() }, ..clients })
    }

    /// The client for an address with this scheme. A request that must not arrive twice could not be repeated, so it
    /// reuses a connection only if the server is known to keep them open.
    pub(super) async fn get(&self, scheme: &str, is_repeatable: bool) -> Result<&Client, TransportError> {
        let keeps = match *self.reuse() {
            Reuse::Unknown(_) => is_repeatable,
            Reuse::Proven => true,
            Reuse::Broke => false,
        };
        let pair = if keeps { &self.keeping } else { &self.single };
        if scheme == "https" {
            pair.secure.get_or_try_init(|| async { self.build_secure(keeps) }).await
        } else {
            pair.plain.get_or_try_init(|| async { self.build_plain(keeps) }).await
        }
    }

    /// From now on no connection is reused: the server closes them at any time. Returns `false` if that was known.
    pub(super) fn keep_no_more(&self) -> bool {
        !matches!(std::mem::replace(&mut *self.reuse(), Reuse::Broke), Reuse::Broke)
    }

    /// Learns from an answer whether connections are kept open.
    pub(super) fn learn(&self, response: &Response) {
        let Some(end) = response.extensions().get::<HttpInfo>().map(HttpInfo::local_addr) else { return };
        let mut reuse = self.reuse();
        if let Reuse::Unknown(last) = *reuse {
            *reuse = if last == Some(end) { Reuse::Proven } else { Reuse::Unknown(Some(end)) };
        }
    }

    fn reuse(&self) -> MutexGuard<'_, Reuse> {
        self.reuse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn build_plain(&self, keeps: bool) -> Result<Client, TransportError> {
        builder(self.connect, keeps).tls_certs_only([]).build().map_err(|error| settings(&error))
    }

    fn build_secure(&self, keeps: bool) -> Result<Client, TransportError> {
        let mut extra = Vec::new();
        if let Some(path) = &self.ca_file {
            extra.extend(read_certificates(path)?);
        }
        if cfg!(target_vendor = "apple")
            && let Some(path) = std::env::var_os("SSL_CERT_FILE")
        {
            extra.extend(read_certificates(Path::new(&path))?);
        }
        let mut builder = builder(self.connect, keeps);
        if !extra.is_empty() {
            builder = builder.tls_certs_merge(extra);
        }
        if self.insecure {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        builder.build().map_err(|error| settings(&error))
    }
}

fn builder(connect: Duration, keeps: bool) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("toolnexus/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        .no_proxy()
        .proxy(Proxy::custom(|url| super::proxy::of(url).map(|chosen| chosen.url)))
        .connect_timeout(connect)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(if keeps { usize::MAX } else { 0 })
        .tcp_nodelay(true)
}

fn read_certificates(path: &Path) -> Result<Vec<Certificate>, TransportError> {
    let wrong = |reason: String| {
        TransportError::Settings(format!("the certificates in {} cannot be used: {reason}", path.display()))
    };
    let pem = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| wrong(innermost(&error)))?;
    if certificates.is_empty() { Err(wrong("there are no certificates in it".into())) } else { Ok(certificates) }
}

fn settings(error: &reqwest::Error) -> TransportError {
    TransportError::Settings(format!("HTTP cannot be set up: {}", innermost(error)))
}

/// Why there is no connection, with advice if possible.
pub(super) fn words(error: &dyn std::error::Error) -> String {
    let text = innermost(error);
    let known = [
        (
            "UnknownIssuer",
            "its certificate was issued by an authority that this machine does not trust; add the authority with `caFile` in the configuration",
        ),
        ("Expired", "its certificate has expired"),
        ("NotValidYet", "its certificate is not valid yet"),
        ("NotValidForName", "its certificate is for another host name"),
        ("not valid for name", "its certificate is for another host name"),
        (
            "CaUsedAsEndEntity",
            "its certificate is an authority's own, which is not for servers; give the server one that the authority signed",
        ),
        ("tls handshake eof", "the other side ended the handshake; does this port speak plain http?"),
        ("invalid HTTP version", "this port does not speak plain http; does it speak https?"),
        ("tunnel error: unsuccessful", "the proxy did not open a connection"),
        (
            "proxy authorization required",
            "the proxy wants a user name and a password, as in http://USER:PASSWORD@HOST:PORT",
        ),
        ("InvalidContentType", "this port speaks plain http, not https"),
        ("corrupt message", "this port speaks plain http, not https"),
    ];
    match known.iter().find(|(part, _)| text.contains(part)) {
        Some((_, words)) => format!("{words} ({text})"),
        None => text,
    }
}

/// The message of the innermost cause: the outer ones repeat the address and say little.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
