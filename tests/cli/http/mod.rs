//! Servers at web addresses, good and awkward ones.

mod demo;
mod server;
mod transport;
mod two_endpoints;
