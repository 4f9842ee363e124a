//! The `mcpServers` file: found, read, understood, and never written.

mod model;

pub use model::{Config, ConfigError, Entry, Place, ServerConfig};
