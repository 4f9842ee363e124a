use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use crate::{
    client::{PendingCall, PendingInput},
    config::{Config, ServerConfig, Target},
    elicitation::Request,
    transport::Endpoint,
};

/// The version of the format.
const VERSION: u32 = 1;
/// A file is not larger than this, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// A call that was put aside, as it stands in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    version: u32,
    /// The server's name.
    pub server: String,
    /// [`ServerConfig::fingerprint`] of its configuration.
    pub fingerprint: String,
    /// The configuration file that it stands in; `None` for a server that the command line named itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// The server itself, where the command line named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Named>,
    /// Whether the answers were, or may have been, sent.
    pub sent: bool,
    method: String,
    params: Value,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    request_state: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    inputs: Vec<Entry>,
}

/// A server that a command line named: see [`Target`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Named {
    /// A command and its arguments.
    Command(Vec<String>),
    /// A web address.
    Url(String),
}

impl From<Named> for Target {
    fn from(named: Named) -> Self {
        match named {
            Named::Command(words) => Self::Command(words),
            Named::Url(url) => Self::Url(url),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    key: String,
    input: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    response: Option<Value>,
}

/// A value that is there, be it `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Pending {
    /// `call`, put aside while it was with the server called `server`, which is `server_config` of `config`.
    pub fn new(server: &str, config: &Config, server_config: &ServerConfig, call: PendingCall) -> Self {
        let named = match &server_config.endpoint {
            Endpoint::Stdio(stdio) => Named::Command([vec![stdio.command.clone()], stdio.args.clone()].concat()),
            Endpoint::Http(http) => Named::Url(http.url.to_string()),
        };
        let path = config.path.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        let mut pending = Self {
            version: VERSION,
            server: server.to_owned(),
            fingerprint: server_config.fingerprint(),
            target: path.is_none().then_some(named),
            config: path,
            sent: false,
            method: String::new(),
            params: Value::Null,
            request_state: None,
            task: None,
            inputs: Vec::new(),
        };
        pending.set_call(call);
        pending
    }

    /// The call, with whatever was answered so far.
    pub fn call(&self) -> PendingCall {
        let input = |input: &Entry| PendingInput {
            key: input.key.clone(),
            input: input.input.clone(),
            request: input.request.clone(),
            response: input.response.clone(),
        };
        PendingCall {
            method: self.method.clone(),
            params: self.params.clone(),
            request_state: self.request_state.clone(),
            inputs: self.inputs.iter().map(input).collect(),
            task: self.task.clone(),
        }
    }

    /// Takes `call` in place of the one before, and counts it as not sent.
    pub fn set_call(&mut self, call: PendingCall) {
        let input = |PendingInput { key, input, request, response }| Entry { key, input, request, response };
        self.sent = false;
        self.method = call.method;
        self.params = call.params;
        self.request_state = call.request_state;
        self.task = call.task;
        self.inputs = call.inputs.into_iter().map(input).collect();
    }

    /// What is being done: the tool, prompt or resource.
    pub fn name(&self) -> &str {
        let name = self.params.get("name").or_else(|| self.params.get("uri"));
        name.and_then(Value::as_str).unwrap_or(&self.method)
    }

    /// The questions that have no answer yet.
    pub fn open(&self) -> impl Iterator<Item = &Request> {
        self.inputs.iter().filter(|input| input.response.is_none()).filter_map(|input| input.request.as_ref())
    }

    /// Writes the call to `path`, at once and readable by its owner alone.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(folder(path))?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Whether a call could be put aside at `path`, before anything is asked.
    ///
    /// # Errors
    /// When nothing can be written there, or a file is there already: it may be a call that waits.
    pub fn check_place(path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it exists already, and may be a call that waits",
            ));
        }
        NamedTempFile::new_in(folder(path)).map(drop)
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Why a call that was put aside cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum PendingError {
    /// The file cannot be read or written.
    #[error("use {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds no such call.
    #[error("read {}: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process is at it.
    #[error("take up the call in {}: another run is doing that now", .0.display())]
    Busy(PathBuf),
}

/// A call that was put aside, taken up by this process alone.
#[derive(Debug)]
pub struct Taken {
    /// The call.
    pub pending: Pending,
    path: PathBuf,
    /// Held for as long as the call is.
    _lock: Lock,
}

impl Taken {
    /// Takes up the call in the file at `path`. Others are kept away until this is dropped.
    ///
    /// # Errors
    /// [`PendingError::Busy`] when another process is at it; when the file cannot be read, or is no such file.
    pub fn open(path: &Path) -> Result<Self, PendingError> {
        let io = |source| PendingError::Io { path: path.to_owned(), source };
        let wrong = |reason: String| PendingError::Wrong { path: path.to_owned(), reason };
        // Nothing is left beside a file that is not there.
        let length = fs::metadata(path).map_err(io)?.len();
        let lock = Lock::take(path).map_err(io)?.ok_or_else(|| PendingError::Busy(path.to_owned()))?;
        if length > MAX_FILE {
            return Err(wrong("it is too large to be a call that waits".to_owned()));
        }
        let bytes = fs::read(path).map_err(io)?;
        let pending: Pending =
            serde_json::from_slice(&bytes).map_err(|error| wrong(format!("it is no call that waits: {error}")))?;
        if pending.version != VERSION {
            return Err(wrong(format!("its version is {}, and {VERSION} is read here", pending.version)));
        }
        Ok(Self { pending, path: path.to_owned(), _lock: lock })
    }

