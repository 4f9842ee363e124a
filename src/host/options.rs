use std::{fmt, path::PathBuf, sync::Arc};

use tokio_util::sync::CancellationToken;

use crate::{
    client::{Attach, ClientOptions, NoticeSink, SignInOptions, Times},
    config::ServerConfig,
    elicitation::{Resolver, ServerName},
    protocol::ProtocolChoice,
    transport::{Credentials, Trace, TransportError},
};

/// Everything a host needs in addition to its configuration.
///
/// ```
/// use std::time::Duration;
/// use toolnexus::prelude::*;
///
/// let mut options = HostOptions::answered_by(wait_for(async |request: Request| Answer::decline(&request.id)));
/// options.times.call_silence = Duration::from_secs(20);
/// options.roots.push("/srv/files".into());
/// # let _ = Host::with_options(json!({"mcpServers": {}}), options).unwrap();
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct HostOptions {
    /// Who answers questions, for all servers; without one, elicitation is not declared.
    pub resolver: Option<Arc<dyn Resolver>>,
    /// How people sign in to servers at web addresses.
    pub sign_in: SignInOptions,
    /// The folder in which sign-ins are stored; without one they last as long as this host.
    pub sign_ins: Option<PathBuf>,
    /// Where notices go.
    pub notices: NoticeSink,
    /// Folders to declare as roots; if empty, none are declared.
    pub roots: Vec<PathBuf>,
    /// Overrides the `protocol` of every server.
    pub protocol: Option<ProtocolChoice>,
    /// Time limits for servers whose configuration has none.
    pub times: Times,
    /// The folder in which eras are remembered; without one, nothing is remembered.
    pub cache: Option<PathBuf>,
    /// Minimum level of the servers' logs.
    pub log_level: Option<String>,
    /// Where all messages are written.
    pub trace: Option<Trace>,
    /// The tool that will be called, if it is only one: the connection is opened in the revision that it needs.
    pub tool: Option<String>,
    /// Finds servers that another process keeps; without it, this process starts or reaches every server itself.
    pub attach: Option<Arc<dyn Attach>>,
    /// Ends connection attempts in progress.
    pub stop: CancellationToken,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            resolver: None,
            sign_in: SignInOptions::default(),
            sign_ins: None,
            notices: Arc::new(|_| {}),
            roots: Vec::new(),
            protocol: None,
            times: Times::default(),
            cache: None,
            log_level: None,
            trace: None,
            tool: None,
            attach: None,
            stop: CancellationToken::new(),
        }
    }
}

impl fmt::Debug for HostOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostOptions")
            .field("resolver", &self.resolver.is_some())
            .field("sign_in", &self.sign_in)
            .field("sign_ins", &self.sign_ins)
            .field("roots", &self.roots)
            .field("protocol", &self.protocol)
            .field("times", &self.times)
            .field("cache", &self.cache)
            .field("log_level", &self.log_level)
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

impl HostOptions {
    /// The defaults, with `resolver` to answer questions.
    pub fn answered_by(resolver: impl Resolver + 'static) -> Self {
        Self { resolver: Some(Arc::new(resolver)), ..Self::default() }
    }

    /// The options for the client of `server`: these, overridden by the server's configuration.
    ///
    /// # Errors
    /// If the configuration cannot be used.
    pub fn for_server(&self, server: &ServerName, config: &ServerConfig) -> Result<ClientOptions, TransportError> {
        let times = Times {
            start: config.timeout.unwrap_or(self.times.start),
            call_silence: config.call_timeout.or(config.timeout).unwrap_or(self.times.call_silence),
            call_total: config.max_call_time.unwrap_or(self.times.call_total),
            url_wait: self.times.url_wait,
            shutdown_grace: config.shutdown_grace.or(self.times.shutdown_grace),
        };
        Ok(ClientOptions {
            credentials: self.credentials(server, config)?,
            server: server.clone(),
            resolver: self.resolver.clone(),
            person: self.sign_in.person.clone(),
            notices: Arc::clone(&self.notices),
            roots: self.roots.clone(),
            protocol: self.protocol,
            times,
            cache: self.cache.clone(),
            log_level: self.log_level.clone(),
            trace: self.trace.as_ref().map(|trace| trace.for_server(server.as_str())),
            tool: self.tool.clone(),
        })
    }

    /// Authorizes requests to `server`: this build has no web addresses.
    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "with the feature `http` it is used")]
    fn credentials(
        &self,
        _server: &ServerName,
        _config: &ServerConfig,
    ) -> Result<Option<Arc<dyn Credentials>>, TransportError> {
        Ok(None)
    }

    /// Authorizes requests to `server`. An `Authorization` header in the configuration takes precedence.
    #[cfg(feature = "http")]
    fn credentials(
        &self,
        server: &ServerName,
        config: &ServerConfig,
    ) -> Result<Option<Arc<dyn Credentials>>, TransportError> {
        use crate::{
            auth::{ProgramCredentials, SignIn, Store},
            transport::Endpoint,
        };

        let Endpoint::Http(http) = &config.endpoint else { return Ok(None) };
        if let Some(program) = &config.auth.program {
            return Ok(Some(Arc::new(ProgramCredentials::new(program.clone()))));
        }
        if http.has_authorization() {
            return Ok(None);
        }
        let oauth = config.auth.oauth.clone();
        let store = self.sign_ins.as_ref().map(|folder| Store::new(folder).at(oauth.token_store));
        Ok(Some(Arc::new(SignIn::new(server.clone(), http, oauth, self.sign_in.clone(), store)?)))
    }
}
