//! What is printed: results, notices, errors. Data to stdout, all else to stderr.

mod sanitize;

pub use sanitize::{cut, safe_line, safe_text};
