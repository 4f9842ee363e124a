use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use super::NoticeSink;
use crate::{
    elicitation::{Resolver, ServerName},
    protocol::ProtocolChoice,
    transport::{Credentials, Trace},
};

/// Everything a client needs in addition to its server's configuration.
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The server's name.
    pub server: ServerName,
    /// Who answers its questions; without one, elicitation is not declared.
    pub resolver: Option<Arc<dyn Resolver>>,
    /// Who signs in.
    pub person: Option<Arc<dyn Resolver>>,
    /// Authorizes requests, if the server is at a web address.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// Where notices go.
    pub notices: NoticeSink,
    /// Folders to declare as roots; if empty, none are declared.
    pub roots: Vec<PathBuf>,
    /// Overrides the server's `protocol`.
    pub protocol: Option<ProtocolChoice>,
    /// The time limits.
    pub times: Times,
    /// The folder in which eras are remembered; without one, nothing is remembered.
    pub cache: Option<PathBuf>,
    /// Minimum level of the server's log, if set.
    pub log_level: Option<String>,
    /// Where all messages are written.
    pub trace: Option<Trace>,
    /// The tool that will be called, if it is only one: the connection is opened in the revision that it needs.
    pub tool: Option<String>,
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("server", &self.server)
            .field("resolver", &self.resolver.is_some())
            .field("roots", &self.roots)
            .field("protocol", &self.protocol)
            .field("times", &self.times)
            .field("cache", &self.cache)
            .field("log_level", &self.log_level)
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

/// The time limits. All of them are paused while a question is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Times {
    /// How long start and each listing may take. Default 30 s.
    pub start: Duration,
    /// How long a call may be silent; progress restarts the count. Default 5 min.
    pub call_silence: Duration,
    /// How long a call may take in total. Default 1 h.
    pub call_total: Duration,
    /// How long to wait for an accepted link's notification, or for the person. Default 120 s.
    pub url_wait: Duration,
    /// How long a server may take to end by itself once its input is closed. If `None`: 200 ms, longer while it is
    /// still busy, and hardly any time if it is known to do nothing.
    pub shutdown_grace: Option<Duration>,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            call_silence: Duration::from_secs(300),
            call_total: Duration::from_secs(3600),
            url_wait: Duration::from_secs(120),
            shutdown_grace: None,
        }
    }
}
