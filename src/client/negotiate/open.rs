use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use super::{
    Memory, discover,
    discover::Discovered,
    initialize,
    probe::{METHOD, Probed, probe, question},
    strict::{may_be_about_keys, was_spoiled},
};
use crate::{
    client::{
        ClientError, ClientOptions, ServerInfo,
        capabilities::Offer,
        clock::{Clock, Patience},
        conversation::{Conversation, Manner, refusal},
        driver::DriverSetup,
        floor::Floor,
        wire::{Failure, Wire},
    },
    config::ServerConfig,
    elicitation::Modes,
    elicitation::ServerName,
    protocol::{Era, ProtocolChoice, Revision},
    transport::{self, Endpoint, HttpKind, Limits, Transport, TransportError},
};

/// How long a program may be silent before the handshake is tried in addition to the probe.
const STDIO_SILENCE: Duration = Duration::from_secs(1);
/// The same for a web address, where the two requests do not wait for each other.
const HTTP_SILENCE: Duration = Duration::from_secs(5);
/// How long a server may take to confirm a remembered revision.
const CONFIRM: Duration = Duration::from_secs(5);

/// Opens connections to one server.
pub(in crate::client) struct Opener {
    config: ServerConfig,
    options: ClientOptions,
    /// Whether the server turned out to accept no sub-keys of `elicitation`.
    is_strict: AtomicBool,
    clock: Clock,
    ids: Arc<AtomicU64>,
    memory: Memory,
    connector: Connector,
}

/// Makes the transport; tests use another one.
pub(in crate::client) type Connector =
    Box<dyn Fn(&ServerConfig) -> Result<Box<dyn Transport>, TransportError> + Send + Sync>;

impl Opener {
    /// The server's name.
    pub(in crate::client) fn server(&self) -> &ServerName {
        &self.options.server
    }

    /// Opens connections according to the configuration.
    pub(in crate::client) fn new(config: ServerConfig, options: ClientOptions) -> Self {
        let (trace, credentials) = (options.trace.clone(), options.credentials.clone());
        let connector: Connector = Box::new(move |config| {
            let limits = Limits { max_message: config.max_message, ..Limits::default() };
            transport::connect(&config.endpoint, limits, credentials.clone(), trace.clone())
        });
        Self::with(config, options, connector)
    }

    /// Opens connections through `connector`.
    pub(in crate::client) fn with(config: ServerConfig, options: ClientOptions, connector: Connector) -> Self {
        let memory = Memory::new(options.cache.as_deref(), &config.fingerprint());
        let (clock, ids) = (Clock::new(), Arc::new(AtomicU64::new(1)));
        Self { config, options, is_strict: AtomicBool::new(false), clock, ids, memory, connector }
    }

    /// The options.
    pub(in crate::client) fn options(&self) -> &ClientOptions {
        &self.options
    }

    /// The counter of request ids, none of which is used twice.
    pub(in crate::client) fn ids(&self) -> &Arc<AtomicU64> {
        &self.ids
    }

    /// The elicitation modes that the server may use, if there is a resolver.
    fn modes(&self) -> Modes {
        if self.is_strict.load(Ordering::Relaxed) { Modes::PLAIN } else { self.config.modes }
    }

    fn manner(&self) -> Manner {
        let elicitation = self.options.resolver.as_ref().map(|_| self.modes());
        let offer = Offer { elicitation, roots: !self.options.roots.is_empty() };
        Manner { offer, log_level: self.options.log_level.clone() }
    }

    /// Whether the server is a web address.
    pub(in crate::client) fn is_http(&self) -> bool {
        matches!(self.config.endpoint, Endpoint::Http(_))
    }

    /// The time limit for starting, from now on.
    pub(in crate::client) fn patience(&self) -> Patience {
        Patience::at_most(&self.clock, self.options.times.start)
    }

    /// Opens a connection, and negotiates if the revision is not known. An old server that seems to refuse the sub-keys
    /// of `elicitation` is tried once more without them.
    ///
    /// # Errors
    /// If there is no connection, or no revision in common.
    pub(in crate::client) async fn open(&self, stop: &CancellationToken) -> Result<Conversation, ClientError> {
        let error = match self.open_once(stop).await {
            Err(error) if self.options.resolver.is_some() && self.modes().url && may_be_about_keys(&error) => error,
            opened => return opened,
        };
        self.is_strict.store(true, Ordering::Relaxed);
        let Ok(session) = self.open_once(stop).await else {
            self.is_strict.store(false, Ordering::Relaxed);
            return Err(error);
        };
        session.wire.setup().warn(
            "it did not accept the list of elicitation modes, so it can ask only with forms; \
             \"elicitation\": \"plain\" in its configuration avoids this warning",
        );
        Ok(session)
    }

