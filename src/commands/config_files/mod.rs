//! What commands have in common that look for configuration files, or edit one.

pub(crate) mod discovered;
pub(crate) mod target_file;
