//! A tool's arguments from the words of a command line, with types from its `inputSchema`. Nothing here does I/O: the
//! caller passes a function that reads files and stdin.

mod admits;
mod convert;
mod error;
mod options;
mod parse;
mod place;
mod plain;
mod put;
#[cfg(test)]
mod tests;
mod word;

pub use error::ArgumentError;
pub use options::{ToolWord, spell_out};
pub use parse::{Arguments, parse};
pub(crate) use plain::fits_plainly;
pub use word::Source;
