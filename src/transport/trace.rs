use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::mask::{Mask, REDACTED};
use crate::{
    files::PrivateFile,
    protocol::{Frame, FrameKind},
    system::standard_error,
    text::without_numbers,
};
#[cfg(feature = "http")]
mod exchange;

/// A file with every frame and every HTTP exchange, one JSON object per line.
///
/// Lines are `{"time", "server", KEY: …}` where KEY is `sent`, `received` (a frame), `http` (an exchange), `log`,
/// `junk`, `failed`, `undelivered` or `closed`. People's answers, credentials and the values of configured headers are
/// left out; session ids are hashed.
#[derive(Clone)]
pub struct Trace {
    lines: Arc<dyn Fn(&[u8]) + Send + Sync>,
    is_read: Arc<dyn Fn() -> bool + Send + Sync>,
    fault: Arc<OnceLock<String>>,
    server: String,
    mask: Mask,
}

crate::text::opaque! { Trace }

impl Trace {
    /// Starts a trace in `path`, which only its owner may read; `-` is stderr. An existing file is overwritten, unless
    /// it is already open (`/dev/stderr`), in which case the trace is appended. Anything but a regular file is not
    /// replaced.
    ///
    /// # Errors
    /// The system's error.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::to(standard_error()?, false));
        }
        if path.starts_with("/dev") || path.starts_with("/proc") {
            return Ok(Self::to(OpenOptions::new().append(true).open(path)?, false));
        }
        Ok(Self::to(PrivateFile::new(path)?.put()?, true))
    }

    /// A trace in `file`. A line that cannot be written must not end the call: it ends the trace, and a partial line is
    /// removed if the file `is_ours` alone.
    fn to(file: File, is_ours: bool) -> Self {
        let fault = Arc::new(OnceLock::new());
        let (file, failed) = (Mutex::new((file, 0)), Arc::clone(&fault));
        let trace = Self::passing_on(move |line| {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.get().is_some() {
                return;
            }
            match file.0.write_all(line) {
                Ok(()) => file.1 += line.len() as u64,
                Err(error) => {
                    if is_ours {
                        drop(file.0.set_len(file.1));
                    }
                    // Nobody else sets it, because the file is locked.
                    let _ = failed.set(without_numbers(&error.to_string()));
                }
            }
        });
        Self { fault, ..trace }
    }

    /// Why the trace ends early, if it does.
    pub fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// A trace whose lines are passed to `lines`, each with its line end.
    pub fn passing_on(lines: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self {
            lines: Arc::new(lines),
            is_read: Arc::new(|| true),
            fault: Arc::default(),
            server: String::new(),
            mask: Mask::default(),
        }
    }

    /// The same trace, which makes no line while `is_read` says that nobody would get it: a line is a copy of its frame.
    #[must_use]
    pub fn while_read(self, is_read: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { is_read: Arc::new(is_read), ..self }
    }

    /// Writes a line of another process's trace, in which nothing is hidden yet.
    pub fn line(&self, line: &[u8]) {
        match std::str::from_utf8(line) {
            Ok(text) => {
                let line = self.mask.apply_json(text.trim_end());
                (self.lines)(format!("{line}\n").as_bytes());
            }
            Err(_) => (self.lines)(line),
        }
    }

    /// The same file, for the lines of this server.
    #[must_use]
    pub fn for_server(&self, name: &str) -> Self {
        Self { server: name.to_owned(), ..self.clone() }
    }

    /// The same file, with everything left out that `mask` hides.
    #[must_use]
    pub fn masked(mut self, mask: Mask) -> Self {
        self.mask = mask;
        self
    }

    /// Writes a frame that goes to the server.
    pub(super) fn sent(&self, frame: &Frame) {
        if !(self.is_read)() {
            return;
        }
        match redacted(frame) {
            Some(value) => self.write("sent", value.to_string().as_bytes()),
            None => self.write("sent", &on_one_line(frame.bytes())),
        }
    }

    /// Writes a frame that came from the server.
    pub(super) fn received(&self, frame: &Frame) {
        if (self.is_read)() {
            self.write("received", &on_one_line(frame.bytes()));
        }
    }

    /// Writes anything else.
    pub(super) fn note(&self, key: &str, value: &Value) {
        if (self.is_read)() {
            self.write(key, value.to_string().as_bytes());
        }
    }

    fn write(&self, key: &str, value: &[u8]) {
        let head = json!({"time": Timestamp::now().to_string(), "server": self.server}).to_string();
        let mut line = head.into_bytes();
        line.pop();
        line.extend_from_slice(format!(",{}:", json!(key)).as_bytes());
        match std::str::from_utf8(value) {
            Ok(text) => line.extend_from_slice(self.mask.apply_json(text).as_bytes()),
            Err(_) => line.extend_from_slice(value),
        }
        line.extend_from_slice(b"}\n");
        (self.lines)(&line);
    }
}

