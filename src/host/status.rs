use std::{fmt, sync::Arc};

use crate::{client::ServerInfo, elicitation::ServerName};

/// The status of one configured server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// Its name.
    pub server: ServerName,
    /// Its state.
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
    /// Not connected yet, or no longer.
    Idle,
    /// Connected.
    Connected(Arc<ServerInfo>),
    /// The last attempt to connect failed, or the connection has ended, and why.
    Failed(String),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.server, self.state)
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("disabled"),
            Self::Idle => f.write_str("not connected"),
            Self::Connected(info) => write!(f, "connected, speaks {}", info.revision),
            Self::Invalid(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}
