use std::{collections::HashMap, ffi::OsString, path::PathBuf, process::Stdio, time::Duration};

use clap::FromArgMatches as _;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::{
    arguments::Given,
    argv::read_words,
    call::{CallArgs, CommandCall, split},
    command_host::CommandHost,
    context::{Context, downcast},
    each::Each,
    ended::Ended,
    options::GlobalArgs,
    questions::Questions,
    refusal::help_or_usage,
    select::{Selected, ServerWord},
    shell_history::History,
    shell_values::{Assignment, expand, value_of},
    shown::ResultArgs,
    tools::{self, ToolsArgs},
};
use crate::{
    config::Environment,
    error::Error,
    output::OutputMode,
    protocol::Tool,
    terminal::{Terminal, TypedCommand, gate, is_asking},
};

/// How long a prompt waits between looks at whether the terminal is free again.
const TICK: Duration = Duration::from_millis(50);

/// A session of lines: what was named, and what is known of the servers.
pub(super) struct Shell<'a> {
    pub(super) session: &'a CommandHost,
    pub(super) context: &'a Context,
    questions: &'a Questions,
    timeout: Option<Duration>,
    values: HashMap<String, Value>,
    /// The tools of servers that were listed.
    pub(super) tools: HashMap<String, Vec<Tool>>,
    is_script: bool,
}

/// Whether another line follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    End,
}

impl<'a> Shell<'a> {
    pub(super) fn new(
        session: &'a CommandHost,
        context: &'a Context,
        questions: &'a Questions,
        timeout: Option<Duration>,
    ) -> Self {
        let (values, tools) = (HashMap::new(), HashMap::new());
        Self { session, context, questions, timeout, values, tools, is_script: false }
    }

    /// Connects to the servers that were named, all at once. One that cannot be reached is told, and tried again when it is
    /// used.
    pub(super) async fn greet(&mut self, names: &[String], is_script: bool) {
        self.is_script = is_script;
        if is_script {
            return;
        }
        self.context.printer.line("each line is a command; `help` lists the commands, Ctrl-D ends the shell");
        let listings = join_all(names.iter().map(|name| self.list(name))).await;
        for (name, listing) in names.iter().zip(listings) {
            match listing {
                Ok(tools) => drop(self.tools.insert(name.clone(), tools)),
                Err(error) => self.context.printer.error(&error.report()),
            }
        }
    }

    pub(super) async fn list(&self, server: &str) -> Result<Vec<Tool>, Error> {
        let line = self.session.for_line();
        let client = line.connect(server).await?;
        client.list_tools(&line.signals.stop).await.map_err(|error| line.error(&server.into(), error))
    }

    /// Reads lines from a person until they end it.
    ///
    /// # Errors
    /// When the terminal cannot be used, or a signal ends the shell.
    pub(super) async fn talk(&mut self, terminal: &Terminal) -> Result<(), Error> {
        let place = Environment::current().cache_folder.map(|folder| folder.join(env!("CARGO_PKG_NAME")));
        let mut history = History::read(place.map(|folder: PathBuf| folder.join("history")));
        let mut draft = (String::new(), String::new());
        loop {
            let stop = &self.session.signals.stop;
            let typed = terminal.read_command("toolnexus> ", std::mem::take(&mut draft), history.lines(), stop).await;
            if let Some(error) = self.session.signals.error() {
                return Err(error);
            }
            match typed {
                TypedCommand::Line(line) => {
                    history.add(&line);
                    match self.run(&line).await {
                        Ok(Flow::On) => {}
                        Ok(Flow::End) => return Ok(()),
                        Err(error) => self.context.printer.error(&error.report()),
                    }
                    if let Some(error) = self.session.signals.error() {
                        return Err(error);
                    }
                }
                TypedCommand::Complete(before, after) => draft = (self.complete(&before).await, after),
                TypedCommand::Cleared => {}
                TypedCommand::Yield(line) => {
                    draft.0 = line;
                    while is_asking() {
                        tokio::time::sleep(TICK).await;
                    }
                }
                TypedCommand::End => return Ok(()),
                TypedCommand::Impossible(why) => return Err(Error::Io(format!("no command can be read: {why}"))),
            }
        }
    }

