//! `toolnexus call`: calls a tool.

use std::{
    path::Path,
    sync::{Arc, PoisonError},
    time::Duration,
};

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    argv::{
        option_meant,
        slips::{Slip, joined_name},
    },
    call::{
        arguments::{Given, refused},
        each::{Each, EachArgs},
        structured::mismatch,
    },
    context::Context,
    options::{QuestionArgs, ServerArgs},
    result::{
        ended::{Ended, put_aside},
        kept_task::KeptTask,
        shown::ResultArgs,
    },
    server::{
        command_host::CommandHost,
        questions::Questions,
        select::{Selected, ServerWord},
    },
};
use crate::{
    arguments::{ArgumentError, Arguments},
    client::{CallEnd, CallReport, Client, ClientError, ToolCall},
    config::ConfigError,
    elicitation::ServerName,
    error::Error,
    form::Form,
    output::pretty,
    protocol::{ResultOutline, Tool},
    terminal::Filled,
};

pub(crate) mod arguments;
pub mod each;
mod each_lines;
mod each_outcome;
pub(crate) mod edit_arguments;
pub(crate) mod structured;

/// What `call` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus call [OPTIONS] SERVER TOOL [ARG]...\n       \
                      toolnexus call [OPTIONS] TOOL [ARG]... -- COMMAND...",
    after_help = "SERVER is a name in the configuration or a URL. The tool's schema gives each ARG its type:
  key=text  key:=json  key=@file  key:=@file  a.b=inner  a.0=entry  key=a key=b (a list)
You can also write options: --key text  --key=text  --switch. TOOL --help shows the arguments of a tool.
With --each, ARGs override each line. The run stops at the first call that fails and exits with its code; \
                  with --keep-going all calls are made, and the exit code is that of the first one that failed.

Examples:
  toolnexus call forms greet
  toolnexus call forms greet --answer name=Ada
  toolnexus call files search pattern='*.rs' limit=10 -o json
  toolnexus call files read --each paths.jsonl -j 8
  toolnexus call echo message=hi -- npx -y @modelcontextprotocol/server-everything"
)]
pub struct CallArgs {
    /// The server, its tool, and the tool's arguments
    #[arg(value_name = "SERVER TOOL [ARG]", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// All arguments as one JSON object; ARGs override it
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub args: Option<String>,
    /// Print the request without sending it
    #[arg(long)]
    pub dry_run: bool,
    /// Write the arguments in an editor (VISUAL or EDITOR), with comments from the tool's schema
    #[arg(long, conflicts_with = "each")]
    pub edit: bool,
    /// Options for many calls.
    #[command(flatten)]
    pub many: EachArgs,
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

/// Calls the tool and prints its result.
///
/// # Errors
/// [`Error`], unless the result is a success.
pub async fn run(args: CallArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let (server, tool, words) = split(args.words, args.command)?;
    args.shown.ready()?;
    let (page, reads) = (server.page(&tool), server.reads());
    let slip = Slip::new("call", &server, std::iter::once(&tool).chain(&words));
    let answers_take_stdin = args.questions.takes_stdin() || context.takes_stdin();
    let lines = args.many.open(answers_take_stdin)?;
    let stdin_is_taken = answers_take_stdin || args.many.takes_stdin();
    let given = Given::read(words, args.args, stdin_is_taken).map_err(|error| {
        // Words that are not arguments are often a program that should come after `--`.
        match server.clone().config(&context.global, &args.server) {
            Err(unknown @ Error::Config(ConfigError::UnknownServer { .. })) => slip.explain(unknown),
            _ => error,
        }
    })?;
    let (config, server) = server.ready(context, &args.server).await.map_err(|error| slip.explained(error))?;
    let timeout = args.server.timeout.or(context.shared.as_ref().and_then(|shared| shared.timeout));
    let stdin_is_taken = given.takes_stdin() || args.many.takes_stdin();
    let questions = Questions::of(&args.questions, stdin_is_taken, context)?;
    let session = CommandHost::new(config, &args.server, &questions, Some(&tool), context)?;
    let call = CommandCall {
        session: &session,
        context,
        server: server.as_str().into(),
        tool,
        page,
        questions: &questions,
        defer: args.questions.defer.as_deref(),
        shown: &args.shown,
        dry_run: args.dry_run,
        edit: args.edit,
        reads,
    };
    let ended = match (lines, &context.keeps) {
        (None, None) => call.perform(&given, timeout).await,
        (None, Some(kept)) => call.perform_quietly(&given, timeout).await.map(|(ended, result)| {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            ended
        }),
        (Some(lines), _) => {
            let each = Each { call: &call, given: &given, args: &args.many, timeout };
            each.perform(lines).await.map(|()| Ended::nothing())
        }
    };
    let heard = session.close().await;
    // Unused answers matter only if everything else went well.
    questions.finish(printer, ended.is_ok() && heard.unanswered.is_empty()).await?;
    match ended {
        Ok(ended) => ended.conclude(heard.unanswered).map_err(Into::into),
        // An unanswered question matters more than the server's reaction to it.
        Err(error) if !heard.unanswered.is_empty() && is_refusal(&error) => {
            Err(Error::Unanswered(heard.unanswered).into())
        }
        Err(error) => Err(error),
    }
}

/// Whether the server answered with a protocol error.
fn is_refusal(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Error>().is_some_and(|error| error.rpc().is_some())
}

pub(super) fn split(words: Vec<String>, command: Vec<String>) -> Result<(ServerWord, String, Vec<String>), Error> {
    let has_command = !command.is_empty();
    let Selected { server, mut rest } = Selected::new(words, command);
    let usage = |message: &str, hint: &str| Error::Usage { message: message.to_owned(), hint: Some(hint.to_owned()) };
    let server = server.ok_or_else(|| usage("SERVER and TOOL are missing", "toolnexus call SERVER TOOL [ARG]..."))?;
    if rest.first().is_none_or(|word| word.contains('=') || word.starts_with('{')) {
        if let Some(hint) = joined_name("call", &server, &rest) {
            return Err(usage("TOOL is missing", &hint));
        }
        let hint = match &server {
            ServerWord::Named(name) => format!("`toolnexus tools {}` lists the tools", shell_words::quote(name)),
            ServerWord::Target(_) if has_command => "toolnexus call TOOL [ARG]... -- COMMAND...".to_owned(),
            ServerWord::Target(_) => "toolnexus call URL TOOL [ARG]...".to_owned(),
        };
        return Err(usage("TOOL is missing", &hint));
    }
    let tool = rest.remove(0);
    Ok((server, tool, rest))
}

/// The target of a call.
pub(super) struct CallTarget {
    pub(super) client: Arc<Client>,
    /// The tool's entry in the server's list; `None` if there is no list.
    pub(super) tool: Option<Tool>,
}

/// A call over a session's connection.
pub(super) struct CommandCall<'a> {
    pub(super) session: &'a CommandHost,
    pub(super) context: &'a Context,
    pub(super) server: ServerName,
    pub(super) tool: String,
    /// The command that shows the tool's arguments.
    pub(super) page: String,
    pub(super) questions: &'a Questions,
    pub(super) defer: Option<&'a Path>,
    pub(super) shown: &'a ResultArgs,
    pub(super) dry_run: bool,
    /// Whether a person edits the arguments.
    pub(super) edit: bool,
    /// The words before and after the URI of a resource, in a command that reads it.
    pub(super) reads: (String, String),
}

