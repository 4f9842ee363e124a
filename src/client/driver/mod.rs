//! The task that owns a connection: the transport, the requests under way, and the questions that are open. It alone
//! writes, so that there is exactly one reply to a question, or none when it was withdrawn.

mod command;
mod event_loop;
mod inbound;
mod links;
mod notifications;
mod questions;
mod tasks;
mod whose;

pub(super) use command::{DriverCommand, DriverSetup, Request};
pub(super) use event_loop::spawn;
