use std::{
    path::Path,
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::BoxFuture};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::answers::LinkSink;
use crate::{
    elicitation::{Answer, CallName, Cause, Outcome, Question, Resolver, Why},
    transport::stdio::{Group, StderrLog, describe},
};

/// The longest answer that is read, in bytes.
const MAX_ANSWER: u64 = 16 << 20;
/// How many programs run at the same time; further questions wait for their turn.
const AT_ONCE: usize = 4;
/// How long to wait for output after the program's end: something else may keep its stream open.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Gets the lines that the program writes to its standard error, not yet safe for a terminal. Must not block.
pub type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

/// An answering program: it is started for each question, gets it as one JSON line on its standard input, and prints an
/// answer. `docs/answers.md` describes both.
#[derive(Clone)]
pub struct AnswerProgram(Arc<Setup>);

crate::text::opaque! { AnswerProgram }

struct Setup {
    words: Vec<String>,
    limit: Duration,
    stderr: LineSink,
    links: LinkSink,
    /// How many more may run at the same time.
    turns: Semaphore,
}

/// Why a program cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The words cannot be split.
    #[error("a quote is not closed in {0:?}")]
    Words(String),
    /// There are no words.
    #[error("there is no program in {0:?}")]
    Empty(String),
    /// The program does not exist.
    #[error("there is no program {0:?}")]
    Missing(String),
}

impl AnswerProgram {
    /// The program and its arguments, split like shell words, but run without a shell. It may take `limit` for an
    /// answer. `links` gets each link that it accepts.
    ///
    /// # Errors
    /// If there is no such program.
    pub fn new(words: &str, limit: Duration, stderr: LineSink, links: LinkSink) -> Result<Self, ProgramError> {
        let split = shell_words::split(words).map_err(|_| ProgramError::Words(words.to_owned()))?;
        let Some(program) = split.first().filter(|program| !program.is_empty()) else {
            return Err(ProgramError::Empty(words.to_owned()));
        };
        if !is_there(program) {
            return Err(ProgramError::Missing(program.clone()));
        }
        Ok(Self(Arc::new(Setup { words: split, limit, stderr, links, turns: Semaphore::new(AT_ONCE) })))
    }
}

/// Whether there is such a program.
fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The output of a program.
#[derive(Deserialize)]
struct Printed {
    id: Option<String>,
    ok: Option<bool>,
    data: Option<Value>,
    reason: Option<String>,
    /// As in an answers file, and in MCP.
    action: Option<String>,
    content: Option<Value>,
}

