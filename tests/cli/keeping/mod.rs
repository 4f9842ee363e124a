//! Servers that outlive a command.

mod asides;
mod faults;
mod folder;
mod use_of;
