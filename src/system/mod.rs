//! What the system knows about this process and its user.

#[cfg(unix)]
mod unix;

pub(crate) use unix::{
    can_open, host_name, is_process, kill_process, page_size, parent_process, standard_error, user_id,
};
