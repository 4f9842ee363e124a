//! Nothing that a server, a file or a signal does costs more than it may.

mod files;
mod listings;
mod outputs;
mod schemas;
