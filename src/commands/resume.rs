//! `toolnexus resume`: continues a call that was put aside.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use clap::Args;
use futures_util::FutureExt as _;

use super::{
    context::Context,
    options::{GlobalArgs, QuestionArgs, ServerArgs},
    result::{
        ended::{Ended, say_pending},
        shown::ResultArgs,
    },
    server::{command_host::CommandHost, questions::Questions, select::ServerWord},
};
use crate::{
    client::{CallEnd, PendingCall},
    config::Config,
    error::Error,
    output::Printer,
    resolver::{PendingError, TakenCall},
    text::with_causes,
};

/// What `resume` takes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus call forms greet --defer call.json     put the call aside when the server asks
  toolnexus resume call.json                       answer at the terminal
  toolnexus resume call.json --answer name=Ada     answer in a script

The file is kept until the server has given its final result. Answers are sent a second time only with --again.")]
pub struct ResumeArgs {
    /// The file that --defer wrote
    pub file: PathBuf,
    /// Send the answers again, even though they were sent before
    #[arg(long)]
    pub again: bool,
    /// Continue even though the server's configuration has changed
    #[arg(long)]
    pub changed_config: bool,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Options for how the result is shown.
    #[command(flatten)]
    pub shown: ResultArgs,
    /// Options for answering questions.
    #[command(flatten)]
    pub questions: QuestionArgs,
}

/// Continues the call, and prints its result.
///
/// # Errors
/// [`Error`], if the file cannot be used, or for anything that ends a call.
pub async fn run(args: &ResumeArgs, context: &Context) -> anyhow::Result<()> {
    let (global, printer) = (&context.global, &context.printer);
    if args.questions.defer.is_some() {
        return Err(Error::usage("--defer cannot be used with resume, which keeps its own file").into());
    }
    args.shown.ready()?;
    let taken = TakenCall::open(&args.file).map_err(|error| unusable(&error))?;
    if taken.pending.sent && !args.again {
        return Err(Error::Usage {
            message: format!(
                "the answers in {} have already been sent, and the server may have acted on them",
                args.file.display()
            ),
            hint: Some("--again sends them again".to_owned()),
        }
        .into());
    }
    let (config, server) = config(&taken, args, global)?;
    let fingerprint = config.server(&server).map_err(Error::Config)?.fingerprint();
    if fingerprint != taken.pending.fingerprint && !args.changed_config {
        return Err(Error::Changed { server: server.as_str().into() }.into());
    }
    let questions = Questions::of_pending(&args.questions, printer)?;
    let session = CommandHost::new(config, &args.server, &questions, None, context)?;
    let resume = Resume { session: &session, printer, server, taken: Mutex::new(Some(taken)), shown: &args.shown };
    let ended = resume.perform().await;
    let unanswered = session.close().await.unanswered;
    questions.finish(printer, ended.is_ok() && unanswered.is_empty()).await?;
    match ended {
        Ok(ended) => ended.conclude(unanswered).map_err(Into::into),
        Err(_) if !unanswered.is_empty() => Err(Error::Unanswered(unanswered).into()),
        Err(error) => Err(error),
    }
}

/// The configuration that the call was made with, and the server's name in it.
fn config(taken: &TakenCall, args: &ResumeArgs, global: &GlobalArgs) -> Result<(Config, String), Error> {
    let mut global = global.clone();
    if global.config.is_none() {
        global.config.clone_from(&taken.pending.config);
    }
    let word = match &taken.pending.target {
        Some(target) => ServerWord::Target(target.clone().into()),
        None => ServerWord::Named(taken.pending.server.clone()),
    };
    word.config(&global, &args.server)
}

fn unusable(error: &PendingError) -> Error {
    Error::Answers(with_causes(error))
}

struct Resume<'a> {
    session: &'a CommandHost,
    printer: &'a Arc<Printer>,
    server: String,
    /// `None` once the call is over.
    taken: Mutex<Option<TakenCall>>,
    shown: &'a ResultArgs,
}

impl Resume<'_> {
    async fn perform(&self) -> anyhow::Result<Ended> {
        let client = self.session.connect(&self.server).await?;
        let call = self.with(|taken| taken.pending.call())?;
        let (method, name) = (call.method.clone(), self.with(|taken| taken.pending.name().to_owned())?);
        let failed = Mutex::new(None);
        let mark = |answered: PendingCall| {
            // An unanswered question is not sent as a cancel: the call keeps waiting.
            if self.session.has_unanswered() {
                return false;
            }
            let marked = self.with(|taken| taken.mark_sent(answered));
            match marked.and_then(|marked| marked.map_err(|error| unusable(&error).into())) {
                Ok(()) => true,
                Err(error) => {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    false
                }
            }
        };
        let before_sending = |answered: PendingCall| std::future::ready(mark(answered)).boxed();
        let waiting = self.session.wait_for_call(&self.server, &name);
        let end = client.resume(call, &before_sending, None, &self.session.signals.stop).await;
        drop(waiting);
        if let Some(error) = failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        match end {
            Ok(CallEnd::Done(report)) => {
                let ended = Ended::print(
                    self.printer,
                    &self.server.as_str().into(),
                    &method,
                    &name,
                    report,
                    (self.shown, None),
                );
                self.finish()?;
                ended
            }
            Ok(CallEnd::Deferred(call)) => {
                self.with(|taken| {
                    taken.pending.set_call(*call);
                    taken.save().map_err(|error| unusable(&error))?;
                    say_pending(self.printer, &taken.pending, taken.path())
                })??;
                Err(Error::Deferred.into())
            }
            Err(error) => {
                if error.is_before_sending() {
                    self.with(TakenCall::mark_unsent)?.map_err(|error| unusable(&error))?;
                }
                Err(self.session.error(&self.server.as_str().into(), error).into())
            }
        }
    }

    fn with<T>(&self, look: impl FnOnce(&mut TakenCall) -> T) -> anyhow::Result<T> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.as_mut().map(look).ok_or_else(|| anyhow::anyhow!("the call is over"))
    }

    /// The server has given its final result: the file is no longer needed.
    fn finish(&self) -> anyhow::Result<()> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.map_or(Ok(()), |taken| taken.finish().map_err(|error| unusable(&error).into()))
    }
}
