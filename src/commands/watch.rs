//! `toolnexus watch`: a server's log, and its changes.

use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    context::Context,
    options::{QuestionArgs, ServerArgs},
    server::{
        command_host::Ear,
        one_server::{OneServer, Opening},
        select::Selected,
    },
};
use crate::{
    client::{Notice, NoticeKind},
    error::Error,
    output::{LogLevel, Printer},
    protocol::Era,
};

/// What `watch` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus watch [OPTIONS] SERVER\n       toolnexus watch [OPTIONS] -- COMMAND...",
    after_help = "Shows log messages, and each change to the server's lists and to the resources you name, until you press Ctrl-C.

Examples:
  toolnexus watch forms
  toolnexus watch forms --level debug
  toolnexus watch forms --resource demo://clock -o events"
)]
pub struct WatchArgs {
    /// The server
    #[arg(value_name = "SERVER", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Show log messages of this level and above: debug, info, notice, warning, error, critical, alert, emergency
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, hide_possible_values = true)]
    pub level: LogLevel,
    /// Also report changes to this resource (may be repeated)
    #[arg(long = "resource", value_name = "URI")]
    pub resources: Vec<String>,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Watches until a signal or the server ends it.
///
/// # Errors
/// [`Error`]: [`Error::Interrupted`] after Ctrl-C.
pub async fn run(args: WatchArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, rest } = Selected::new(args.words, args.command);
    let Some(server) = server else {
        let hint = Some("toolnexus watch SERVER".to_owned());
        return Err(Error::Usage { message: "SERVER is missing".to_owned(), hint }.into());
    };
    if let Some(word) = rest.first() {
        return Err(Error::usage(format!("{word:?} is one word too many")).into());
    }
    let questions = QuestionArgs::default();
    let (ear, level) = (Some(ear(args.level, printer)), Some(args.level.name()));
    let opening = Opening { server, context, args: &args.server, questions: &questions, ear, level };
    opening.run(async |one| {
        let info = one.client.info();
        if info.era() == Era::Modern && info.declares("logging") {
            let words = format!(
                "{}: with {} a server logs only during calls; an older --protocol shows its whole log, if the server \
                 speaks one",
                one.server, info.revision
            );
            printer.note(&words)?;
        }
        if !args.resources.is_empty() && !info.declares("resources.subscribe") {
            printer.warning(&format!("{} does not report changes to resources", one.server))?;
        }
        let stop = &one.session.signals.stop;
        let ended = tokio::select! {
            ended = one.client.listen(filter(one, &args.resources), stop) => ended,
            () = printer.gone() => return Ok(()),
        };
        if let Some(error) = one.session.signals.error() {
            return Err(error.into());
        }
        ended.map_err(|error| one.error(error))?;
        printer.line(&format!("{} has ended the subscription", one.server));
        Ok(())
    })
    .await
}

/// What to subscribe to (2026-07-28, *Subscriptions*).
fn filter(one: &OneServer<'_>, resources: &[String]) -> Map<String, Value> {
    let info = one.client.info();
    let lists = ["tools", "prompts", "resources"].into_iter();
    let lists = lists.filter(|list| info.declares(&format!("{list}.listChanged")));
    let mut filter: Map<String, Value> = lists.map(|list| (format!("{list}ListChanged"), json!(true))).collect();
    if !resources.is_empty() {
        filter.insert("resourceSubscriptions".to_owned(), json!(resources));
    }
    filter
}

fn ear(level: LogLevel, printer: &Arc<Printer>) -> Ear {
    let printer = Arc::clone(printer);
    Arc::new(move |notice: &Notice| {
        let is_left_out = match &notice.kind {
            // Some servers ignore the level. Messages with an unknown level are shown.
            NoticeKind::Log { level: of, .. } => level.hides(of),
            NoticeKind::Changed { method, .. } => method == "notifications/subscriptions/acknowledged",
            _ => return false,
        };
        if !is_left_out {
            // If stdout is gone, a signal ends the run, or the next line fails.
            drop(printer.watched(notice));
        }
        true
    })
}