    async fn open_once(&self, stop: &CancellationToken) -> Result<Conversation, ClientError> {
        let patience = self.patience();
        match self.choice() {
            ProtocolChoice::Fixed(revision) => self.open_as(revision, patience, stop).await,
            ProtocolChoice::Auto => match self.memory.recall() {
                Some(info) if info.era() == Era::Modern => {
                    if let Some(session) = self.open_for_tool(patience, stop).await? {
                        return Ok(session);
                    }
                    let wire = self.connect()?;
                    wire.agree(info.revision);
                    Ok(Conversation::new(wire, info, self.manner(), false))
                }
                Some(_) => self.open_remembered_legacy(patience, stop).await,
                None if self.is_two_endpoints() => self.open_legacy(patience, stop).await,
                None => self.find_out(patience, stop).await,
            },
        }
    }

    /// Forgets the server's revision, and negotiates again on a new connection.
    ///
    /// # Errors
    /// As for [`Opener::open`].
    pub(in crate::client) async fn reopen(&self, stop: &CancellationToken) -> Result<Conversation, ClientError> {
        self.memory.forget();
        self.find_out(self.patience(), stop).await
    }

    /// Which revision is wanted.
    pub(in crate::client) fn choice(&self) -> ProtocolChoice {
        self.options.protocol.unwrap_or(self.config.protocol)
    }

    /// Opens a connection with the handshake, whatever revision the server was found to speak.
    ///
    /// # Errors
    /// If there is no connection, or the server knows no legacy revision.
    pub(in crate::client) async fn open_by_handshake(
        &self,
        stop: &CancellationToken,
    ) -> Result<Conversation, ClientError> {
        self.open_legacy(self.patience(), stop).await
    }

    /// What is remembered about the server.
    pub(in crate::client) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A legacy connection, if the tool that is about to be called is known to need one. If the server refuses it, the
    /// usual connection is used.
    async fn open_for_tool(
        &self,
        patience: Patience,
        stop: &CancellationToken,
    ) -> Result<Option<Conversation>, ClientError> {
        let Some(tool) = &self.options.tool else { return Ok(None) };
        if self.options.resolver.is_none() || !self.memory.is_legacy_tool(tool) {
            return Ok(None);
        }
        match self.open_legacy(patience, stop).await {
            Ok(session) => Ok(Some(session)),
            Err(error @ (ClientError::Interrupted { .. } | ClientError::Unauthorized(_))) => Err(error),
            Err(_) => {
                self.memory.mark_legacy_tool(tool, false);
                Ok(None)
            }
        }
    }

    /// Whether the server still speaks the remembered revision.
    pub(in crate::client) async fn confirm(&self, session: &Conversation, stop: &CancellationToken) -> bool {
        let patience = Patience::at_most(&self.clock, CONFIRM);
        let answer = session.wire.request(question(&self.manner()), patience, None, stop).await;
        matches!(answer.map(|frame| discover::read(&frame)), Ok(Discovered::Modern(_)))
    }

    /// Forgets the server's revision.
    pub(in crate::client) fn forget(&self) {
        self.memory.forget();
    }

    /// The handshake again, in the same revision, after the server has ended the session.
    ///
    /// # Errors
    /// As for [`initialize`]; [`ClientError::Version`] if the server now wants another revision.
    pub(in crate::client) async fn renew(
        &self,
        session: &Conversation,
        stop: &CancellationToken,
    ) -> Result<(), ClientError> {
        let before = session.info.revision;
        let info = initialize(&session.wire, &self.manner(), before, self.patience(), stop).await?;
        if info.revision == before { Ok(()) } else { Err(only(before, info.revision.as_str())) }
    }

    fn connect(&self) -> Result<Wire, ClientError> {
        let transport = (self.connector)(&self.config).map_err(ClientError::Connect)?;
        let setup = DriverSetup {
            server: self.options.server.clone(),
            resolver: self.options.resolver.clone(),
            modes: self.modes(),
            roots: self.options.roots.clone(),
            notices: Arc::clone(&self.options.notices),
            clock: self.clock.clone(),
            url_wait: self.options.times.url_wait,
            grace: self.options.times.shutdown_grace,
            memory: self.memory.clone(),
            asking: self.options.credentials.as_ref().map(|credentials| credentials.asking()),
            // On HTTP, a question usually arrives on the stream of its call.
            floor: Arc::new(Floor::new(!self.is_http() || self.is_two_endpoints())),
            over: CancellationToken::new(),
            ended: OnceLock::new(),
            tasks: Mutex::default(),
            tool_changes: AtomicU64::default(),
        };
        if matches!(&self.config.endpoint, Endpoint::Http(http) if http.insecure && http.url.scheme() == "https") {
            setup.warn(
                "its certificate is not checked (insecure), so others on the network can read and change everything",
            );
        }
        Ok(Wire::start(transport, setup, Arc::clone(&self.ids)))
    }