    /// Writes the call as it is now.
    pub fn save(&self) -> Result<(), PendingError> {
        self.pending.save(&self.path).map_err(|source| PendingError::Io { path: self.path.clone(), source })
    }

    /// Takes `call`, with all its answers, and writes it as one whose answers are being sent.
    pub fn mark_sent(&mut self, call: PendingCall) -> Result<(), PendingError> {
        self.pending.set_call(call);
        self.pending.sent = true;
        self.save()
    }

    /// The call is over: the file is removed.
    pub fn finish(self) -> Result<(), PendingError> {
        fs::remove_file(&self.path).map_err(|source| PendingError::Io { path: self.path.clone(), source })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The lock beside a file: the file itself is replaced when it is written.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    file: Option<fs::File>,
}

impl Lock {
    /// The lock for `path`, or `None` while somebody else has it.
    fn take(path: &Path) -> io::Result<Option<Self>> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let path = path.with_file_name(name);
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => Ok(Some(Self { path, file: Some(file) })),
            // Whoever had it removed it just now, and another one may stand in its place.
            Ok(()) | Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if cfg!(windows) {
            drop(self.file.take());
        }
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether `file` is what stands at `path`.
#[cfg(unix)]
fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata().map(place), fs::metadata(path).map(place)), (Ok(file), Ok(path)) if file == path)
}

/// Whether `file` is what stands at `path`: an open file cannot be removed here.
#[cfg(not(unix))]
fn is_at(_file: &fs::File, _path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        config::{Environment, parse_value},
        elicitation::elicitation_to_request,
    };

    fn call() -> PendingCall {
        let params =
            json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {"z": {}, "a": {}}}});
        let input = json!({"method": "elicitation/create", "params": params});
        let entry = |key: &str, response| PendingInput {
            key: key.to_owned(),
            input: input.as_object().cloned().expect("an object"),
            request: Some(elicitation_to_request(&params)),
            response,
        };
        PendingCall {
            method: "tools/call".to_owned(),
            params: serde_json::from_str(r#"{"name": "greet", "arguments": {"n": 1.50}}"#).expect("JSON"),
            request_state: Some(json!("état\u{0}\u{1f600}")),
            inputs: vec![entry("one", None), entry("two", Some(json!({"action": "decline"})))],
            task: None,
        }
    }

    fn pending() -> Pending {
        let config =
            parse_value(&json!({"forms": {"command": "x", "args": ["y"]}}), &Environment::default()).expect("read");
        Pending::new("forms", &config, config.server("forms").expect("a server"), call())
    }

    #[test]
    fn what_was_put_aside_is_taken_up_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("call.json");
        Pending::check_place(&path).expect("free");
        let mut pending = pending();
        let call = call();
        pending.set_call(call.clone());
        pending.save(&path).expect("written");
        assert!(Pending::check_place(&path).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        }
        let taken = Taken::open(&path).expect("taken");
        assert_eq!(taken.pending, pending);
        assert_eq!(taken.pending.call(), call);
        assert_eq!(taken.pending.open().count(), 1);
        assert_eq!(taken.pending.target, Some(Named::Command(vec!["x".into(), "y".into()])));
        assert!(fs::read_to_string(taken.path()).expect("read").contains("1.50"));
        taken.finish().expect("removed");
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 0);
    }

    #[test]
    fn of_two_one_wins() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("call.json");
        pending().save(&path).expect("written");
        let mut first = Taken::open(&path).expect("taken");
        assert!(matches!(Taken::open(&path), Err(PendingError::Busy(_))));
        first.pending.sent = true;
        first.save().expect("written");
        assert!(matches!(Taken::open(&path), Err(PendingError::Busy(_))));
        drop(first);
        let mut second = Taken::open(&path).expect("taken");
        assert!(second.pending.sent);
        second.pending.set_call(call());
        assert!(!second.pending.sent);
    }

    #[test]
    fn files_that_are_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("call.json");
        let error = |text: &str| {
            fs::write(&path, text).expect("written");
            Taken::open(&path).expect_err("refused").to_string()
        };
        assert!(error("{}").contains("it is no call that waits"));
        assert!(error("").contains("it is no call that waits"));
        let mut other = serde_json::to_value(pending()).expect("JSON");
        other["version"] = json!(2);
        assert!(error(&other.to_string()).contains("its version is 2"));
        assert!(Taken::open(&folder.path().join("none")).expect_err("missing").to_string().starts_with("use "));
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 1);
    }
}
