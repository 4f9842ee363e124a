//! Reading files up to a limit, and writing them so that only the user's own regular files are ever replaced.

mod bounded;
mod place;
mod private;
#[cfg(unix)]
mod unix;

pub(crate) use bounded::{read, read_all, read_text};
pub(crate) use place::is_at;
pub(crate) use private::PrivateFile;
use unix::{give_like, is_read_only};
pub(crate) use unix::{
    identity, is_own, is_program, is_socket, make_private_folder, make_private_folders, open_private,
    open_private_itself, open_to_others,
};
