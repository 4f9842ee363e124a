//! The demo server, built on the server's half of elicitation: every way of asking, in both eras.
//!
//! [`DemoSession`] handles the messages of one client, independent of the transport; [`serve_stdio`] serves one client
//! over stdin and stdout, [`serve_http`] any number over Streamable HTTP.

mod asker;
mod demo_call;
mod demo_session;
mod forms;
mod modern;
#[cfg(not(feature = "http"))]
mod no_page;
mod offers;
#[cfg(feature = "http")]
mod page;
mod stdio;
mod ticks;
mod tools;
#[cfg(feature = "http")]
mod web;

#[cfg(not(feature = "http"))]
use no_page as page;

pub use demo_session::{DemoOutbox, DemoSession};
pub use stdio::serve_stdio;
#[cfg(feature = "http")]
pub use web::{DemoConversation, serve_http};
