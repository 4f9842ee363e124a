//! How a command reaches a server: which one, over which connection, and who answers its questions.

pub(crate) mod command_host;
pub(crate) mod entered;
pub(crate) mod kept;
pub(crate) mod one_server;
#[cfg(feature = "http")]
pub(crate) mod over_http;
pub(crate) mod questions;
pub(crate) mod select;
pub(crate) mod waits;
#[cfg(not(feature = "http"))]
pub(crate) mod without_http;

#[cfg(not(feature = "http"))]
pub(crate) use without_http as over_http;
