//! Text as data: made safe, measured, wrapped and cut. Knows nothing of terminals, and prints nothing.

mod causes;
mod cut;
mod sanitize;
mod width;

pub(crate) use causes::{with_causes, without_numbers};
pub(crate) use cut::{cut, safe_name, start_of};
pub(crate) use sanitize::{safe_line, safe_piped, safe_text};
pub(crate) use {
    sanitize::is_harmful,
    width::{chop, fit, width, wrap},
};
