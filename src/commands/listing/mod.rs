//! What commands have in common that list things, of one server or of all of them at once.

pub(crate) mod everywhere;
pub(crate) mod names;
pub(crate) mod one_or_all;
