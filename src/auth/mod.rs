//! Signing in to servers: OAuth 2.1 as the specification's authorization pages want it (2025-03-26 to 2026-07-28).
//!
//! [`SignIn`] is the [`Credentials`](crate::transport::Credentials) of one server: it puts a token on requests, renews it,
//! and asks a person to sign in. `discovery` finds out who may sign in where, `plan` what that comes to, `client` is who we
//! say we are; `exchange` has an organization's identity provider say who the person is; `consent` asks the person, who signs in by `code` or on another `device`; `token` talks to the token endpoint,
//! `store` keeps what came of it.
//! [`ProgramCredentials`] has another program print a token. Nothing in here prints; nothing secret is in an error.

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
