//! Servers that outlive a command.

mod asides;
mod faults;
mod files;
mod folder;
mod library;
mod signing_in;
mod use_of;
mod versions;