    /// Runs the lines of stdin.
    ///
    /// # Errors
    /// That of the first line that failed, by its number.
    pub(super) async fn script(&mut self, keep_going: bool) -> Result<(), Error> {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let (mut number, mut failed, mut exit) = (0, 0, 0);
        loop {
            let read = tokio::select! {
                read = lines.next_line() => read,
                () = self.session.signals.stop.cancelled() => Ok(None),
            };
            if let Some(error) = self.session.signals.error() {
                return Err(error);
            }
            number += 1;
            let Some(line) =
                read.map_err(|error| Error::Io(format!("line {number} of the script cannot be read: {error}")))?
            else {
                break;
            };
            let ended = self.run(&line).await;
            if let Some(error) = self.session.signals.error() {
                return Err(error);
            }
            match ended {
                Ok(Flow::On) => {}
                Ok(Flow::End) => break,
                Err(error) => {
                    let error = Error::Line { line: number, error: Box::new(error) };
                    if !keep_going {
                        return Err(error);
                    }
                    self.context.printer.error(&error.report());
                    if failed == 0 {
                        exit = error.exit();
                    }
                    failed += 1;
                }
            }
        }
        if failed == 0 { Ok(()) } else { Err(Error::Lines { failed, exit }) }
    }

    async fn run(&mut self, line: &str) -> Result<Flow, Error> {
        let Assignment { name, command } = Assignment::split(line);
        if command.is_empty() || command.starts_with('#') {
            return Ok(Flow::On);
        }
        let words = shell_words::split(command)
            .map_err(|_| Error::usage("a quotation mark is not closed: close it, or write \\\" for the character"))?;
        let words: Vec<String> = words.iter().map(|word| expand(word, &self.values)).collect::<Result<_, _>>()?;
        match words.first().map(String::as_str) {
            None => return Ok(Flow::On),
            Some("exit" | "quit") if name.is_none() => return Ok(Flow::End),
            Some("help" | "?") if name.is_none() => {
                let text = self.context.grammar().render_help().to_string();
                self.context.printer.stdout(&text).map_err(|error| Error::Io(error.to_string()))?;
                return Ok(Flow::On);
            }
            _ => {}
        }
        let done = self.command(words, name).await.map_err(downcast);
        done.map(|()| Flow::On)
    }

    async fn command(&mut self, words: Vec<String>, name: Option<&str>) -> anyhow::Result<()> {
        let mut grammar = self.context.grammar();
        let own = std::iter::once(OsString::from("toolnexus")).chain(words.iter().map(OsString::from));
        let matches = match read_words(own.collect(), &mut grammar) {
            Ok(matches) => matches,
            Err(error) => return help_or_usage(&error, &grammar, &self.context.printer),
        };
        let global = GlobalArgs::from_arg_matches(&matches)?;
        let is_ours = global.config.is_none() && global.output == OutputMode::default();
        let line = self.session.for_line();
        match matches.subcommand() {
            Some(("call", matches)) => {
                let args = CallArgs::from_arg_matches(matches)?;
                if is_ours && self.has(&args) {
                    return self.call(args, &line, name).await;
                }
                if name.is_some() {
                    let which = "only a call without options can be kept in a name; --args and --timeout are allowed";
                    return Err(Error::usage(which).into());
                }
            }
            _ if name.is_some() => return Err(Error::usage("only the result of `call` can be kept in a name").into()),
            Some(("tools", matches)) if is_ours => {
                let args = ToolsArgs::from_arg_matches(matches)?;
                if self.lists(&args) {
                    return tools::show(args, &line, &self.context.printer).await;
                }
            }
            Some((command @ ("shell" | "demo-server"), _)) => {
                return Err(Error::usage(format!("{command} cannot be used in a shell")).into());
            }
            _ => {}
        }
        self.start(&words).await
    }

    /// Whether a call can go over a connection of this session.
    fn has(&self, args: &CallArgs) -> bool {
        let is_plain = args.command.is_empty() && args.server.is_plain() && args.questions.is_plain();
        is_plain && args.words.first().is_none_or(|server| self.knows(server))
    }

