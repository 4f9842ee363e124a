use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use ring::{hmac, rand::SecureRandom as _};

use crate::{
    files::{is_at, is_own, is_socket, make_private_folder, open_private_itself, open_to_others},
    system::user_id,
    text::without_numbers,
};

/// The longest path of a socket that every system accepts, in bytes.
const LONGEST: usize = 100;
/// How many digits the name of a socket has.
pub(super) const DIGITS: usize = 24;

/// The folder of the sockets, which belongs only to this user.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// Why the folder cannot be used, as a complete clause.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct FolderRefused(String);

impl FolderRefused {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl Folder {
    /// The folder, if it already exists.
    ///
    /// # Errors
    /// If others can use it.
    pub fn find() -> Result<Option<Self>, FolderRefused> {
        let folder = Self(place());
        match fs::symlink_metadata(&folder.0) {
            Err(_) => Ok(None),
            Ok(_) => folder.checked().map(Some),
        }
    }

    /// The folder, created if it does not exist.
    ///
    /// # Errors
    /// If it cannot be created, or others can use it.
    pub fn make() -> Result<Self, FolderRefused> {
        let folder = Self(place());
        match make_private_folder(&folder.0) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(FolderRefused(format!("the folder {} cannot be created: {error}", folder.0.display())))
            }
            _ => folder.checked(),
        }
    }

    /// The folder at this path, as a keeper was told.
    pub(super) fn at(path: &Path) -> Result<Self, FolderRefused> {
        Self(path.to_owned()).checked()
    }

    fn checked(self) -> Result<Self, FolderRefused> {
        let path = self.0.display();
        let refused = |what: &str| Err(FolderRefused(format!("the folder {path} {what}")));
        let Ok(metadata) = fs::symlink_metadata(&self.0) else { return refused("is gone") };
        if metadata.is_symlink() {
            return refused("is a symbolic link");
        }
        if !metadata.is_dir() {
            return refused("is not a folder");
        }
        if !is_own(&metadata) {
            return refused("belongs to another user");
        }
        if let Some(mode) = open_to_others(&metadata) {
            return refused(&format!("is accessible to others ({mode})"));
        }
        if self.0.as_os_str().len() + DIGITS + 6 > LONGEST {
            return refused("has a path that is too long for a socket");
        }
        Ok(self)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The socket with this name.
    pub(super) fn socket(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.sock"))
    }

    /// The log of the server with this name.
    pub fn log(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.log"))
    }

    /// The file that is locked to start or end the keeper with this name.
    pub(super) fn lock(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.lock"))
    }

    /// The names of all sockets.
    pub(super) fn keys(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut keys: Vec<String> =
            names.filter_map(|name| Some(name.strip_suffix(".sock")?.to_owned())).take(1000).collect();
        keys.sort_unstable();
        keys
    }

    /// The name for a server with this identity: a keyed hash, so that the name reveals nothing. `None` if there is no
    /// key, unless `make` creates one.
    ///
    /// # Errors
    /// If the key cannot be read or created.
    pub(super) fn name(&self, identity: &[u8], make: bool) -> Result<Option<String>, FolderRefused> {
        let path = self.0.join("key");
        let failed =
            |error: io::Error| FolderRefused(without_numbers(&format!("{} cannot be used: {error}", path.display())));
        let mut key = Vec::new();
        match open_private_itself(&path, OpenOptions::new().read(true)) {
            Ok(file) => drop(file.take(64).read_to_end(&mut key).map_err(failed)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !make => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                key = vec![0; 32];
                let random = ring::rand::SystemRandom::new();
                random.fill(&mut key).map_err(|_| FolderRefused("random numbers are not available".to_owned()))?;
                // Writes to the inner file, because errors of the outer one would name the temporary path.
                let mut file = tempfile::NamedTempFile::new_in(&self.0).map_err(|error| failed(error.kind().into()))?;
                file.as_file_mut().write_all(&key).map_err(failed)?;
                if file.persist_noclobber(&path).is_err() {
                    // Another process was faster.
                    return self.name(identity, false);
                }
            }
            Err(error) => return Err(failed(error)),
        }
        if key.len() < 32 {
            return Err(FolderRefused(format!("{} is not a key", path.display())));
        }
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), identity);
        let digits: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(digits[..DIGITS].to_owned()))
    }

    /// The right to start or end the keeper with this name, while it is held; `None` if another process has it.
    ///
    /// # Errors
    /// If it cannot be locked.
    pub(super) fn try_lock(&self, key: &str) -> Result<Option<File>, FolderRefused> {
        let path = self.lock(key);
        let file = open_private_itself(&path, OpenOptions::new().read(true).write(true).create(true));
        let file = file.map_err(|error| FolderRefused(format!("{} cannot be locked: {error}", path.display())))?;
        match file.try_lock() {
            // The previous holder may have removed the file meanwhile; a lock on a removed file excludes nobody.
            Ok(()) => Ok(is_at(&file, &path).then_some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(FolderRefused(format!("{} cannot be locked: {error}", path.display())))
            }
        }
    }

    /// Checks that `socket` is our own socket.
    pub(super) fn check_socket(socket: &Path) -> Result<(), FolderRefused> {
        let refused = |what: &str| Err(FolderRefused(format!("{} {what}", socket.display())));
        match fs::symlink_metadata(socket) {
            Ok(metadata) if !is_socket(&metadata) => refused("is not a socket"),
            Ok(metadata) if !is_own(&metadata) => refused("belongs to another user"),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// The folder's path: in `XDG_RUNTIME_DIR`, or else named after the user's id in the folder for temporary files.
fn place() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    match runtime.filter(|path| path.is_dir()) {
        Some(runtime) => runtime.join("toolnexus"),
        None => std::env::temp_dir().join(format!("toolnexus-{}", user_id())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_a_folder_of_the_users_own_is_used() {
        let parent = tempfile::tempdir().expect("a folder");
        let (own, link, file) = (parent.path().join("own"), parent.path().join("link"), parent.path().join("file"));
        make_private_folder(&own).expect("made");
        std::os::unix::fs::symlink(&own, &link).expect("linked");
        fs::write(&file, "").expect("written");
        assert!(Folder::at(&own).is_ok());
        let refused = |path: &Path| Folder::at(path).expect_err("refused").to_string();
        assert!(refused(&link).ends_with("is a symbolic link"));
        assert!(refused(&file).ends_with("is not a folder"));
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).expect("set");
        assert!(refused(&own).ends_with("is accessible to others (mode 777)"));
        assert!(refused(Path::new("/")).ends_with("is accessible to others (mode 755)") || user_id() != 0);
    }

    #[test]
    fn names_are_the_same_for_the_same_server_and_tell_nothing_without_the_key() {
        let (one, two) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let (one, two) = (Folder(one.path().to_owned()), Folder(two.path().to_owned()));
        assert_eq!(one.name(b"a", false).expect("no key"), None);
        let name = one.name(b"a", true).expect("a key").expect("a name");
        assert_eq!(one.name(b"a", false).expect("a key").as_deref(), Some(&*name));
        assert_ne!(one.name(b"b", true).expect("a key").expect("a name"), name);
        assert_ne!(two.name(b"a", true).expect("a key").expect("a name"), name);
    }

    #[test]
    fn a_lock_is_held_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Folder(folder.path().to_owned());
        let held = folder.try_lock("a").expect("a lock");
        assert!(held.is_some() && folder.try_lock("a").expect("a lock").is_none());
        drop(held);
        let held = folder.try_lock("a").expect("a lock").expect("it is free");
        fs::remove_file(folder.lock("a")).expect("removed");
        let again = folder.try_lock("a").expect("a lock");
        assert!(!is_at(&held, &folder.lock("a")) && again.is_some_and(|again| is_at(&again, &folder.lock("a"))));
    }
}
