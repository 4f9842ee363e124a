//! Negotiation: the probe of 2026-07-28 (*Versioning*, *stdio*, *Streamable HTTP*), the handshake of earlier revisions,
//! and what is remembered between runs.

mod discover;
mod legacy;
mod memory;
mod open;
mod probe;
mod strict;

pub(super) use legacy::initialize;
pub(super) use memory::Memory;
#[cfg(test)]
pub(super) use open::Connector;
pub(super) use open::Opener;
