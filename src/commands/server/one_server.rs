//! A request to one server, with all the questions that it may cause.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Map, Value, value::RawValue};

use crate::commands::{
    context::Context,
    options::{QuestionArgs, ServerArgs},
    result::ended::put_aside,
    server::{
        command_host::{CommandHost, Ear},
        questions::Questions,
        select::ServerWord,
    },
};
use crate::{
    client::{CallEnd, Client, ClientError},
    elicitation::ServerName,
    error::Error,
    output::Printer,
};

/// A connection to the one server that a command uses.
pub(crate) struct OneServer<'a> {
    pub(crate) session: &'a CommandHost,
    pub(crate) client: Arc<Client>,
    pub(crate) server: ServerName,
    pub(crate) questions: &'a Questions,
    printer: &'a Arc<Printer>,
    defer: Option<PathBuf>,
}

/// The start of a command that uses one server.
pub(crate) struct Opening<'a> {
    pub(crate) server: ServerWord,
    pub(crate) context: &'a Context,
    pub(crate) args: &'a ServerArgs,
    pub(crate) questions: &'a QuestionArgs,
    /// Sees the notices first.
    pub(crate) ear: Option<Ear>,
    /// The server's log level, if it differs from the options.
    pub(crate) level: Option<String>,
}

impl Opening<'_> {
    /// Connects, does `work`, and ends the server.
    ///
    /// # Errors
    /// What went wrong; an unanswered question takes precedence.
    pub(crate) async fn run(self, work: impl AsyncFnOnce(&OneServer<'_>) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let Self { server, context, args, questions, ear, level } = self;
        let printer = &context.printer;
        let (config, name) = server.ready(context, args).await?;
        let defer = questions.defer.clone();
        let questions = Questions::of(questions, false, context)?;
        let ear = ear.unwrap_or_else(|| Arc::new(|_| false));
        let level = level.or_else(|| CommandHost::log_level(printer));
        let session = CommandHost::with_ear(config, args, &questions, (None, level), context, ear)?;
        let done = async {
            let client = session.connect(&name).await?;
            let server = name.as_str().into();
            work(&OneServer { session: &session, client, server, questions: &questions, printer, defer }).await
        };
        let done = done.await;
        let heard = session.close().await;
        questions.finish(printer, done.is_ok() && heard.unanswered.is_empty()).await?;
        let is_refused =
            |error: &anyhow::Error| error.downcast_ref::<Error>().is_some_and(|error| error.rpc().is_some());
        match done {
            Err(error) if !is_refused(&error) => Err(error),
            _ if !heard.unanswered.is_empty() => Err(Error::Unanswered(heard.unanswered).into()),
            done => done,
        }
    }
}

impl OneServer<'_> {
    /// `prompts/get` or `resources/read`: the result's own bytes.
    ///
    /// # Errors
    /// If there is none, or the call was put aside.
    pub(crate) async fn call(&self, method: &str, params: Map<String, Value>) -> anyhow::Result<Box<RawValue>> {
        let name = params.get("name").or(params.get("uri")).and_then(Value::as_str).unwrap_or_default();
        let waiting = self.session.wait_for_call(self.server.as_str(), name);
        let ended = self.client.call(method, params, None, &self.session.signals.stop).await;
        drop(waiting);
        match ended {
            Ok(CallEnd::Done(report)) => Ok(report.result),
            Ok(CallEnd::Deferred(pending)) => {
                Err(put_aside(self.session, self.printer, &self.server, self.defer.as_deref(), *pending))
            }
            Err(error) => Err(self.error(error).into()),
        }
    }

    /// A client's error as an [`Error`].
    pub(crate) fn error(&self, error: ClientError) -> Error {
        self.session.error(&self.server, error)
    }

    /// The error for an invalid answer to `method`.
    pub(crate) fn invalid(&self, method: &str, reason: String) -> Error {
        self.error(ClientError::Invalid { method: method.to_owned(), reason })
    }
}

/// `key=value` words whose values are all text, in order.
///
/// # Errors
/// [`Error::Usage`] for a word without a key.
pub(crate) fn text_pairs(words: &[String]) -> Result<Vec<(String, String)>, Error> {
    let pair = |word: &String| match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Error::Usage {
            message: format!("{word:?} is not an argument"),
            hint: Some("arguments are written key=text".to_owned()),
        }),
    };
    words.iter().map(pair).collect()
}
