use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::answers::{link_condition, message_condition};
use crate::{
    elicitation::{Answer, Cause, Outcome, Question, Resolver, Waited},
    files::PrivateFile,
    form::Form,
};

/// Records another resolver's answers as an answers file that gives the same answers again. Secrets are left out.
#[derive(Clone)]
pub struct Recorder {
    inner: Arc<dyn Resolver>,
    path: PathBuf,
    taken: Arc<Mutex<RecordedEntries>>,
}

crate::text::opaque! { Recorder }

#[derive(Default)]
struct RecordedEntries {
    entries: Vec<Value>,
    left_out: Vec<String>,
}

impl Recorder {
    /// Records the answers of `inner`, for the file at `path`.
    ///
    /// # Errors
    /// If no file can be written there. Nothing is left behind.
    pub fn new(inner: Arc<dyn Resolver>, path: &Path) -> io::Result<Self> {
        PrivateFile::new(path)?;
        Ok(Self { inner, path: path.to_owned(), taken: Arc::default() })
    }

    /// Writes the file, atomically and readable only by its owner. Returns what was left out because it looks like a
    /// secret, each as `SERVER, CALL: FIELD`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self) -> io::Result<Vec<String>> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::from("{\n  \"version\": 1,\n  \"answers\": [");
        for (index, entry) in taken.entries.iter().enumerate() {
            text.push_str(if index == 0 { "\n    " } else { ",\n    " });
            text.push_str(&entry.to_string());
        }
        text.push_str(if taken.entries.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        let mut file = PrivateFile::new(&self.path)?;
        file.write_all(text.as_bytes())?;
        file.save()?;
        Ok(taken.left_out.clone())
    }
}

impl RecordedEntries {
    fn add(&mut self, question: &Question, answer: &Answer) {
        if question.origin.cause == Cause::SignIn {
            return;
        }
        let origin = &question.origin;
        let mut when = Map::from_iter([("server".to_owned(), json!(origin.server.as_str()))]);
        if let Some(call) = &origin.call {
            when.insert(if origin.is_tool { "tool" } else { "call" }.to_owned(), json!(call.as_str()));
        }
        let mut rest = Map::new();
        if let Some(form) = question.form() {
            when.insert("mode".to_owned(), json!("form"));
            let keys: Vec<&str> = form.fields.iter().map(|field| field.key.as_str()).collect();
            if keys.is_empty() {
                when.extend(message_condition(question));
            } else {
                when.insert("fields".to_owned(), json!(keys));
            }
            if answer.ok {
                rest = self.content(form, question, answer);
            }
        } else {
            let (key, value) = link_condition(question);
            when.insert(key.to_owned(), value);
        }
        let action = match (answer.ok, answer.reason.as_deref()) {
            (true, _) => "accept",
            (false, Some("declined")) => "decline",
            (false, _) => "cancel",
        };
        let mut entry =
            Map::from_iter([("when".to_owned(), Value::Object(when)), ("action".to_owned(), json!(action))]);
        entry.extend(rest);
        self.entries.push(Value::Object(entry));
    }

    /// `content` and `omit` of an accepted form.
    fn content(&mut self, form: &Form, question: &Question, answer: &Answer) -> Map<String, Value> {
        let mut content = answer.data.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        let without_default = |key: &str| form.fields.iter().any(|field| field.key == key && field.default.is_some());
        let keys = form.fields.iter().map(|field| field.key.as_str());
        let omit: Vec<&str> = keys.filter(|key| !content.contains_key(*key) && without_default(key)).collect();
        for field in form.fields.iter().filter(|field| field.secret) {
            if content.shift_remove(&field.key).is_some() {
                let call = question.origin.call.as_ref().map(|call| format!(", {call}")).unwrap_or_default();
                self.left_out.push(format!("{}{call}: {}", question.origin.server, field.key));
            }
        }
        let mut rest = Map::new();
        if !content.is_empty() {
            rest.insert("content".to_owned(), Value::Object(content));
        }
        if !omit.is_empty() {
            rest.insert("omit".to_owned(), json!(omit));
        }
        rest
    }
}

impl Resolver for Recorder {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let claimed = self.inner.claim(Arc::clone(&question), stop);
        let taken = Arc::clone(&self.taken);
        async move {
            let outcome = claimed.await;
            if let Outcome::Answered(answer) = &outcome {
                taken.lock().unwrap_or_else(PoisonError::into_inner).add(&question, answer);
            }
            outcome
        }
        .boxed()
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        self.inner.wait(link, done, limit)
    }
}
