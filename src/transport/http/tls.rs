use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::{Certificate, Client, ClientBuilder, redirect::Policy};
use tokio::sync::OnceCell;

use crate::transport::{HttpEndpoint, TransportError};

/// Connections are dropped after this much idleness: many servers close them after 5 s, and a request that races with
/// that is lost.
const IDLE: Duration = Duration::from_secs(4);

/// The two HTTP clients of one endpoint. Reading the system's certificates takes a while, and fails where there are none,
/// so that is left until an `https` address is asked for.
pub(super) struct Clients {
    plain: Client,
    secure: OnceCell<Client>,
    ca_file: Option<PathBuf>,
    insecure: bool,
    connect: Duration,
}

impl Clients {
    pub(super) fn new(endpoint: &HttpEndpoint, connect: Duration) -> Result<Self, TransportError> {
        // An error means that a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let plain = builder(connect).tls_certs_only([]).build().map_err(|error| settings(&error))?;
        let (ca_file, insecure) = (endpoint.ca_file.clone(), endpoint.insecure);
        Ok(Self { plain, secure: OnceCell::new(), ca_file, insecure, connect })
    }

    /// The client for an address with this scheme.
    pub(super) async fn get(&self, scheme: &str) -> Result<&Client, TransportError> {
        if scheme == "https" {
            self.secure.get_or_try_init(|| async { self.build_secure() }).await
        } else {
            Ok(&self.plain)
        }
    }

    fn build_secure(&self) -> Result<Client, TransportError> {
        let mut extra = Vec::new();
        if let Some(path) = &self.ca_file {
            extra.extend(read_certificates(path)?);
        }
        if cfg!(target_vendor = "apple")
            && let Some(path) = std::env::var_os("SSL_CERT_FILE")
        {
            extra.extend(read_certificates(Path::new(&path))?);
        }
        let mut builder = builder(self.connect);
        if !extra.is_empty() {
            builder = builder.tls_certs_merge(extra);
        }
        if self.insecure {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        builder.build().map_err(|error| settings(&error))
    }
}

fn builder(connect: Duration) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("toolnexus/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(connect)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true)
}

fn read_certificates(path: &Path) -> Result<Vec<Certificate>, TransportError> {
    let wrong =
        |reason: String| TransportError::Settings(format!("read the certificates in {}: {reason}", path.display()));
    let pem = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| wrong(innermost(&error)))?;
    if certificates.is_empty() { Err(wrong("there are none".into())) } else { Ok(certificates) }
}

fn settings(error: &reqwest::Error) -> TransportError {
    TransportError::Settings(format!("set up HTTP: {}", innermost(error)))
}

/// The words of the innermost cause: the outer ones repeat the address and say little.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
