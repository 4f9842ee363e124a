use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{client::OAuthClient, keyring};
use crate::{
    config::TokenStore,
    files::{make_private_folders, open_private, open_to_others},
};

/// The file's version. A newer file is left alone.
const VERSION: u32 = 1;
/// How large the file may be, in bytes.
const LARGEST: u64 = 16 << 20;

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}

/// The stored sign-ins: `sign-ins.json` in a folder, readable only by its owner, and next to it a lock file that is
/// locked for changes.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    place: TokenStore,
}

/// One sign-in.
#[derive(Clone, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSignIn {
    /// The server's address: tokens are sent only there.
    pub url: String,
    /// The resource that they were issued for.
    pub resource: String,
    /// The authorization server that issued them.
    pub issuer: String,
    /// The granted scopes.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The requested scopes.
    #[serde(default)]
    pub requested: Vec<String>,
    /// When the token expires, in seconds since 1970, if known.
    #[serde(default)]
    pub expires_at: Option<u64>,
    /// When to renew it, in seconds since 1970.
    #[serde(default)]
    pub(super) renew_at: Option<u64>,
    pub(super) token_endpoint: String,
    #[serde(default)]
    pub(super) revocation_endpoint: Option<String>,
    pub(super) client: OAuthClient,
    #[serde(default)]
    pub(super) access_token: Option<String>,
    #[serde(default)]
    pub(super) refresh_token: Option<String>,
}

impl StoredSignIn {
    /// Whether an expired token can be renewed without a person.
    pub fn can_renew(&self) -> bool {
        self.refresh_token.is_some()
    }
}

impl fmt::Debug for StoredSignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} at {})", self.url, self.issuer)
    }
}

/// A client that was registered with an authorization server.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct Registered {
    pub(super) issuer: String,
    pub(super) redirect: String,
    pub(super) client: OAuthClient,
}

#[derive(Default, Deserialize, Serialize)]
pub(super) struct Book {
    version: u32,
    #[serde(default)]
    pub(super) servers: Vec<StoredSignIn>,
    #[serde(default)]
    pub(super) clients: Vec<Registered>,
}

/// Why the stored sign-ins cannot be used, as a clause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused.
    #[error("the sign-ins in {} cannot be {what}", path.display())]
    Io {
        /// `read` or `written`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Others can read it, so it may no longer be secret.
    #[error("others can read the sign-ins in {}: run `chmod 600` on it, or, if somebody may have read it, remove it \
             and sign in again", .0.display())]
    Open(PathBuf),
    /// It is not our file.
    #[error("{} does not hold sign-ins: remove it, and sign in again", .0.display())]
    Broken(PathBuf),
    /// The system's keyring refused.
    #[error("the sign-ins in the system's keyring cannot be {what}: {reason}")]
    Keyring {
        /// `read` or `written`.
        what: &'static str,
        /// Its error.
        reason: String,
    },
    /// It is in the keyring, but not ours.
    #[error("the entry `toolnexus` in the system's keyring does not hold sign-ins: remove it, and sign in again")]
    BrokenEntry,
    /// A newer program wrote it.
    #[error("{0} was written by a newer toolnexus")]
    Newer(String),
}

/// Exclusive access to the stored sign-ins.
pub(super) struct Locked {
    store: Store,
    _lock: File,
}

impl Store {
    /// The sign-ins stored in `folder`, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), place: TokenStore::File }
    }

    /// The same folder, with the sign-ins stored in this place; the lock is in the folder in any case.
    #[must_use]
    pub fn at(mut self, place: TokenStore) -> Self {
        self.place = place;
        self
    }

    /// Every place in which something may be stored. The keyring is asked only if something was put into it.
    pub fn everywhere(folder: impl Into<PathBuf>) -> Vec<Self> {
        let file = Self::new(folder);
        let keyring = file.clone().at(TokenStore::Keyring);
        let is_used = keyring.marker().exists();
        [file].into_iter().chain(is_used.then_some(keyring)).collect()
    }

    /// An empty file that says that the keyring was used.
    fn marker(&self) -> PathBuf {
        self.folder.join("sign-ins.keyring")
    }

    fn path(&self) -> PathBuf {
        self.folder.join("sign-ins.json")
    }

    /// Every sign-in.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn all(&self) -> Result<Vec<StoredSignIn>, StoreError> {
        Ok(self.book()?.servers)
    }

    /// The sign-in to the server at `url`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn find(&self, url: &str) -> Result<Option<StoredSignIn>, StoreError> {
        Ok(self.all()?.into_iter().find(|known| known.url == url))
    }

    fn book(&self) -> Result<Book, StoreError> {
        match self.place {
            TokenStore::File => read(&self.path()),
            TokenStore::Keyring => match keyring::read() {
                Ok(Some(text)) => parse(&text).map_err(|is_newer| {
                    if is_newer {
                        StoreError::Newer("the entry in the system's keyring".to_owned())
                    } else {
                        StoreError::BrokenEntry
                    }
                }),
                Ok(None) => Ok(Book::default()),
                Err(reason) => Err(StoreError::Keyring { what: "read", reason }),
            },
        }
    }

    /// Waits for exclusive access.
    pub(super) async fn lock(&self) -> Result<Locked, StoreError> {
        let (folder, store) = (self.folder.clone(), self.clone());
        let locked = tokio::task::spawn_blocking(move || {
            make_private_folders(&folder)?;
            let lock = folder.join("sign-ins.lock");
            let lock = open_private(&lock, OpenOptions::new().write(true).create(true).truncate(false))?;
            lock.lock()?;
            Ok(lock)
        });
        let lock = locked.await.unwrap_or_else(|_| Err(io::Error::other("waiting for the lock was interrupted")));
        match lock {
            Ok(lock) => Ok(Locked { store, _lock: lock }),
            Err(source) => Err(StoreError::Io { what: "written", path: self.path(), source }),
        }
    }
}

