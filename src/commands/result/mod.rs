//! How a call ends: its result shown, kept for later, or the reason why there is none.

pub(crate) mod ended;
pub(crate) mod kept_task;
pub(crate) mod shown;
