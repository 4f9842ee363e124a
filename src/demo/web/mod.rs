//! The demo server over Streamable HTTP, in both eras, on loopback.

mod checks;
mod reply;
mod server;
mod sessions;

pub use server::{DemoConversation, serve_http};
