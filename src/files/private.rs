use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::{give_like, is_own, is_read_only};

/// A new file that only its owner may read. It replaces what is at its path once it is completely written.
pub(crate) struct PrivateFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl PrivateFile {
    /// A file for `path`.
    ///
    /// # Errors
    /// If no file can be written there. The message names no file, only `path`'s folder.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let path = target(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = NamedTempFile::new_in(folder).map_err(|error| {
            let (kind, name) = (error.kind(), folder.display());
            let is_missing = kind == io::ErrorKind::NotFound && !folder.exists();
            let missing = || format!("there is no folder {name}");
            let refused = || format!("no file can be created in the folder {name}: {kind}");
            io::Error::new(kind, if is_missing { missing() } else { refused() })
        })?;
        Ok(Self { file, path })
    }

    /// A file for `path` with the same owner, group and permissions as the existing one.
    ///
    /// # Errors
    /// As for [`PrivateFile::new`]; or if the existing file is read-only, or belongs to another user and ownership
    /// cannot be kept.
    pub(crate) fn like_before(path: &Path) -> io::Result<Self> {
        let new = Self::new(path)?;
        let Ok(before) = fs::metadata(&new.path) else { return Ok(new) };
        if is_read_only(&before) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        give_like(new.file.as_file(), &before)?;
        new.file.as_file().set_permissions(before.permissions())?;
        Ok(new)
    }

    /// Moves what was written into place, and returns the file for further writing.
    ///
    /// # Errors
    /// If something that must not be replaced has appeared there in the meantime, or if the system refuses.
    pub(crate) fn put(self) -> io::Result<File> {
        target(&self.path)?;
        self.file.persist(&self.path).map_err(|error| error.error)
    }

    /// Flushes what was written to the disk, and moves it into place.
    ///
    /// # Errors
    /// As for [`PrivateFile::put`].
    pub(crate) fn save(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.put().map(drop)
    }
}

impl io::Write for PrivateFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Writes to the inner file, because errors of the outer one would name the temporary path.
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// The file that is replaced when `path` is written: itself, or the user's own regular file that a link points to.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if what is there must not be replaced: a folder, a device, a pipe, a link to nothing
/// or to another user's file.
fn target(path: &Path) -> io::Result<PathBuf> {
    let refused = |reason: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, reason.to_owned()));
    let Ok(there) = fs::symlink_metadata(path) else { return Ok(path.to_owned()) };
    if there.is_file() {
        return Ok(path.to_owned());
    }
    if !there.is_symlink() {
        return refused(if there.is_dir() { "it is a folder" } else { "it is not a regular file" });
    }
    let Ok(followed) = fs::canonicalize(path) else { return refused("it is a broken link") };
    let there = fs::metadata(&followed)?;
    match () {
        () if there.is_dir() => refused("it is a folder"),
        () if !there.is_file() => refused("it is a link to something that is not a regular file"),
        () if !is_own(&there) => refused("it is a link to a file of another user"),
        () => Ok(followed),
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn what_cannot_be_written_is_said_in_words() {
        let reason = |path: &Path| PrivateFile::new(path).map(drop).map_err(|error| error.to_string());
        let root = tempfile::tempdir().expect("a folder");
        let missing = root.path().join("no");
        assert_eq!(reason(&missing.join("a.json")), Err(format!("there is no folder {}", missing.display())));
        assert_eq!(reason(root.path()), Err("it is a folder".to_owned()));
        assert_eq!(reason(&root.path().join("a.json")), Ok(()));
        assert_eq!(fs::read_dir(root.path()).expect("a folder").count(), 0, "nothing is left behind");
    }

    #[test]
    fn links_are_followed_to_the_users_own_files() {
        let root = tempfile::tempdir().expect("a folder");
        let (file, link, lost) = (root.path().join("file"), root.path().join("link"), root.path().join("lost"));
        fs::write(&file, "old").expect("written");
        symlink(&file, &link).expect("a link");
        symlink(root.path().join("no"), &lost).expect("a link");
        let mut private = PrivateFile::new(&link).expect("a file");
        private.write_all(b"new").expect("written");
        private.save().expect("saved");
        assert_eq!(fs::read_to_string(&file).expect("read"), "new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(PrivateFile::new(&lost).map(drop).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
        // A file that appeared in the meantime is not replaced.
        let late = root.path().join("late");
        let private = PrivateFile::new(&late).expect("a file");
        fs::create_dir(&late).expect("a folder");
        assert!(private.save().is_err() && late.is_dir());
    }
}
