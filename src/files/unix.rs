use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
    io,
    os::unix::fs::{
        DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
    },
    path::Path,
};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

use crate::system::user_id;

/// Whether the file belongs to this user.
pub(crate) fn is_own(file: &Metadata) -> bool {
    file.uid() == user_id()
}

/// The file's mode, if others may do anything with it.
pub(crate) fn open_to_others(file: &Metadata) -> Option<String> {
    (file.mode() & 0o077 != 0).then(|| format!("mode {:o}", file.mode() & 0o777))
}

/// What distinguishes a file from every other one.
pub(crate) fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Whether a file can be run as a program.
pub(crate) fn is_program(file: &Metadata) -> bool {
    file.is_file() && file.permissions().mode() & 0o111 != 0
}

/// Whether it is a socket.
pub(crate) fn is_socket(file: &Metadata) -> bool {
    file.file_type().is_socket()
}

/// Whether nobody may write to the file.
pub(crate) fn is_read_only(file: &Metadata) -> bool {
    file.permissions().mode() & 0o222 == 0
}

/// Creates a folder that only its owner may use, whatever the umask says, but not its parents.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Creates the missing folders of `path`, usable only by their owner.
pub(crate) fn make_private_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file, which only its owner may read if it is created.
pub(crate) fn open_private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.mode(0o600).open(path)
}

/// Like [`open_private`], but never through a link, and only a regular file.
pub(crate) fn open_private_itself(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.mode(0o600).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a file")) }
}

/// Gives `new` the owner and the group of `before`, as far as possible.
///
/// # Errors
/// If it still belongs to another user.
pub(crate) fn give_like(new: &File, before: &Metadata) -> io::Result<()> {
    let now = new.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        let given = fchown(new, Some(before.uid()), Some(before.gid()));
        if given.is_err() && now.uid() != before.uid() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
        }
    }
    Ok(())
}
