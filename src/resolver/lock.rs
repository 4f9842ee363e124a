use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::files::is_at;

/// The lock beside a file: the file itself is replaced when it is written.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Holds the lock for as long as it is open.
    _file: fs::File,
}

impl Lock {
    /// The lock for `path`, or `None` while somebody else has it.
    pub(super) fn take(path: &Path) -> io::Result<Option<Self>> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let path = path.with_file_name(name);
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => Ok(Some(Self { path, _file: file })),
            // Whoever had it removed it just now, and another one may stand in its place.
            Ok(()) | Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
