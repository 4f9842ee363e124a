//! Shared by commands that list things, of one server or of all.

pub(crate) mod choices;
pub(crate) mod everywhere;
pub(crate) mod names;
pub(crate) mod one_or_all;
