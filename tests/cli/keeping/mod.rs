//! Servers that outlive a command.

mod asides;
mod faults;
mod files;
mod folder;
mod use_of;
mod versions;
