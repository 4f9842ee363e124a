//! A call from its first request to its end: rounds of questions inside results, required links, tasks.

mod ask_round;
mod by_handshake;
mod legacy_task;
mod links;
mod model;
mod modern_task;
mod open_call;
mod outcome;
mod rounds;
mod waiting;

pub use model::{BeforeSending, CallEnd, CallReport, PendingCall, PendingInput, TaskSink};
pub(super) use open_call::OpenCall;
