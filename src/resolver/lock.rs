use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::files::is_at;

/// The lock file next to a file, because the file itself is replaced when it is written.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Holds the lock while it is open.
    _file: fs::File,
}

impl Lock {
    /// The lock for `path`, or `None` if somebody else has it.
    pub(super) fn take(path: &Path) -> io::Result<Option<Self>> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let path = path.with_file_name(name);
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => Ok(Some(Self { path, _file: file })),
            // The previous holder may just have removed it, and another one may exist in its place.
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
