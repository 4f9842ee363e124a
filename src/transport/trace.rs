use std::os::fd::AsFd as _;
use std::{
    fs::{File, OpenOptions},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{self, Write as _},
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use url::Url;

use super::mask::{Mask, REDACTED, address};
use crate::{
    files::PrivateFile,
    protocol::{Frame, FrameKind},
    text::without_numbers,
};

/// A file that gets every frame and every HTTP exchange, one JSON object a line.
///
/// Lines are `{"time", "server", KEY: …}` where KEY is `sent`, `received` (a frame), `http` (an exchange), `log`, `junk`,
/// `failed`, `undelivered` or `closed`. What people answered, credentials and the values of configured headers are left
/// out; session ids are hashed.
#[derive(Clone)]
pub struct Trace {
    lines: Arc<dyn Fn(&[u8]) + Send + Sync>,
    fault: Arc<OnceLock<String>>,
    server: String,
    mask: Mask,
}

crate::text::opaque! { Trace }

impl Trace {
    /// Starts a trace in `path`, which only its owner may read; `-` is stderr. What was in the file is gone, unless it is
    /// open already (`/dev/stderr`), which is added to; what is not a regular file is not replaced.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            let stderr = io::stderr().as_fd().try_clone_to_owned()?;
            return Ok(Self::to(File::from(stderr), false));
        }
        if path.starts_with("/dev") || path.starts_with("/proc") {
            return Ok(Self::to(OpenOptions::new().append(true).open(path)?, false));
        }
        Ok(Self::to(PrivateFile::new(path)?.put()?, true))
    }

    /// A trace in `file`. A line that cannot be written must not end the call that it is about: it is the end of the trace,
    /// and what there is of it is taken away again where the file `is_ours` alone.
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
                    // Nobody else sets it: the file is locked.
                    let _ = failed.set(without_numbers(&error.to_string()));
                }
            }
        });
        Self { fault, ..trace }
    }

    /// Why the trace ends before its time, if it does.
    pub fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// A trace whose lines go to `lines`, each with its line end.
    pub fn passing_on(lines: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self { lines: Arc::new(lines), fault: Arc::default(), server: String::new(), mask: Mask::default() }
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

    /// The same file, with what `mask` hides left out.
    #[must_use]
    pub fn masked(mut self, mask: Mask) -> Self {
        self.mask = mask;
        self
    }

    /// Writes a frame that goes to the server.
    pub(super) fn sent(&self, frame: &Frame) {
        match redacted(frame) {
            Some(value) => self.write("sent", value.to_string().as_bytes()),
            None => self.write("sent", &on_one_line(frame.bytes())),
        }
    }

    /// Writes a frame that came from the server.
    pub(super) fn received(&self, frame: &Frame) {
        self.write("received", &on_one_line(frame.bytes()));
    }

    /// Writes anything else.
    pub(super) fn note(&self, key: &str, value: &Value) {
        self.write(key, value.to_string().as_bytes());
    }

    /// Writes an HTTP exchange: `outcome` is the status and headers of the response, or why there is none.
    pub(super) fn exchange(
        &self,
        method: &str,
        url: &Url,
        request: &HeaderMap,
        outcome: Result<(u16, &HeaderMap), &str>,
        took: Duration,
    ) {
        let mut line = json!({"method": method, "url": address(url), "request": headers(request)});
        match outcome {
            Ok((status, response)) => {
                line["status"] = json!(status);
                line["response"] = headers(response);
            }
            Err(error) => line["error"] = json!(error),
        }
        line["ms"] = json!(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        self.note("http", &line);
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

/// The frame with the answers in it reduced to their keys; `None` when there are none.
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

fn headers(map: &HeaderMap) -> Value {
    let shown = map.iter().map(|(name, value)| (name.to_string(), json!(header(name.as_str(), value))));
    Value::Object(shown.collect())
}

fn header(name: &str, value: &HeaderValue) -> String {
    match name {
        "mcp-session-id" => {
            let mut hasher = DefaultHasher::new();
            value.as_bytes().hash(&mut hasher);
            format!("[session {:08x}]", hasher.finish() & 0xffff_ffff)
        }
        "authorization" | "proxy-authorization" | "cookie" | "set-cookie" => REDACTED.to_owned(),
        _ if value.is_sensitive() => REDACTED.to_owned(),
        // What stands in an address may be a credential.
        "location" | "content-location" | "link" | "referer" => {
            let text = String::from_utf8_lossy(value.as_bytes());
            match Url::parse(&text) {
                Ok(url) => address(&url),
                Err(_) => match text.split_once(['?', '#']) {
                    Some((path, _)) => format!("{path}?{REDACTED}"),
                    None => text.into_owned(),
                },
            }
        }
        _ => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Id;

    fn traced(write: impl FnOnce(&Trace)) -> Vec<Value> {
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
    fn credentials_are_left_out() {
        let lines = traced(|trace| {
            let mut request = HeaderMap::new();
            let mut key = HeaderValue::from_static("s3cret");
            key.set_sensitive(true);
            request.insert("x-key", key);
            request.insert("authorization", HeaderValue::from_static("Bearer s3cret"));
            let mut response = HeaderMap::new();
            response.insert("mcp-session-id", HeaderValue::from_static("s3cret"));
            response.insert("set-cookie", HeaderValue::from_static("s3cret"));
            response.insert("location", HeaderValue::from_static("/there?token=s3cret"));
            let url = Url::parse("https://me:s3cret@mcp.example/x?token=s3cret").expect("an address");
            trace.exchange("POST", &url, &request, Ok((200, &response)), Duration::from_millis(5));
            trace.exchange("GET", &url, &request, Err("connection refused"), Duration::ZERO);
        });
        assert!(!format!("{lines:?}").contains("s3cret"), "{lines:?}");
        assert_eq!(lines[0]["http"]["url"], "https://mcp.example/x?token=[redacted]");
        assert_eq!((&lines[0]["http"]["status"], &lines[0]["http"]["ms"]), (&json!(200), &json!(5)));
        assert_eq!(lines[1]["http"]["error"], "connection refused");
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
