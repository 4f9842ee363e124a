//! Files: read up to a bound, and written so that nothing but a regular file of one's own is ever replaced.

mod bounded;
mod private;

pub(crate) use bounded::{read, read_all, read_text};
pub(crate) use private::PrivateFile;
