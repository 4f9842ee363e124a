//! The files in which other MCP clients keep their servers: where they are, and how they translate to our format. They
//! are read, and never written.

mod client;
mod dialect;
mod known_files;
mod servers_in;
mod suspects;
mod toml;
mod translate;
mod variables;
mod yaml;

pub use client::{OtherClient, Reach};
pub use known_files::{ForeignFile, known_files, read_foreign};
pub use servers_in::{ForeignServer, Left};
pub use suspects::suspects;
