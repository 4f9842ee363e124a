//! Shared by commands that find or edit configuration files.

pub(crate) mod discovered;
pub(crate) mod target_file;
