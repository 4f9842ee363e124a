//! Servers at web addresses, good and awkward ones.

mod server;
mod transport;
mod two_endpoints;
