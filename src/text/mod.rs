//! Text as data: where it is cut. Knows nothing of terminals, and prints nothing.

mod cut;

pub(crate) use cut::start_of;
