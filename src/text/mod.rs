//! Text as data: made safe, measured, wrapped and shortened. Knows nothing about terminals, and prints nothing.

mod causes;
mod cut;
mod opaque;
mod sanitize;
mod width;

pub use causes::with_causes;
pub(crate) use causes::without_numbers;
pub(crate) use cut::{ADDRESS, NAME, cut, safe_address, safe_name, start_of};
pub(crate) use opaque::opaque;
pub(crate) use sanitize::{safe_line, safe_piped, safe_text};
pub(crate) use {
    sanitize::is_harmful,
    width::{chop, fit, width, wrap},
};
