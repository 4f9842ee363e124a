//! The end of a call: its result is printed or kept, or the reason why there is none.

pub(crate) mod ended;
pub(crate) mod kept_task;
pub(crate) mod shown;
