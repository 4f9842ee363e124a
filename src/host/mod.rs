//! A host: the configuration, and one client for each connected server.

mod error;
mod options;
mod registry;
mod source;
mod status;

pub use error::HostError;
pub use options::HostOptions;
pub use registry::Host;
pub use source::ConfigSource;
pub use status::{ServerState, Status};
