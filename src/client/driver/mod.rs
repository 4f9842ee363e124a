//! The task that owns a connection: the transport, the requests in progress, and the open questions. Only this task
//! writes, so there is exactly one reply to a question, or none if it was withdrawn.

mod command;
mod event_loop;
mod inbound;
mod links;
mod notifications;
mod questions;
mod tasks;
mod whose;

pub(super) use command::{DriverCommand, DriverRequest, DriverSetup};
pub(super) use event_loop::spawn;
