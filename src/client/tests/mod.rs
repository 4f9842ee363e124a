//! Clients against a server that is played by the test: no process, no network, and time that is moved by hand.

mod fake;
mod listening;
mod negotiation;
mod orders;
mod questions;
mod required_links;
mod rounds;
mod several;
mod tasks;
mod time;
