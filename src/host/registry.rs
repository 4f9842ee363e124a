use std::{collections::HashMap, fmt, sync::Arc};

use futures_util::future::join_all;
use tokio::sync::Mutex;

use super::{ConfigSource, HostError, HostOptions, ServerState, Status};
use crate::{
    client::{Client, ClientError},
    config::{Config, ConfigError},
    elicitation::{Resolver, ServerName, WaitFor},
    text::with_causes,
};

/// The configuration, and one client for each connected server.
pub struct Host {
    config: Config,
    options: HostOptions,
    slots: HashMap<ServerName, ServerSlot>,
}

/// A server's client. The outer lock is held while connecting, so that nobody connects twice; the inner one is never
/// held for long.
#[derive(Default)]
struct ServerSlot {
    connecting: Mutex<()>,
    state: std::sync::Mutex<SlotState>,
}

#[derive(Clone, Default)]
enum SlotState {
    #[default]
    Idle,
    Connected(Arc<Client>),
    Failed(String),
}

impl ServerSlot {
    fn get(&self) -> SlotState {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    fn set(&self, connection: SlotState) -> SlotState {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        std::mem::replace(&mut *state, connection)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("statuses", &self.statuses()).finish_non_exhaustive()
    }
}

impl Host {
    /// A host for the servers in `config`. Nothing is started yet.
    pub fn new(config: Config, options: HostOptions) -> Self {
        let slots = config.servers.iter().map(|entry| (entry.name.clone(), ServerSlot::default())).collect();
        Self { config, options, slots }
    }

    /// A host for the servers of a configuration file (a path), or of JSON with the same content. `wait_for` answers
    /// their questions; without it, elicitation is not declared.
    ///
    /// # Errors
    /// If the configuration cannot be read.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use serde_json::json;
    /// use toolnexus::{elicitation::{make_answer, wait_for}, host::{Host, ServerState}};
    /// let ada = wait_for(|request| async { Ok(make_answer(request.id, true, Some(json!({"name": "Ada"})))) });
    /// let servers = json!({"mcpServers": {"forms": {"command": "no-such-program"}}});
    /// let host = Host::from_config(servers, Some(ada)).unwrap();
    /// assert_eq!(host.statuses()[0].state, ServerState::Idle);
    /// assert!(host.connect("forms").await.is_err());
    /// assert!(matches!(host.statuses()[0].state, ServerState::Failed(_)));
    /// host.disconnect_all().await;
    /// # })
    /// ```
    pub fn from_config(source: impl Into<ConfigSource>, wait_for: Option<WaitFor>) -> Result<Self, HostError> {
        Self::with_options(source, wait_for.map(HostOptions::answered_by).unwrap_or_default())
    }

    /// The same, with a [`Resolver`] that knows who asks.
    ///
    /// # Errors
    /// If the configuration cannot be read.
    pub fn with_resolver(source: impl Into<ConfigSource>, resolver: Arc<dyn Resolver>) -> Result<Self, HostError> {
        Self::with_options(source, HostOptions { resolver: Some(resolver), ..HostOptions::default() })
    }

    /// The same, with all options.
    ///
    /// # Errors
    /// If the configuration cannot be read.
    pub fn with_options(source: impl Into<ConfigSource>, options: HostOptions) -> Result<Self, HostError> {
        Ok(Self::new(source.into().read()?, options))
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The client of the server with this name, connected on first use.
    ///
    /// # Errors
    /// If there is no usable entry with that name, or the connection fails.
    pub async fn connect(&self, server: &str) -> Result<Arc<Client>, HostError> {
        let name = ServerName::from(server);
        let config = self.config.server(server)?;
        // Every entry of the configuration has a slot, and this never changes.
        let Some(slot) = self.slots.get(&name) else { return Err(ConfigError::Disabled(server.to_owned()).into()) };
        let _connecting = slot.connecting.lock().await;
        if let SlotState::Connected(client) = slot.get()
            && !client.is_over()
        {
            return Ok(client);
        }
        let options = self.options.for_server(&name, config);
        let options = options
            .map_err(|source| HostError::Client { server: name.clone(), source: ClientError::Connect(source) })?;
        let stop = &self.options.stop;
        let attached = match &self.options.attach {
            Some(attach) => attach.attach(config, &options, stop).await,
            None => None,
        };
        let connected = match attached {
            Some(attached) => attached,
            None => Client::connect(config.clone(), options, stop).await,
        };
        match connected {
            Ok(client) => {
                let client = Arc::new(client);
                slot.set(SlotState::Connected(Arc::clone(&client)));
                Ok(client)
            }
            Err(source) => {
                slot.set(SlotState::Failed(with_causes(&source)));
                Err(HostError::Client { server: name, source })
            }
        }
    }

    /// Connects to all enabled servers at the same time: each with its client, or why it has none.
    pub async fn connect_all(&self) -> Vec<(ServerName, Result<Arc<Client>, HostError>)> {
        let enabled = self.config.servers.iter().filter(|entry| entry.enabled);
        join_all(enabled.map(async |entry| (entry.name.clone(), self.connect(entry.name.as_str()).await))).await
    }

    /// The status of every configured server, in the configuration's order.
    pub fn statuses(&self) -> Vec<Status> {
        let state = |entry: &crate::config::ServerEntry| match (
            &entry.server,
            self.slots.get(&entry.name).map(ServerSlot::get),
        ) {
            _ if !entry.enabled => ServerState::Disabled,
            (Err(error), _) => ServerState::Invalid(error.to_string()),
            (_, Some(SlotState::Connected(client))) => {
                client.why_it_ended().map_or_else(|| ServerState::Connected(client.info()), ServerState::Failed)
            }
            (_, Some(SlotState::Failed(reason))) => ServerState::Failed(reason),
            (_, Some(SlotState::Idle) | None) => ServerState::Idle,
        };
        self.config.servers.iter().map(|entry| Status { server: entry.name.clone(), state: state(entry) }).collect()
    }

    /// Ends all connections at the same time, each with its grace period.
    pub async fn disconnect_all(&self) {
        let clients = self.slots.values().filter_map(|slot| match slot.set(SlotState::Idle) {
            SlotState::Connected(client) => Some(client),
            SlotState::Idle | SlotState::Failed(_) => None,
        });
        join_all(clients.map(|client| async move { client.close().await })).await;
    }
}