impl Printed {
    /// Whether it agrees, its content, and its reason if not.
    fn said(self) -> Result<(bool, Option<Value>, Option<String>), String> {
        match (self.ok, self.action.as_deref()) {
            (Some(_), Some(_)) => Err("printed both `ok` and `action`".to_owned()),
            (Some(ok), None) => Ok((ok, self.data.or(self.content), self.reason)),
            (None, Some("accept")) => Ok((true, self.content.or(self.data), None)),
            (None, Some("decline")) => Ok((false, None, Some("declined".to_owned()))),
            (None, Some("cancel")) => Ok((false, None, Some("cancelled".to_owned()))),
            (None, Some(other)) => Err(format!("printed the action {other:?}: expected accept, decline or cancel")),
            (None, None) if self.content.is_some() => Ok((true, self.content, None)),
            (None, None) => {
                Err(r#"printed no answer: expected {"action": "accept", "content": {…}}, or null to pass"#.to_owned())
            }
        }
    }
}

impl Setup {
    async fn ask(&self, question: Arc<Question>, stop: CancellationToken) -> Outcome {
        let _turn = tokio::select! {
            biased;
            () = stop.cancelled() => return Outcome::Withdrawn,
            turn = self.turns.acquire() => turn,
        };
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut group, (mut stdin, stdout, stderr)) = match Group::start(command) {
            Ok(started) => started,
            Err(error) => return self.fail(&format!("could not be started: {error}")),
        };
        let mut log = StderrLog::drain(stderr);
        let talk = async {
            let line = question_line(&question);
            // A program that does not need its question may end without reading it.
            let write = async {
                let _ = stdin.write_all(line.as_bytes()).await;
                drop(stdin);
            };
            let ((), printed) = tokio::join!(write, self.listen(&mut group, stdout, &mut log));
            printed
        };
        let started = Instant::now();
        let printed = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            printed = timeout(self.limit, talk) => Some(printed),
        };
        group.end().await;
        // A process that left the group may keep the stream open, and write to it, forever.
        let last_words = async {
            while let Some(line) = log.next().await {
                (self.stderr)(&line);
            }
        };
        drop(timeout(LAST_WORDS, last_words).await);
        match printed {
            None => Outcome::Withdrawn,
            Some(Err(_)) => self.fail(&format!("gave no answer within {} s", started.elapsed().as_secs_f32().round())),
            Some(Ok(Err(reason))) => self.fail(&reason),
            Some(Ok(Ok(text))) => match read_answer(&text, &question) {
                Ok(Some(answer)) => {
                    if question.request.is_link() && answer.ok {
                        (self.links)(&question, false);
                    }
                    Outcome::Answered(answer)
                }
                Ok(None) => Outcome::Pass,
                Err(reason) => self.fail(&reason),
            },
        }
    }

    /// The program's output until its end.
    async fn listen(
        &self,
        group: &mut Group,
        stdout: impl AsyncRead + Unpin,
        log: &mut StderrLog,
    ) -> Result<String, String> {
        let mut printed = Vec::new();
        let mut stdout = stdout.take(MAX_ANSWER + 1);
        let mut chunk = vec![0; 8 * 1024];
        let (mut open, mut logging) = (true, true);
        let mut status = None;
        let last_words = sleep(Duration::ZERO);
        tokio::pin!(last_words);
        while open || status.is_none() {
            tokio::select! {
                read = stdout.read(&mut chunk), if open => match read {
                    Ok(0) | Err(_) => open = false,
                    Ok(length) => printed.extend_from_slice(&chunk[..length]),
                },
                line = log.next(), if logging => match line {
                    Some(line) => (self.stderr)(&line),
                    None => logging = false,
                },
                ended = group.wait(), if status.is_none() => {
                    status = Some(ended.map_err(|error| format!("could not be waited for: {error}"))?);
                    last_words.as_mut().reset(tokio::time::Instant::now() + LAST_WORDS);
                }
                () = &mut last_words, if status.is_some() => break,
            }
            if printed.len() as u64 > MAX_ANSWER {
                return Err("printed more than 16 MiB".to_owned());
            }
        }
        match status {
            Some(status) if !status.success() => Err(describe(status)),
            _ => String::from_utf8(printed).map_err(|_| "printed something that is not UTF-8".to_owned()),
        }
    }

    fn fail(&self, reason: &str) -> Outcome {
        Outcome::Unanswerable(Why::new(format!("the program {:?} {reason}", self.words[0])))
    }
}

/// The question for the program: the request's keys, `server`, `call` and `era`, on one line.
fn question_line(question: &Question) -> String {
    let mut object = match serde_json::to_value(&question.request) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    };
    let origin = &question.origin;
    object.insert("server".to_owned(), json!(origin.server.as_str()));
    object.insert("call".to_owned(), json!(origin.call.as_ref().map(CallName::as_str)));
    object.insert("era".to_owned(), json!(origin.era.as_str()));
    format!("{}\n", Value::Object(object))
}

/// The answer in the program's output; `None` if it passes.
fn read_answer(text: &str, question: &Question) -> Result<Option<Answer>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("printed nothing; `null` passes a question on".to_owned());
    }
    let printed: Option<Printed> = serde_json::from_str(text).map_err(|error| format!("printed no answer: {error}"))?;
    let Some(printed) = printed else { return Ok(None) };
    let id = &question.request.id;
    if let Some(other) = printed.id.as_ref().filter(|other| *other != id) {
        return Err(format!("answered the question {other:?}, not {id:?}"));
    }
    let (ok, data, reason) = printed.said()?;
    let is_form = !question.request.is_link() && question.origin.cause != Cause::SignIn;
    let data = match data {
        Some(data) if ok && is_form => Some(content(data, question)?),
        None if ok && is_form => content(Value::Object(Map::new()), question).map(|_| None)?,
        data => data,
    };
    Ok(Some(Answer { id: id.clone(), ok, data, reason }))
}

/// `data` as the form spells it, if it fits.
fn content(data: Value, question: &Question) -> Result<Value, String> {
    let Value::Object(content) = data else { return Err("gave data that is not an object".to_owned()) };
    // Links and sign-ins do not get here.
    let form = question.form().map(Arc::clone).unwrap_or_default();
    match form.check(&content).first() {
        Some(error) => Err(format!("gave data that does not fit the form: {error}")),
        None => Ok(form.canonical(content).into()),
    }
}

impl Resolver for AnswerProgram {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let setup = Arc::clone(&self.0);
        async move { setup.ask(question, stop).await }.boxed()
    }
}

#[cfg(all(test, unix))]
mod tests;