impl CommandCall<'_> {
    /// Makes the call and prints its result, before the server is ended.
    pub(super) async fn perform(&self, given: &Given, timeout: Option<Duration>) -> anyhow::Result<Ended> {
        let Some(report) = self.make(given, timeout).await? else { return Ok(Ended::nothing()) };
        Ended::print(
            &self.context.printer,
            &self.server,
            "tools/call",
            &self.tool,
            report,
            (self.shown, Some(&self.reads)),
        )
    }

    /// Makes the call and returns its result.
    pub(super) async fn perform_quietly(
        &self,
        given: &Given,
        timeout: Option<Duration>,
    ) -> anyhow::Result<(Ended, Value)> {
        let Some(report) = self.make(given, timeout).await? else { return Ok((Ended::nothing(), Value::Null)) };
        let result = serde_json::from_str(report.result.get())?;
        Ok((Ended::of_tool(&self.server, &self.tool, report), result))
    }

    /// `None` if the request was only printed.
    async fn make(&self, given: &Given, timeout: Option<Duration>) -> anyhow::Result<Option<CallReport>> {
        let target = self.target().await?;
        let arguments = if self.edit {
            self.edited(given, target.tool.as_ref()).await?
        } else {
            self.arguments(given, target.tool.as_ref()).await?
        };
        if self.dry_run {
            let request = json!({"method": "tools/call", "params": {"name": self.tool, "arguments": arguments}});
            self.context.printer.data("request", &request, || format!("{}\n", pretty(&request.to_string())))?;
            return Ok(None);
        }
        self.questions.set_arguments(&arguments);
        let (report, mismatch) = self.send(&target, arguments, timeout).await?;
        if let Some(words) = mismatch {
            self.context.printer.warning(&format!("{}: {words}", self.server))?;
        }
        Ok(Some(report))
    }

    /// The server's client, and the tool's entry in its list.
    pub(super) async fn target(&self) -> anyhow::Result<CallTarget> {
        let client = self.session.connect(self.server.as_str()).await?;
        let tool = self.find(&client).await?;
        Ok(CallTarget { client, tool })
    }

    /// The tool's entry in the server's list; `None` if there is no list.
    async fn find(&self, client: &Client) -> anyhow::Result<Option<Tool>> {
        let stop = &self.session.signals.stop;
        let _waiting = self.session.wait_for_list(self.server.as_str());
        let is_there = |tools: &[Tool]| tools.iter().any(|tool| tool.name == self.tool);
        let knew = client.has_known_tools();
        let listed = match client.known_tools(stop).await {
            // An old list may be out of date.
            Ok(known) if knew && !is_there(&known) => client.list_tools(stop).await,
            listed => listed,
        };
        let tools = match listed {
            Ok(tools) => tools,
            Err(error @ (ClientError::Rpc { .. } | ClientError::Invalid { .. } | ClientError::TimedOut { .. })) => {
                let error = self.session.error(&self.server, error);
                self.context.printer.warning(&format!("{error}; the call is made without the tool's schema"))?;
                return Ok(None);
            }
            Err(error) => return Err(self.session.error(&self.server, error).into()),
        };
        self.session.remember_tools(self.server.as_str(), &tools);
        if let Some(tool) = tools.iter().find(|tool| tool.name == self.tool) {
            return Ok(Some(tool.clone()));
        }
        if tools.is_empty() {
            return Ok(None);
        }
        let known = tools.into_iter().map(|tool| tool.name).collect();
        Err(Error::UnknownTool { server: self.server.clone(), tool: self.tool.clone(), known }.into())
    }

    /// Makes the call. Returns its result, and a message if it does not fit the tool's `outputSchema`.
    pub(super) async fn send(
        &self,
        target: &CallTarget,
        arguments: Map<String, Value>,
        timeout: Option<Duration>,
    ) -> anyhow::Result<(CallReport, Option<String>)> {
        let tool = target.tool.clone();
        let output = tool.as_ref().and_then(Tool::output_schema).cloned();
        let kept = self.defer.map(|path| KeptTask::at(path, &self.context.printer));
        let on_task = kept.as_ref().map(|kept| kept.sink(self.server.as_str(), self.session.host.config()));
        let call = ToolCall {
            name: self.tool.clone(),
            arguments,
            tool,
            timeout,
            on_task: on_task.transpose()?,
            ..ToolCall::default()
        };
        let waiting = self.session.wait_for_call(self.server.as_str(), &self.tool);
        let end = target.client.call_tool(call, &self.session.signals.stop).await;
        drop(waiting);
        kept.map_or(Ok(()), |kept| kept.end(&end))?;
        match end {
            Ok(CallEnd::Done(report)) => {
                let mismatch = match output {
                    Some(schema) => mismatch(schema, &ResultOutline::of(&report.result)).await,
                    None => None,
                };
                Ok((report, mismatch))
            }
            Ok(CallEnd::Deferred(pending)) => {
                Err(put_aside(self.session, &self.context.printer, &self.server, self.defer, *pending))
            }
            Err(error) => Err(self.session.error(&self.server, error).into()),
        }
    }

    /// The arguments object: typed, complete, and checked against the tool's schema.
    async fn arguments(&self, given: &Given, tool: Option<&Tool>) -> anyhow::Result<Map<String, Value>> {
        let mut arguments = given.typed(tool).map_err(|error| self.refused(&error))?;
        let missing = arguments.missing();
        if !missing.is_empty() {
            arguments.fill(self.ask(&missing).await?);
        }
        let (values, warnings) = self.checked(arguments)?;
        for warning in warnings {
            self.context.printer.warning(&warning)?;
        }
        Ok(values)
    }

    /// Arguments that fit, with warnings about what looks odd.
    ///
    /// # Errors
    /// [`Error::Usage`] if they do not fit.
    pub(super) fn checked(&self, arguments: Arguments) -> Result<(Map<String, Value>, Vec<String>), Error> {
        let unchecked = arguments.check().map_err(|error| self.refused(&error))?;
        let Arguments { values, mut warnings, .. } = arguments;
        warnings.extend(unchecked);
        Ok((values, warnings))
    }

    /// The error for an argument that the tool does not accept.
    pub(super) fn refused(&self, error: &ArgumentError) -> Error {
        let page = format!("`{}` shows what {} takes", self.page, self.tool);
        let ours = match error {
            ArgumentError::NoOption { name, .. } => option_meant(&self.context.grammar(), "call", name),
            _ => None,
        };
        let hint = ours.map_or_else(|| page.clone(), |ours| format!("did you mean {ours}? {page}"));
        Error::Usage { message: refused(error).to_string(), hint: Some(hint) }
    }

    /// Asks the person for missing arguments.
    async fn ask(&self, missing: &Form) -> Result<Map<String, Value>, Error> {
        let names: Vec<&str> = missing.fields.iter().map(|field| field.key.as_str()).collect();
        let needs = |why: &str| Error::Usage {
            message: format!("{} needs {}{why}", self.tool, names.join(", ")),
            hint: Some(format!("give {}=…; `{}` shows all arguments", names.join("=… "), self.page)),
        };
        let terminal = self.questions.terminal().ok_or_else(|| needs(""))?;
        let title = format!("{} needs", self.tool);
        match terminal.fill(missing, &title, "", self.session.signals.stop.clone()).await {
            Filled::Accept(content) => Ok(content),
            Filled::Impossible(why) => Err(needs(&format!(" ({why})"))),
            Filled::Decline | Filled::Cancel | Filled::Withdrawn => {
                Err(self.session.signals.error().unwrap_or(Error::Interrupted))
            }
        }
    }
}
