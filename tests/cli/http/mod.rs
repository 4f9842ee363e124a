//! Servers at web addresses, good and awkward ones.

mod awkward;
mod demo;
mod foreign_keys;
mod gateway;
mod gateways;
mod handshake;
mod secure;
pub(crate) mod server;
mod streams;
mod transport;
mod two_endpoints;
mod ways;
mod ways_of_asking;