/// Line ends in JSON are white space.
fn on_one_line(json: &[u8]) -> Vec<u8> {
    json.iter().map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }).collect()
}

/// The frame with its answers reduced to their keys; `None` if there are none.
fn redacted(frame: &Frame) -> Option<Value> {
    let key = match frame.kind() {
        FrameKind::Response { .. } => "content",
        FrameKind::Request { .. } => "inputResponses",
        FrameKind::Notification { .. } | FrameKind::Error { .. } => return None,
    };
    if !frame.body()?.contains(key) {
        return None;
    }
    let mut message: Value = serde_json::from_slice(frame.bytes()).ok()?;
    if let Some(result) = message.get_mut("result") {
        redact_answer(result);
    }
    let responses = message.pointer_mut("/params/inputResponses").and_then(Value::as_object_mut);
    responses.into_iter().flat_map(Map::values_mut).for_each(redact_answer);
    Some(message)
}

fn redact_answer(result: &mut Value) {
    for value in result.get_mut("content").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        *value = json!(REDACTED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Id;

    pub(super) fn traced(write: impl FnOnce(&Trace)) -> Vec<Value> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace");
        write(&Trace::create(&path).expect("a file").for_server("forms"));
        let text = std::fs::read_to_string(&path).expect("lines");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn answers_are_reduced_to_their_keys() {
        let lines = traced(|trace| {
            trace.sent(&Frame::result(&Id::from(7), &json!({"action": "accept", "content": {"name": "Ada"}})));
            let answers = json!({"name": "t", "inputResponses": {"q": {"action": "accept", "content": {"pin": 1234}}}});
            trace.sent(&Frame::request(&Id::from(8), "tools/call", Some(&answers)));
            let result = b"{\"id\":1,\n\"result\":{\"content\":[]}}".to_vec();
            trace.received(&Frame::parse(result).expect("a frame"));
        });
        assert_eq!(lines[0]["sent"]["result"]["content"], json!({"name": REDACTED}));
        assert_eq!(lines[0]["server"], "forms");
        assert_eq!(lines[1]["sent"]["params"]["inputResponses"]["q"]["content"], json!({"pin": REDACTED}));
        assert_eq!(lines[2]["received"], json!({"id": 1, "result": {"content": []}}));
    }

    #[test]
    fn no_line_is_made_while_nobody_would_get_it() {
        let (is_read, lines) = (Arc::new(Mutex::new(false)), Arc::new(Mutex::new(0)));
        let (reads, counted) = (Arc::clone(&is_read), Arc::clone(&lines));
        let trace = Trace::passing_on(move |_| *counted.lock().expect("a count") += 1)
            .while_read(move || *reads.lock().expect("a state"));
        let frame = Frame::notification("ping", None);
        trace.received(&frame);
        *is_read.lock().expect("a state") = true;
        trace.received(&frame);
        trace.sent(&frame);
        assert_eq!(*lines.lock().expect("a count"), 2);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace");
        std::fs::write(&path, "old").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("set");
        Trace::create(&path).expect("a file");
        let metadata = path.metadata().expect("there");
        assert_eq!((metadata.permissions().mode() & 0o777, metadata.len()), (0o600, 0));
    }
}
