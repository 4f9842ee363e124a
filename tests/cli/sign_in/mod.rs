//! Signing in to servers, for people, scripts and attackers.

mod callback;
mod ci;
mod device;
mod kept_file;
mod metadata;
mod on_a_page;
mod ordinary;
mod person;
mod programs;
mod secrecy;
mod steps;
mod token_endpoint;
mod world;

use person::{Link, query};
pub(crate) use world::World;
