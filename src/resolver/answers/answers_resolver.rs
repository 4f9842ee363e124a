use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{FutureExt, future::BoxFuture};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Action, AnswersEntry, AnswersFile, Overlay, fill::FillSource, fill::fill};
use crate::text::safe_line;
use crate::{
    elicitation::{Answer, Cause, Outcome, Question, Resolver, Why},
    form::Form,
};

/// Gets each link that an entry accepts, before the server gets the answer: it shows the link, and starts the browser
/// if the flag says so. Must not block.
pub type LinkSink = Arc<dyn Fn(&Arc<Question>, bool) + Send + Sync>;

/// How many unused answers of one kind are listed.
const MOST_TOLD: usize = 20;

/// Answers from a file and from `--answer` options. Other questions are passed on.
pub struct Answers {
    file: AnswersFile,
    overlay: Overlay,
    links: LinkSink,
    progress: Mutex<UsedAnswers>,
}

crate::text::opaque! { Answers }

/// What has been used so far.
#[derive(Default)]
struct UsedAnswers {
    used: Vec<bool>,
    /// All entries before this one are used up.
    first_open: usize,
    keys: HashSet<String>,
}

impl Answers {
    /// Answers from `file`, overridden by `overlay`.
    pub fn new(file: AnswersFile, overlay: Overlay, links: LinkSink) -> Self {
        let progress = UsedAnswers { used: vec![false; file.entries.len()], ..UsedAnswers::default() };
        Self { file, overlay, links, progress: Mutex::new(progress) }
    }

    /// The file.
    pub fn file(&self) -> &AnswersFile {
        &self.file
    }

    /// Unused answers, each as a fragment: an entry with its place, the keys of a plain object, an `--answer`.
    pub fn unused(&self) -> Vec<String> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = self.file.entries.iter().zip(&progress.used).filter(|(_, used)| !**used);
        let is_unused = |key: &&String| !progress.keys.contains(*key);
        let plain = self.file.plain.iter().flat_map(Map::keys).filter(is_unused);
        let typed = self.overlay.typed.iter().map(|(key, _)| key).filter(is_unused);
        let told: Vec<String> = entries.by_ref().take(MOST_TOLD).map(|(entry, _)| self.name(entry)).collect();
        let more = entries.count();
        let more = (more > 0).then(|| format!("{more} more entries of {}", self.file.name));
        let plain: Vec<String> = plain.map(|key| format!("{key:?}")).collect();
        let plain = (!plain.is_empty()).then(|| {
            let keys = if plain.len() == 1 { "key" } else { "keys" };
            let more = plain.len().saturating_sub(MOST_TOLD);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let told = &plain[..plain.len().min(MOST_TOLD)];
            format!("the {keys} {}{more} of {}", told.join(", "), self.file.name)
        });
        told.into_iter().chain(more).chain(plain).chain(typed.map(|key| format!("--answer {key}"))).collect()
    }

    fn name(&self, entry: &AnswersEntry) -> String {
        format!("entry {} ({}:{}:{})", entry.number, self.file.name, entry.place.line, entry.place.column)
    }

    fn answer(&self, question: &Arc<Question>) -> Outcome {
        if question.origin.cause == Cause::SignIn {
            return Outcome::Pass;
        }
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let form = question.form().map(|form| &**form);
        if let Some(entry) = progress.take_entry(&self.file.entries, question, form) {
            if let Some(form) = form {
                progress.use_keys(form, &self.overlay.keys());
            }
            drop(progress);
            return self.by_entry(entry, question, form);
        }
        let Some(form) = form.filter(|form| !form.fields.is_empty()) else { return Outcome::Pass };
        let nothing = Map::new();
        let plain = self.file.plain.as_ref();
        let source = FillSource::plain(plain.unwrap_or(&nothing), &self.overlay);
        if (plain.is_none() && self.overlay.is_empty()) || !source.covers(form) {
            return Outcome::Pass;
        }
        let keys: Vec<&String> = plain.into_iter().flat_map(Map::keys).collect();
        progress.use_keys(form, &[keys, self.overlay.keys()].concat());
        filled(plain.map(|_| self.file.name.as_str()), form, source, question)
    }

    /// The required fields that the plain object, or the options in its place, leave out.
    fn left_out(&self, question: &Question) -> Option<String> {
        let form = question.form().filter(|_| self.file.plain.is_some() || !self.overlay.is_empty())?;
        let nothing = Map::new();
        let source = FillSource::plain(self.file.plain.as_ref().unwrap_or(&nothing), &self.overlay);
        let keys: Vec<&str> = source.uncovered(form).map(|field| field.key.as_str()).collect();
        if keys.is_empty() {
            return None;
        }
        let name = if self.file.plain.is_some() { &self.file.name } else { "--answer" };
        let are = if keys.len() == 1 { "is" } else { "are" };
        Some(safe_line(&format!("{name} leaves out {}, which {are} required", keys.join(", "))).into_owned())
    }

    fn by_entry(&self, entry: &AnswersEntry, question: &Arc<Question>, form: Option<&Form>) -> Outcome {
        let id = &question.request.id;
        match (entry.action, form) {
            (Action::Decline, _) => Outcome::Answered(Answer::decline(id)),
            (Action::Cancel, _) => Outcome::Answered(Answer::cancel(id)),
            (Action::Accept, None) => {
                (self.links)(question, entry.open);
                Outcome::Answered(Answer::accept(id, None))
            }
            (Action::Accept, Some(form)) => {
                filled(Some(&self.name(entry)), form, FillSource::entry(entry, &self.overlay), question)
            }
        }
    }
}

impl UsedAnswers {
    /// Takes the first matching entry that is not used up.
    fn take_entry<'a>(
        &mut self,
        entries: &'a [AnswersEntry],
        question: &Question,
        form: Option<&Form>,
    ) -> Option<&'a AnswersEntry> {
        let fits = |entry: &AnswersEntry| entry.may_answer(form.is_none()) && entry.when.fits(question, form);
        let is_open = |used: &[bool], index: usize| entries[index].repeat || !used[index];
        while self.first_open < entries.len() && !is_open(&self.used, self.first_open) {
            self.first_open += 1;
        }
        let index = (self.first_open..entries.len()).find(|&i| is_open(&self.used, i) && fits(&entries[i]))?;
        self.used[index] = true;
        entries.get(index)
    }

    fn use_keys(&mut self, form: &Form, keys: &[&String]) {
        for key in keys {
            if form.fields.iter().any(|field| field.key == **key) && !self.keys.contains(*key) {
                self.keys.insert((*key).clone());
            }
        }
    }
}

/// The outcome of filling `form` from `source`, which is called `name`.
fn filled(name: Option<&str>, form: &Form, source: FillSource<'_>, question: &Question) -> Outcome {
    match fill(form, source) {
        Ok(content) => Outcome::Answered(Answer::accept(&question.request.id, Some(Value::Object(content)))),
        Err(error) => {
            let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
            Outcome::Unanswerable(Why::new(format!("{name}{error}")))
        }
    }
}

impl Resolver for Answers {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let outcome = if stop.is_cancelled() { Outcome::Withdrawn } else { self.answer(&question) };
        async move { outcome }.boxed()
    }

    fn remark(&self, question: &Question) -> Option<String> {
        self.left_out(question)
    }
}
