use crate::{client::ClientError, config::ConfigError, elicitation::ServerName};

/// Why a host could not connect to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The configuration, or the server's entry in it, cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The server could not be connected to.
    #[error("{server} cannot be used")]
    Client {
        /// The server.
        server: ServerName,
        /// What happened.
        source: ClientError,
    },
}
