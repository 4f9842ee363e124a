//! Clients against a server that the test plays: no process, no network, and a clock that is moved by hand.

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
