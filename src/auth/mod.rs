//! Signing in to servers: OAuth 2.1 as the specification's authorization pages require (2025-03-26 to 2026-07-28).
//!
//! [`SignIn`] is the [`Credentials`](crate::transport::Credentials) of one server: it adds a token to requests, renews
//! it, and asks a person to sign in. `discovery` finds out where to sign in, `plan` combines that with the
//! configuration, `client` is our identity; `exchange` asks an organization's identity provider who the person is;
//! `consent` asks the person, who signs in by `code` or on another `device`; `token` uses the token endpoint, `store`
//! keeps the result. [`ProgramCredentials`] runs another program that prints a token. Nothing in here prints; errors
//! contain no secrets.

mod callback;
mod client;
mod code;
mod consent;
mod credentials;
mod device;
mod discovery;
mod error;
mod exchange;
mod jwt;
mod keyring;
mod known;
mod plan;
mod revoke;
mod store;
mod token;
mod token_program;

pub use credentials::SignIn;
pub use error::AuthError;
pub use revoke::{SignedOut, sign_out};
pub use store::{Store, StoreError, StoredSignIn};
pub use token_program::ProgramCredentials;

pub use crate::client::SignInOptions;
