use std::sync::Arc;

use crate::{client::ServerInfo, elicitation::ServerName};

/// How one configured server stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// Its name.
    pub server: ServerName,
    /// How it stands.
    pub state: ServerState,
}

/// See [`Status`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerState {
    /// Switched off in the configuration.
    Disabled,
    /// Its entry cannot be used, and why.
    Invalid(String),
    /// Not connected yet, or not any more.
    Idle,
    /// Connected.
    Connected(Arc<ServerInfo>),
    /// The last attempt to connect failed, or the connection has ended, and why.
    Failed(String),
}
