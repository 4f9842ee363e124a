use std::{fs, io, path::Path};

use tempfile::NamedTempFile;

/// A new file that only its owner may read, in the folder of `path`, to be given that name once it is written whole.
///
/// # Errors
/// When no file can be written there, in words that name no file but `path`'s folder.
pub(super) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if fs::metadata(path).is_ok_and(|there| there.is_dir()) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    NamedTempFile::new_in(folder).map_err(|error| {
        let (kind, name) = (error.kind(), folder.display());
        let is_missing = kind == io::ErrorKind::NotFound && !folder.exists();
        let missing = || format!("there is no folder {name}");
        let refused = || format!("no file can be made in the folder {name}: {kind}");
        io::Error::new(kind, if is_missing { missing() } else { refused() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_said_in_words() {
        let reason = |path: &Path| beside(path).map(drop).map_err(|error| error.to_string());
        let root = tempfile::tempdir().expect("a folder");
        let missing = root.path().join("no");
        assert_eq!(reason(&missing.join("a.json")), Err(format!("there is no folder {}", missing.display())));
        assert_eq!(reason(root.path()), Err("it is a folder".to_owned()));
        assert_eq!(reason(&root.path().join("a.json")), Ok(()));
        assert_eq!(fs::read_dir(root.path()).expect("a folder").count(), 0, "nothing is left behind");
    }
}