    fn lists(&self, args: &ToolsArgs) -> bool {
        let listing = &args.listing;
        let is_plain = args.command.is_empty() && args.server.is_plain() && listing.grep.is_none();
        let has_page = !args.schema || args.words.len() == 2;
        is_plain && has_page && args.words.first().is_some_and(|server| self.knows(server))
    }

    fn knows(&self, server: &str) -> bool {
        self.names().any(|name| name == server)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.session.host.config().servers.iter().filter(|entry| entry.enabled).map(|entry| entry.name.as_str())
    }

    async fn call(&mut self, args: CallArgs, line: &CommandHost, name: Option<&str>) -> anyhow::Result<()> {
        let timeout = args.server.timeout.or(self.timeout);
        let (shown, many) = (args.shown.clone(), args.many.clone());
        let lines = many.open(true)?;
        if lines.is_some() && name.is_some() {
            return Err(Error::usage("the results of --each cannot be kept in a name").into());
        }
        let (call, given) = CommandCall::of(args, &shown, line, self.context, self.questions)?;
        let result = match (name, lines) {
            (None, Some(lines)) => {
                let each = Each { call: &call, given: &given, args: &many, timeout };
                each.perform(lines).await.map(|()| (Ended::nothing(), None))
            }
            (None, None) => call.perform(&given, timeout).await.map(|ended| (ended, None)),
            (Some(_), _) => call.perform_quietly(&given, timeout).await.map(|(ended, result)| (ended, Some(result))),
        };
        let unanswered = self.session.take_heard().unanswered;
        match result {
            Ok((ended, result)) => {
                ended.conclude(unanswered)?;
                if let (Some(name), Some(result)) = (name, result) {
                    self.values.insert(name.to_owned(), value_of(&result));
                }
                Ok(())
            }
            Err(_) if !unanswered.is_empty() => Err(Error::Unanswered(unanswered).into()),
            Err(error) => Err(error),
        }
    }

    /// Runs a command that has its own connections, as a program of its own.
    async fn start(&self, words: &[String]) -> anyhow::Result<()> {
        let program = std::env::current_exe()?;
        let mut command = tokio::process::Command::new(program);
        if let Some(config) = &self.context.global.config {
            command.arg("--config").arg(config);
        }
        if self.context.global.output != OutputMode::default() && !words.iter().any(|word| word.starts_with("-o")) {
            let mode = match self.context.printer.mode() {
                OutputMode::Text => "text",
                OutputMode::Json => "json",
                OutputMode::Data => "data",
                OutputMode::Events => "events",
            };
            command.args(["-o", mode]);
        }
        command.args(words);
        if self.is_script {
            command.stdin(Stdio::null());
        }
        gate().status(None);
        let status = command.status().await?;
        match status.code() {
            Some(0) => Ok(()),
            code => Err(Error::Said {
                command: words[0].clone(),
                exit: code.and_then(|c| u8::try_from(c).ok()).unwrap_or(130),
            }
            .into()),
        }
    }
}

impl CommandCall<'_> {
    /// The call that these words make over a connection of the session.
    fn of<'b>(
        args: CallArgs,
        shown: &'b ResultArgs,
        session: &'b CommandHost,
        context: &'b Context,
        questions: &'b Questions,
    ) -> anyhow::Result<(CommandCall<'b>, Given)> {
        let (server, tool, words) = split(args.words, args.command)?;
        let given = Given::read(words, args.args, true)?;
        let page = server.page(&tool);
        let ServerWord::Named(server) = server else { return Err(Error::usage("SERVER is missing").into()) };
        let dry_run = args.dry_run;
        let call = CommandCall {
            session,
            context,
            server: server.as_str().into(),
            tool,
            page,
            questions,
            defer: None,
            shown,
            dry_run,
        };
        Ok((call, given))
    }
}

/// The words of a line that name a server.
pub(super) fn server_in(words: &[String]) -> Option<String> {
    match Selected::new(words.get(1..)?.to_vec(), Vec::new()).server? {
        ServerWord::Named(name) => Some(name),
        ServerWord::Target(_) => None,
    }
}
