//! Streamable HTTP (2025-03-26 to 2026-07-28) and HTTP+SSE (2024-11-05) as one [`Transport`](super::Transport).
//!
//! Each of our messages is a separate POST in a separate task; all responses go into one ordered channel. `fetch` does
//! HTTP, `answer` reads one response, `exchange` sends one message, `listen` holds and resumes streams, `cookies` keeps
//! the cookies of load balancers and gateways, `two_endpoints` is the transport of 2024-11-05.

mod answer;
mod connection;
mod cookies;
mod exchange;
mod fetch;
mod headers;
mod listen;
mod proxy;
mod redirect;
mod tls;
mod two_endpoints;
mod web;

pub use connection::{connect, connect_with};
pub(crate) use proxy::words_of as proxy_of;
pub use web::{Web, WebDocument};