impl Locked {
    pub(super) fn read(&self) -> Result<Book, StoreError> {
        self.store.book()
    }

    pub(super) fn write(&self, book: &mut Book) -> Result<(), StoreError> {
        book.version = VERSION;
        let path = self.store.path();
        let failed = |source| StoreError::Io { what: "written", path: path.clone(), source };
        let folder = &self.store.folder;
        let text = serde_json::to_string_pretty(&book).map_err(|error| failed(error.into()))?;
        if self.store.place == TokenStore::Keyring {
            fs::write(self.store.marker(), "").map_err(failed)?;
            return keyring::write(&text).map_err(|reason| StoreError::Keyring { what: "written", reason });
        }
        // Created readable only by its owner.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Stores a client, replacing an earlier one of that authorization server.
    pub(super) fn register(&self, registered: Registered) -> Result<(), StoreError> {
        let mut book = self.read()?;
        book.clients.retain(|other| other.issuer != registered.issuer);
        book.clients.push(registered);
        self.write(&mut book)
    }

    /// Stores the sign-in to one server, new or changed.
    pub(super) fn put(&self, known: StoredSignIn) -> Result<(), StoreError> {
        let mut book = self.read()?;
        book.servers.retain(|other| other.url != known.url);
        book.servers.push(known);
        self.write(&mut book)
    }
}

/// What every version of the file contains.
#[derive(Deserialize)]
struct StoreHead {
    version: u32,
}

fn read(path: &Path) -> Result<Book, StoreError> {
    let failed = |source| StoreError::Io { what: "read", path: path.to_owned(), source };
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Book::default()),
        Err(error) => return Err(failed(error)),
    };
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err(StoreError::Broken(path.to_owned()));
    }
    if open_to_others(&metadata).is_some() {
        return Err(StoreError::Open(path.to_owned()));
    }
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text)).map_err(failed)?;
    parse(&text).map_err(|is_newer| {
        if is_newer { StoreError::Newer(path.display().to_string()) } else { StoreError::Broken(path.to_owned()) }
    })
}

/// Parses the stored text; the error is whether a newer program wrote it.
fn parse(text: &str) -> Result<Book, bool> {
    match serde_json::from_str::<StoreHead>(text) {
        Ok(head) if head.version > VERSION => Err(true),
        Ok(_) => serde_json::from_str(text).map_err(|_| false),
        Err(_) => Err(false),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    pub(in crate::auth) fn known(url: &str) -> StoredSignIn {
        StoredSignIn {
            url: url.to_owned(),
            resource: url.to_owned(),
            issuer: "https://as".to_owned(),
            scopes: vec!["a".to_owned()],
            requested: vec!["a".to_owned()],
            expires_at: None,
            renew_at: None,
            token_endpoint: "https://as/token".to_owned(),
            revocation_endpoint: None,
            client: OAuthClient::public("me"),
            access_token: Some("s3cret".to_owned()),
            refresh_token: None,
        }
    }

    #[tokio::test]
    async fn what_is_kept_is_private_and_comes_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().join("new"));
        assert!(store.all().expect("nothing").is_empty());
        let locked = store.lock().await.expect("locked");
        locked.put(known("https://a/")).expect("written");
        locked.put(known("https://b/")).expect("written");
        locked.put(known("https://a/")).expect("written");
        assert_eq!(store.all().expect("two").len(), 2);
        assert_eq!(store.find("https://b/").expect("read"), Some(known("https://b/")));
        let mode = |path: PathBuf| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(store.path()), mode(store.folder.clone())), (0o600, 0o700));
        assert!(!format!("{:?}", store.all()).contains("s3cret"));
    }

    #[test]
    fn what_others_can_read_or_wrote_otherwise_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        let write = |text: &str, mode: u32| {
            fs::write(store.path(), text).expect("written");
            fs::set_permissions(store.path(), fs::Permissions::from_mode(mode)).expect("set");
        };
        write(r#"{"version": 1}"#, 0o600);
        assert!(store.all().is_ok());
        write(r#"{"version": 1}"#, 0o644);
        assert!(matches!(store.all(), Err(StoreError::Open(_))));
        write(r#"{"version": 2, "servers": "x"}"#, 0o600);
        assert!(matches!(store.all(), Err(StoreError::Newer(_))));
        for text in [r#"{"version": 1, "servers": [{"#, "", "[]"] {
            write(text, 0o600);
            assert!(matches!(store.all(), Err(StoreError::Broken(_))), "{text}");
        }
        fs::remove_file(store.path()).expect("removed");
        std::os::unix::fs::symlink("elsewhere", store.path()).expect("linked");
        assert!(matches!(store.all(), Err(StoreError::Broken(_))));
    }
}