    fn session(&self, wire: Wire, info: ServerInfo) -> Conversation {
        wire.agree(info.revision);
        Conversation::new(wire, info, self.manner(), true)
    }

    /// Whether the server is configured to speak HTTP+SSE, which no modern revision does.
    fn is_two_endpoints(&self) -> bool {
        matches!(&self.config.endpoint, Endpoint::Http(http) if http.kind == HttpKind::Sse)
    }

    async fn open_as(
        &self,
        revision: Revision,
        patience: Patience,
        stop: &CancellationToken,
    ) -> Result<Conversation, ClientError> {
        let wire = self.connect()?;
        let opened = match revision.era() {
            Era::Modern => self.ask_modern(&wire, revision, patience, stop).await,
            Era::Legacy => initialize(&wire, &self.manner(), revision, patience, stop).await.and_then(|info| {
                if info.revision == revision { Ok(info) } else { Err(only(revision, info.revision.as_str())) }
            }),
        };
        self.settle(wire, opened).await
    }

    /// What a server says about itself if the configuration says that it is modern. If it says nothing, the
    /// configuration is believed.
    async fn ask_modern(
        &self,
        wire: &Wire,
        revision: Revision,
        patience: Patience,
        stop: &CancellationToken,
    ) -> Result<ServerInfo, ClientError> {
        match wire.request(question(&self.manner()), patience, None, stop).await {
            Ok(frame) => match (discover::read(&frame), refusal(METHOD, &frame)) {
                (Discovered::Modern(info), _) => Ok(info),
                (_, Some(error @ ClientError::Version { .. })) | (Discovered::Failed(error), _) => Err(error),
                (Discovered::Legacy, _) => Ok(ServerInfo::new(revision)),
            },
            Err(Failure::Transport(
                error @ (TransportError::Http { status: 400 | 402 | 404..=499, .. }
                | TransportError::Http { status: 403, challenge: None, .. }
                | TransportError::NoAnswer(_)),
            )) if !error.is_passing() => Ok(ServerInfo::new(revision)),
            Err(failure) => Err(failure.into_error(METHOD, false)),
        }
    }

    async fn open_legacy(&self, patience: Patience, stop: &CancellationToken) -> Result<Conversation, ClientError> {
        let wire = self.connect()?;
        let opened = initialize(&wire, &self.manner(), Revision::NEWEST_LEGACY, patience, stop).await;
        self.settle(wire, opened).await
    }

    async fn open_remembered_legacy(
        &self,
        patience: Patience,
        stop: &CancellationToken,
    ) -> Result<Conversation, ClientError> {
        match self.open_legacy(patience, stop).await {
            Ok(session) => Ok(session),
            Err(error @ (ClientError::Interrupted { .. } | ClientError::Unauthorized(_))) => Err(error),
            Err(ClientError::Connect(error)) if error.is_passing() => Err(ClientError::Connect(error)),
            Err(error @ ClientError::TimedOut { .. }) => {
                self.memory.forget();
                Err(error)
            }
            Err(_) => {
                self.memory.forget();
                self.find_out(patience, stop).await
            }
        }
    }

    async fn find_out(&self, patience: Patience, stop: &CancellationToken) -> Result<Conversation, ClientError> {
        let wire = self.connect()?;
        let silence = if self.is_http() { HTTP_SILENCE } else { STDIO_SILENCE };
        match probe(&wire, &self.manner(), silence, patience, stop).await {
            Ok(Probed::Known(known)) => {
                if let Some(next) = &known.next {
                    self.memory.keep(next);
                }
                self.settle(wire, Ok(known.info)).await
            }
            // It exits when probed: start it again without the probe.
            Ok(Probed::Gone(_)) if !self.is_http() => {
                wire.close().await;
                let session = self.open_legacy(self.patience(), stop).await?;
                self.memory.keep(&session.info);
                Ok(session)
            }
            Ok(Probed::Gone(closed)) => {
                self.settle(wire, Err(ClientError::Connect(TransportError::Closed(closed)))).await
            }
            // It lives on, but what was asked first has spoiled the connection.
            Err(error) if was_spoiled(&error, !self.is_http()) => {
                wire.close().await;
                let session = self.open_legacy(self.patience(), stop).await.map_err(|_| error)?;
                self.memory.keep(&session.info);
                Ok(session)
            }
            Err(error) => self.settle(wire, Err(error)).await,
        }
    }

    /// The session, or the end of a connection that cannot be used.
    async fn settle(&self, wire: Wire, opened: Result<ServerInfo, ClientError>) -> Result<Conversation, ClientError> {
        match opened {
            Ok(info) => Ok(self.session(wire, info)),
            Err(error) => {
                wire.close().await;
                Err(error)
            }
        }
    }
}

fn only(spoken: Revision, offered: &str) -> ClientError {
    ClientError::Version { offered: offered.to_owned(), spoken: format!("only {spoken}") }
}
