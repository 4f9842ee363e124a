use std::{fmt, time::Duration};

use reqwest::{
    Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION},
};
use serde_json::Value;
use tokio::time::timeout;
use url::{Host, Url};

use super::{
    fetch::shown,
    redirect,
    tls::{Clients, innermost},
};
use crate::transport::{HttpEndpoint, Limits, TransportError};

/// The size limit of a document, in bytes.
const LARGEST: usize = 1 << 20;
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Small requests besides the conversation with a server: for metadata and tokens. They use the same connection
/// settings (`caFile`, proxies), but none of the headers, and are encrypted except on this machine. A remote document
/// must never lead to this machine.
pub struct Web {
    clients: Clients,
    is_local: bool,
}

crate::text::opaque! { Web }

/// A response.
pub struct WebDocument {
    /// The status.
    pub status: u16,
    /// The whole body. May contain secrets.
    pub body: Vec<u8>,
}

impl fmt::Debug for WebDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document(HTTP {}, {} bytes)", self.status, self.body.len())
    }
}

impl WebDocument {
    /// The body, if it is a JSON object.
    pub fn object(&self) -> Option<serde_json::Map<String, Value>> {
        match serde_json::from_slice(&self.body) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        }
    }
}

impl Web {
    /// Requests on behalf of the server at `endpoint`.
    ///
    /// # Errors
    /// If its settings cannot be used.
    pub fn new(endpoint: &HttpEndpoint) -> Result<Self, TransportError> {
        Ok(Self { clients: Clients::new(endpoint, Limits::default().connect)?, is_local: is_loopback(&endpoint.url) })
    }

    /// Whether requests may go to `url`.
    ///
    /// # Errors
    /// The reason why not, as a clause.
    pub fn check(&self, url: &Url) -> Result<(), String> {
        let reason = match (url.scheme(), is_loopback(url)) {
            ("http" | "https", true) if !self.is_local => "leads to this machine, but the server is elsewhere",
            ("https", _) | ("http", true) => return Ok(()),
            ("http", false) => "is not encrypted",
            _ => "is not a web address",
        };
        Err(reason.to_owned())
    }

    /// Fetches a document. Redirects are followed within its origin.
    ///
    /// # Errors
    /// If it cannot be fetched, is too large, or leads elsewhere.
    pub async fn get(&self, url: &Url) -> Result<WebDocument, TransportError> {
        let mut url = url.clone();
        for _ in 0..=redirect::MAX {
            let (document, to) = self.send(Method::GET, &url, None, None).await?;
            let Some(to) = to else { return Ok(document) };
            let target = url.join(&to).ok().filter(|target| redirect::same_origin(&url, target));
            url =
                target.ok_or_else(|| TransportError::NoAnswer(format!("{} redirects to another host", shown(&url))))?;
        }
        Err(TransportError::NoAnswer(format!("more than {} redirects", redirect::MAX)))
    }

    /// Posts a body of this type, with or without an `Authorization` header.
    ///
    /// # Errors
    /// If there is no answer, or it is too large, or leads elsewhere.
    pub async fn post(
        &self,
        url: &Url,
        kind: &'static str,
        body: String,
        authorization: Option<&str>,
    ) -> Result<WebDocument, TransportError> {
        match self.send(Method::POST, url, Some((kind, body)), authorization).await? {
            (document, None) => Ok(document),
            (_, Some(_)) => Err(TransportError::NoAnswer(format!("{} redirects to another host", shown(url)))),
        }
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        body: Option<(&'static str, String)>,
        authorization: Option<&str>,
    ) -> Result<(WebDocument, Option<String>), TransportError> {
        self.check(url)
            .map_err(|reason| TransportError::Settings(format!("{} cannot be used: it {reason}", shown(url))))?;
        let mut request = self.clients.get(url.scheme(), true).await?.request(method, url.clone());
        request = request.header(ACCEPT, "application/json");
        if let Some((kind, body)) = body {
            request = request.header(CONTENT_TYPE, kind).body(body);
        }
        if let Some(Ok(mut value)) = authorization.map(HeaderValue::from_str) {
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        timeout(PATIENCE, async {
            let mut response = request.send().await.map_err(|error| TransportError::Unreachable {
                url: shown(url),
                reason: innermost(&error),
                connected: !error.is_connect(),
            })?;
            let status = response.status();
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).map(str::to_owned);
            if redirect::is_redirection(status) {
                let to = to.unwrap_or_default();
                return Ok((WebDocument { status: status.as_u16(), body: Vec::new() }, Some(to)));
            }
            let mut body = Vec::new();
            while let Some(chunk) =
                response.chunk().await.map_err(|error| TransportError::NoAnswer(innermost(&error)))?
            {
                if body.len() + chunk.len() > LARGEST {
                    return Err(TransportError::NoAnswer(format!("{} is larger than {LARGEST} bytes", shown(url))));
                }
                body.extend_from_slice(&chunk);
            }
            Ok((WebDocument { status: status.as_u16(), body }, None))
        })
        .await
        .unwrap_or(Err(TransportError::Silent(PATIENCE)))
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.to_ipv4_mapped().is_some_and(|a| a.is_loopback())
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::HttpKind;

    fn allowed(server: &str, url: &str) -> bool {
        let url_of = |text: &str| Url::parse(text).expect("a URL");
        let endpoint =
            HttpEndpoint { url: url_of(server), headers: vec![], kind: HttpKind::Auto, ca_file: None, insecure: false };
        Web::new(&endpoint).expect("a client").check(&url_of(url)).is_ok()
    }

    #[test]
    fn requests_are_encrypted_and_nobody_is_sent_to_this_machine() {
        let (local, far) = ("http://localhost:1/mcp", "https://mcp.example/mcp");
        assert!(allowed(local, "http://127.0.0.1:2/x") && allowed(local, "https://as.example/x"));
        assert!(allowed(far, "https://as.example/x"));
        for url in
            ["http://as.example/x", "http://127.0.0.1/x", "https://localhost/x", "https://[::1]/", "file:///etc/passwd"]
        {
            assert!(!allowed(far, url), "{url}");
        }
        for url in ["http://as.example/x", "javascript:alert(1)", "data:text/plain,x"] {
            assert!(!allowed(local, url), "{url}");
        }
    }
}
