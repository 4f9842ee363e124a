//! Signing in to servers: OAuth 2.1 as the specification's authorization pages want it (2025-03-26 to 2026-07-28).
//!
//! [`SignIn`] is the [`Credentials`](crate::transport::Credentials) of one server: it puts a token on requests, renews it,
//! and asks a person to sign in. `discovery` finds out who may sign in where, `client` is who we say we are, `code` and
//! `device` are the two ways of asking a person, `token` talks to the token endpoint, `store` keeps what came of it.
//! [`ProgramCredentials`] has another program print a token. Nothing in here prints; nothing secret is in an error.

mod callback;
mod client;
mod code;
mod credentials;
mod device;
mod discovery;
mod error;
mod jwt;
mod known;
mod program;
mod revoke;
mod store;
mod token;

pub use credentials::{SignIn, SignInOptions};
pub use error::AuthError;
pub use program::ProgramCredentials;
pub use revoke::{SignedOut, sign_out};
pub use store::{Known, Store, StoreError};
