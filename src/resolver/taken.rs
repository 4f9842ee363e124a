use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Pending, lock::Lock, pending::VERSION};
use crate::{client::PendingCall, files};

/// Why a call that was put aside cannot be continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PendingError {
    /// The file cannot be read or written.
    #[error("the call in {} cannot be used", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file does not contain such a call.
    #[error("the call in {} cannot be read: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process is using it.
    #[error("another run is using the call in {}", .0.display())]
    Busy(PathBuf),
}

/// A call that was put aside, and is used only by this process.
#[derive(Debug)]
pub struct TakenCall {
    /// The call.
    pub pending: Pending,
    path: PathBuf,
    /// Held as long as the call is.
    _lock: Lock,
}

impl TakenCall {
    /// Takes the call in the file at `path`. Other processes are kept out until this is dropped.
    ///
    /// # Errors
    /// [`PendingError::Busy`] if another process is using it; or if the file cannot be read, or has other content.
    pub fn open(path: &Path) -> Result<Self, PendingError> {
        let io = |source| PendingError::Io { path: path.to_owned(), source };
        let wrong = |reason: String| PendingError::Wrong { path: path.to_owned(), reason };
        // No lock file is left next to a file that does not exist.
        fs::metadata(path).map_err(io)?;
        let lock = Lock::take(path).map_err(io)?.ok_or_else(|| PendingError::Busy(path.to_owned()))?;
        let bytes = files::read(path).map_err(io)?;
        let pending: Pending = serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("it does not hold a waiting call: {error}")))?;
        if pending.version != VERSION {
            return Err(wrong(format!(
                "its version is {}, and this toolnexus reads version {VERSION}",
                pending.version
            )));
        }
        Ok(Self { pending, path: path.to_owned(), _lock: lock })
    }

    /// Writes the call as it is now.
    ///
    /// # Errors
    /// [`PendingError::Io`] if the file cannot be written.
    pub fn save(&self) -> Result<(), PendingError> {
        self.pending.save(&self.path).map_err(|source| PendingError::Io { path: self.path.clone(), source })
    }

    /// Takes `call`, with all its answers, and writes it as one whose answers are being sent.
    ///
    /// # Errors
    /// [`PendingError::Io`] if the file cannot be written.
    pub fn mark_sent(&mut self, call: PendingCall) -> Result<(), PendingError> {
        self.pending.set_call(call);
        self.pending.sent = true;
        self.save()
    }

    /// The answers were never sent: they may be sent later as if for the first time.
    ///
    /// # Errors
    /// [`PendingError::Io`] if the file cannot be written.
    pub fn mark_unsent(&mut self) -> Result<(), PendingError> {
        self.pending.sent = false;
        self.save()
    }

    /// The call is over: the file is removed.
    ///
    /// # Errors
    /// [`PendingError::Io`] if the file cannot be removed.
    pub fn finish(self) -> Result<(), PendingError> {
        match fs::remove_file(&self.path) {
            // Somebody else has already removed it.
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(PendingError::Io { path: self.path.clone(), source })
            }
            _ => Ok(()),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::resolver::Named;
    use crate::{
        client::PendingInput,
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
            kept: None,
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
        let taken = TakenCall::open(&path).expect("taken");
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
        let mut first = TakenCall::open(&path).expect("taken");
        assert!(matches!(TakenCall::open(&path), Err(PendingError::Busy(_))));
        first.pending.sent = true;
        first.save().expect("written");
        assert!(matches!(TakenCall::open(&path), Err(PendingError::Busy(_))));
        drop(first);
        let mut second = TakenCall::open(&path).expect("taken");
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
            TakenCall::open(&path).expect_err("refused").to_string()
        };
        assert!(error("{}").contains("it does not hold a waiting call"));
        assert!(error("").contains("it does not hold a waiting call"));
        let mut other = serde_json::to_value(pending()).expect("JSON");
        other["version"] = json!(2);
        assert!(error(&other.to_string()).contains("its version is 2"));
        assert!(
            TakenCall::open(&folder.path().join("none")).expect_err("missing").to_string().ends_with("cannot be used")
        );
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 1);
    }
}
