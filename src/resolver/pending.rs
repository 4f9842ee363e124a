use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{
    client::{PendingCall, PendingInput},
    config::{AdhocTarget, Config, ServerConfig},
    elicitation::Request,
    files::PrivateFile,
    transport::Endpoint,
};

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// A call that was put aside, as stored in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    pub(super) version: u32,
    /// The server's name.
    pub server: String,
    /// [`ServerConfig::fingerprint`] of its configuration.
    pub fingerprint: String,
    /// The configuration file that contains it; `None` for a server given on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// The server itself, if it was given on the command line.
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
    /// The call's name in the process that keeps its server, if it waits there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
    inputs: Vec<PendingEntry>,
}

/// A server given on the command line: see [`AdhocTarget`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Named {
    /// A command and its arguments.
    Command(Vec<String>),
    /// A web address.
    Url(String),
}

impl From<Named> for AdhocTarget {
    fn from(named: Named) -> Self {
        match named {
            Named::Command(words) => Self::Command(words),
            Named::Url(url) => Self::Url(url),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PendingEntry {
    key: String,
    input: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    response: Option<Value>,
}

/// A value that is present, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Pending {
    /// `call`, put aside while it was with the server called `server`, whose configuration is `server_config` in
    /// `config`.
    pub fn new(server: &str, config: &Config, server_config: &ServerConfig, call: PendingCall) -> Self {
        let named = match &server_config.endpoint {
            Endpoint::Stdio(stdio) => Named::Command([vec![stdio.command.clone()], stdio.args.clone()].concat()),
            Endpoint::Http(http) => Named::Url(http.url.to_string()),
        };
        // The file that contains the server, which need not be the nearest.
        let file = config.entry(server).and_then(|entry| entry.file.as_ref()).or(config.path.as_ref());
        let path = file.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
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
            kept: None,
            inputs: Vec::new(),
        };
        pending.set_call(call);
        pending
    }

    /// The call, with all answers so far.
    pub fn call(&self) -> PendingCall {
        let input = |input: &PendingEntry| PendingInput {
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
            kept: self.kept.clone(),
        }
    }

    /// Replaces the call with `call`, and marks it as not sent.
    pub fn set_call(&mut self, call: PendingCall) {
        let input = |PendingInput { key, input, request, response }| PendingEntry { key, input, request, response };
        self.sent = false;
        self.method = call.method;
        self.params = call.params;
        self.request_state = call.request_state;
        self.task = call.task;
        self.kept = call.kept;
        self.inputs = call.inputs.into_iter().map(input).collect();
    }

    /// What is in use: the tool, prompt or resource.
    pub fn name(&self) -> &str {
        let name = self.params.get("name").or_else(|| self.params.get("uri"));
        name.and_then(Value::as_str).unwrap_or(&self.method)
    }

    /// The questions that have no answer yet.
    pub fn open(&self) -> impl Iterator<Item = &Request> {
        self.inputs.iter().filter(|input| input.response.is_none()).filter_map(|input| input.request.as_ref())
    }

    /// Writes the call to `path`, atomically and readable only by its owner.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = PrivateFile::new(path)?;
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        file.write_all(&text)?;
        file.save()
    }

    /// Checks that a call could be put aside at `path`, before anything is asked.
    ///
    /// # Errors
    /// If nothing can be written there, or a file already exists: it may be a waiting call.
    pub fn check_place(path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it already exists, and may hold a waiting call"));
        }
        PrivateFile::new(path).map(drop)
    }
}
