//! The demo server, built on the server's half of elicitation: every way of asking, in both eras.
//!
//! [`Session`] answers the messages of one client and knows no transport; [`serve_stdio`] carries one over stdin and
//! stdout.

mod asker;
mod call;
mod forms;
mod modern;
mod page;
mod session;
mod stdio;
mod tools;

pub use session::{Outbox, Session};
pub use stdio::serve_stdio;
