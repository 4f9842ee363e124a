use std::{
    io::ErrorKind,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::json;

use crate::commands::{
    context::Context,
    options::ServerArgs,
    server::questions::Questions,
    shell::connections::{Lent, ShellConnections, ShellListener, ShellWay},
    signals::Signals,
};
use crate::{
    client::{Client, ClientError, CredentialsFate, Notice, Times},
    config::{Config, Environment},
    elicitation::{Resolver, ServerName, Why},
    error::{Error, Unanswered},
    host::{Host, HostError, HostOptions},
    keeper::Attaching,
    output::{LogLevel, Printer},
    protocol::Era,
    transport::{Endpoint, Trace},
};

/// How many warnings about a configuration are printed.
const MOST_WARNINGS: usize = 20;

/// A host for one command, with the printer for its notices and the signals that end it.
pub(crate) struct CommandHost {
    /// The host.
    pub(crate) host: Arc<Host>,
    /// The signals.
    pub(in crate::commands) signals: Signals,
    /// The printer.
    pub(crate) printer: Arc<Printer>,
    heard: Arc<Mutex<HeardNotices>>,
    way: Arc<ShellWay>,
    /// The trace, and its file.
    trace: Option<(PathBuf, Trace)>,
    /// For a line of a shell: the host outlives this, and these are its changes to it.
    line: Option<ShellLineState>,
}

/// A line of a shell.
#[derive(Default)]
struct ShellLineState {
    /// The minimum log level, if the line sets one.
    level: Option<String>,
    _lent: Option<Lent>,
}

/// Sees the notices of servers before they are printed; returns whether that was all that had to be done.
pub(crate) type Ear = Arc<dyn Fn(&Notice) -> bool + Send + Sync>;

/// What a run remembers of its notices.
#[derive(Debug, Default)]
pub(crate) struct HeardNotices {
    /// The questions that could not be answered.
    pub(crate) unanswered: Vec<Unanswered>,
}

impl CommandHost {
    /// A host for `config`; `tool` is the only tool that will be called, if known. Must be called in a runtime.
    ///
    /// # Errors
    /// If signals cannot be handled.
    pub(crate) fn new(
        config: Config,
        args: &ServerArgs,
        questions: &Questions,
        tool: Option<&str>,
        context: &Context,
    ) -> anyhow::Result<Self> {
        let heard = (tool, Self::log_level(&context.printer));
        Self::with_ear(config, args, questions, heard, context, Arc::new(|_| false))
    }

    /// Like `new`, with an `Ear` for notices, and with the minimum level of the servers' logs.
    ///
    /// # Errors
    /// If signals cannot be handled, or the trace cannot be written.
    pub(crate) fn with_ear(
        config: Config,
        args: &ServerArgs,
        questions: &Questions,
        (tool, log_level): (Option<&str>, Option<String>),
        context: &Context,
        ear: Ear,
    ) -> anyhow::Result<Self> {
        let (printer, signals) = (&context.printer, context.signals()?);
        printer.hide(&config.mask);
        let resolver = questions.resolver.clone();
        let listener = ShellListener { resolver: resolver.clone(), printer: Arc::clone(printer), ear };
        if let Some(shared) = context.shared.as_ref().filter(|shared| shared.fits(&config, args, questions)) {
            let lent = Some(shared.way.lend(listener));
            let (host, heard, way) = (Arc::clone(&shared.host), Arc::clone(&shared.heard), Arc::clone(&shared.way));
            let line = Some(ShellLineState { level: log_level, _lent: lent });
            return Ok(Self { host, signals, printer: Arc::clone(printer), heard, way, trace: None, line });
        }
        let mut warnings = config.warnings.iter().chain(config.servers.iter().flat_map(|entry| &entry.warnings));
        for warning in warnings.by_ref().take(MOST_WARNINGS) {
            printer.warning(warning)?;
        }
        match warnings.count() {
            0 => {}
            more => {
                printer.warning(&format!(
                    "and {more} more warnings about the configuration; `toolnexus doctor` shows them all"
                ))?;
            }
        }
        let heard = Arc::new(Mutex::default());
        let way = Arc::new(ShellWay::new(listener));
        let way_of_questions = Arc::clone(&way) as Arc<dyn Resolver>;
        let mut times = Times::default();
        if let Some(wait) = questions.url_wait {
            times.url_wait = wait;
        }
        let trace = args.trace.as_deref().map(|path| {
            let failed = |error: std::io::Error| match error.kind() {
                ErrorKind::InvalidInput => {
                    Error::usage(format!("the trace {} cannot be written: {error}", path.display()))
                }
                _ => Error::Io(format!("the trace {} cannot be written: {error}", path.display())),
            };
            let trace = Trace::create(path).map_err(failed)?.masked(config.mask.clone());
            Ok::<_, Error>((path.to_owned(), trace))
        });
        let trace = trace.transpose()?;
        let options = HostOptions {
            resolver: resolver.map(|_| way_of_questions),
            sign_in: questions.sign_in.clone(),
            sign_ins: sign_ins_folder(),
            notices: Arc::clone(&way).sink(Arc::clone(&heard)),
            roots: args.roots.clone(),
            protocol: args.protocol,
            times,
            cache: Environment::current().cache_folder.map(|folder| folder.join(env!("CARGO_PKG_NAME"))),
            log_level,
            trace: trace.as_ref().map(|(_, trace)| trace.clone()),
            tool: tool.map(str::to_owned),
            attach: Some(Arc::new(Attaching {
                keep: args.keep(),
                mask: config.mask.clone(),
                sign_ins: sign_ins_folder(),
            })),
            stop: signals.stop.clone(),
        };
        let (host, printer) = (Arc::new(Host::new(config, options)), Arc::clone(printer));
        Ok(Self { host, signals, printer, heard, way, trace, line: None })
    }

    /// The minimum log level of servers, according to the options.
    pub(crate) fn log_level(printer: &Printer) -> Option<String> {
        (printer.log() != LogLevel::Warning).then(|| printer.log().name())
    }

    /// The client of `server`.
    ///
    /// # Errors
    /// If it cannot be connected to.
    pub(crate) async fn connect(&self, server: &str) -> Result<Arc<Client>, Error> {
        let _waiting = self.wait_for_start(server);
        let connected = tokio::select! {
            biased;
            connected = self.host.connect(server) => connected,
            () = self.signals.stop.cancelled(), if self.line.is_some() => {
                return Err(self.signals.error().unwrap_or(Error::Interrupted));
            }
        };
        let client = connected.map_err(|error| match error {
            HostError::Config(error) => error.into(),
            HostError::Client { server, source } => self.error(&server, source),
        })?;
        let level = self.line.as_ref().and_then(|line| line.level.as_ref());
        let info = client.info();
        if let Some(level) = level.filter(|_| info.era() == Era::Legacy && info.declares("logging")) {
            // A server that does not support log levels is used anyway.
            let params = json!({"level": level}).as_object().cloned();
            drop(client.request("logging/setLevel", params, &self.signals.stop).await);
        }
        Ok(client)
    }

    /// The same servers for one line of a shell, which can be interrupted separately.
    pub(crate) fn for_line(&self) -> Self {
        let (host, heard, printer) = (Arc::clone(&self.host), Arc::clone(&self.heard), Arc::clone(&self.printer));
        let (signals, way, line) = (self.signals.for_line(), Arc::clone(&self.way), Some(ShellLineState::default()));
        Self { host, signals, printer, heard, way, trace: None, line }
    }

    /// What the lines of a shell share.
    pub(crate) fn share(&self, questions: &Questions, timeout: Option<Duration>) -> ShellConnections {
        let (host, way, heard) = (Arc::clone(&self.host), Arc::clone(&self.way), Arc::clone(&self.heard));
        ShellConnections { host, way, heard, questions: questions.lent(), timeout }
    }

    /// The questions that could not be answered for these reasons, each once; for unknown questions, only the reasons.
    pub(crate) fn take_unanswered(&self, reasons: &[Why]) -> Vec<Unanswered> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let mut take = |why: &Why| match heard.unanswered.iter().position(|known| known.why == *why) {
            Some(place) => heard.unanswered.remove(place),
            None => Unanswered { question: None, why: why.clone() },
        };
        reasons.iter().map(&mut take).collect()
    }

    /// The first question that could not be answered, once.
    pub(crate) fn take_one_unanswered(&self) -> Option<Unanswered> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        (!heard.unanswered.is_empty()).then(|| heard.unanswered.remove(0))
    }

    /// A client's error as an [`Error`].
    pub(crate) fn error(&self, server: &ServerName, source: ClientError) -> Error {
        match source {
            // By a signal, or by a person who gave up waiting for a link.
            ClientError::Interrupted { .. } => self.signals.error().unwrap_or(Error::Interrupted),
            ClientError::Unauthorized(mut refused) => {
                refused.login = self.login_word(server);
                refused.fate = match (refused.fate, &refused.login) {
                    (_, Some(_)) => CredentialsFate::Wanted,
                    (CredentialsFate::Wanted, None) => CredentialsFate::Refused,
                    (fate, None) => fate,
                };
                Error::Client { server: server.clone(), error: Box::new(ClientError::Unauthorized(refused)) }
            }
            source => Error::Client { server: server.clone(), error: Box::new(source) },
        }
    }

    /// The argument for `login` for `server`, if signing in may help.
    fn login_word(&self, server: &ServerName) -> Option<String> {
        let config = self.host.config();
        let server_config = config.server(server.as_str()).ok()?;
        let Endpoint::Http(http) = &server_config.endpoint else { return None };
        if http.has_authorization() || server_config.auth.program.is_some() || server_config.auth.oauth.is_own_account {
            return None;
        }
        Some(if config.path.is_some() { server.to_string() } else { http.url.to_string() })
    }

    /// Whether there was a question that nobody could answer.
    pub(crate) fn has_unanswered(&self) -> bool {
        !self.heard.lock().unwrap_or_else(PoisonError::into_inner).unanswered.is_empty()
    }

    /// Ends the servers, and returns what was remembered of their notices.
    pub(crate) async fn close(self) -> HeardNotices {
        if self.line.is_none() {
            self.host.disconnect_all().await;
        }
        if let Some((path, fault)) = self.trace.as_ref().and_then(|(path, trace)| Some((path, trace.fault()?))) {
            // Without stderr there is nobody to tell.
            drop(self.printer.warning(&format!("the trace {} is incomplete: {fault}", path.display())));
        }
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The folder with the sign-ins.
pub(crate) fn sign_ins_folder() -> Option<std::path::PathBuf> {
    Environment::current().data_folder.map(|folder| folder.join(env!("CARGO_PKG_NAME")))
}
