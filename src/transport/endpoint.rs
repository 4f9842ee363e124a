use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};

/// How to reach a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Endpoint {
    /// A program that we started, over its standard streams.
    Stdio(StdioEndpoint),
    /// A web address.
    Http(HttpEndpoint),
}

/// A program to start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StdioEndpoint {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables in addition to the inherited ones, in order.
    pub env: Vec<(String, String)>,
    /// Its working directory; ours if `None`.
    pub cwd: Option<PathBuf>,
}

/// A web address to connect to.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct HttpEndpoint {
    /// The address.
    pub url: url::Url,
    /// Headers for every request to this origin. Values are never logged.
    pub headers: Vec<(String, String)>,
    /// Which transport.
    pub kind: HttpKind,
    /// A PEM file of certificate authorities, in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Whether certificates are not checked.
    pub insecure: bool,
}

impl HttpEndpoint {
    /// Whether the configuration contains the authorization of requests.
    pub fn has_authorization(&self) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    }
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, "HttpEndpoint({}, headers {headers:?}, {:?})", self.url, self.kind)
    }
}

/// The HTTP transport of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HttpKind {
    /// Streamable HTTP, or HTTP+SSE if the server refuses that.
    #[default]
    Auto,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}
