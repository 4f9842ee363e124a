use std::{
    collections::HashMap,
    ffi::OsString,
    io,
    path::PathBuf,
    sync::{Arc, PoisonError},
    time::Duration,
};

use clap::FromArgMatches as _;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, BufReader};

use crate::commands::{
    argv::refusal::help_or_usage,
    context::{Context, downcast},
    options::GlobalArgs,
    server::{
        command_host::CommandHost,
        questions::Questions,
        select::{Selected, ServerWord},
    },
    shell::{
        connections::ShellConnections,
        history::History,
        values::{Assignment, expand, shown, words_of},
    },
};
use crate::{
    config::Environment,
    error::Error,
    output::{Printer, shell_word},
    protocol::Tool,
    terminal::{Terminal, TypedCommand, is_asking},
};

/// How often a prompt checks whether the terminal is free again.
const TICK: Duration = Duration::from_millis(50);

/// The longest line of a script, in bytes.
const LONGEST: u64 = 16 << 20;

/// The next line of a script, without its end; `None` behind the last.
///
/// # Errors
/// When it cannot be read; [`io::ErrorKind::InvalidData`] when it is too long, or not text.
async fn next_line(source: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let mut bytes = Vec::new();
    if source.take(LONGEST + 1).read_until(b'\n', &mut bytes).await? == 0 {
        return Ok(None);
    }
    if bytes.len() as u64 > LONGEST && !bytes.ends_with(b"\n") {
        return Err(invalid(format!("it is longer than {} MiB", LONGEST >> 20)));
    }
    let line = String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8".to_owned()))?;
    Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// A session of lines: the named results, and what is known about the servers.
pub(crate) struct Shell<'a> {
    pub(crate) session: &'a CommandHost,
    pub(crate) context: &'a Context,
    shared: Arc<ShellConnections>,
    values: HashMap<String, Value>,
    /// The listed tools of servers.
    pub(crate) tools: HashMap<String, Vec<Tool>>,
    is_script: bool,
}

/// Whether another line follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    End,
}

impl<'a> Shell<'a> {
    pub(crate) fn new(
        session: &'a CommandHost,
        context: &'a Context,
        questions: &Questions,
        timeout: Option<Duration>,
    ) -> Self {
        let (values, tools) = (HashMap::new(), HashMap::new());
        let shared = Arc::new(session.share(questions, timeout));
        Self { session, context, shared, values, tools, is_script: false }
    }

    /// Connects to the named servers, all at the same time. Failures are reported, and tried again when the server is
    /// used.
    pub(crate) async fn greet(&mut self, names: &[String], is_script: bool) {
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

    pub(crate) async fn list(&self, server: &str) -> Result<Vec<Tool>, Error> {
        let line = self.session.for_line();
        let client = line.connect(server).await?;
        client.known_tools(&line.signals.stop).await.map_err(|error| line.error(&server.into(), error))
    }

    /// Reads lines from a person until the end.
    ///
    /// # Errors
    /// If the terminal cannot be used, or a signal ends the shell.
    pub(crate) async fn talk(&mut self, terminal: &Terminal) -> Result<(), Error> {
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
    /// That of the first failed line, with its number.
    pub(crate) async fn script(&mut self, keep_going: bool) -> Result<(), Error> {
        let mut lines = BufReader::new(tokio::io::stdin());
        let (mut number, mut failed, mut exit) = (0, 0, 0);
        loop {
            let read = tokio::select! {
                read = next_line(&mut lines) => read,
                () = self.session.signals.stop.cancelled() => Ok(None),
            };
            if let Some(error) = self.session.signals.error() {
                return Err(error);
            }
            number += 1;
            let unreadable = |error: io::Error| {
                let message = format!("line {number} of the script cannot be read: {error}");
                if error.kind() == io::ErrorKind::InvalidData { Error::usage(message) } else { Error::Io(message) }
            };
            let Some(line) = read.map_err(unreadable)? else { break };
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
        if let (None, Some(value)) = (name, shown(command, &self.values)?) {
            return self.context.printer.part(&value).map(|()| Flow::On).map_err(|error| Error::Io(error.to_string()));
        }
        let words = words_of(command)?;
        let mut words: Vec<String> = words.iter().map(|word| expand(word, &self.values)).collect::<Result<_, _>>()?;
        // Hints and lines of a command line can be pasted unchanged.
        if words.len() > 1 && words[0] == env!("CARGO_PKG_NAME") {
            words.remove(0);
        }
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
        if let Some(error) = self.without_server(&words, &self.context.grammar()) {
            return Err(error.into());
        }
        let own = std::iter::once(OsString::from("toolnexus")).chain(words.iter().map(OsString::from));
        let matches = match self.context.read(own.collect()) {
            Ok(matches) => matches,
            Err((error, grammar)) => return help_or_usage(&error, &grammar, &self.context.printer),
        };
        if let Some(word) = words.iter().find(|word| reads_stdin(word, &words)) {
            let stdin = if self.is_script { "the script" } else { "where you type" };
            return Err(Error::usage(format!("{word} cannot be used in a shell: stdin is {stdin}")).into());
        }
        match (matches.subcommand(), name) {
            (Some((command @ ("shell" | "demo-server" | "keep-server" | "__complete"), _)), _) => {
                return Err(Error::usage(format!("{command} cannot be used in a shell")).into());
            }
            (Some(("call", call)), Some(_)) if call.contains_id("each") => {
                return Err(
                    Error::usage("only the result of one call can be kept in a name, not those of --each").into()
                );
            }
            (Some(("call", _)), Some(_)) | (_, None) => {}
            (_, Some(_)) => return Err(Error::usage("only the result of `call` can be kept in a name").into()),
        }
        let mut context = self.line(GlobalArgs::from_arg_matches(&matches)?, &words);
        context.keeps = name.map(|_| Arc::default());
        context.carry_out(matches).await?;
        let kept = context.keeps.and_then(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some((name, result)) = name.zip(kept) {
            self.values.insert(name.to_owned(), result);
        }
        Ok(())
    }

    /// The error for a line that names a tool of a connected server, but not the server.
    fn without_server(&self, words: &[String], grammar: &clap::Command) -> Option<Error> {
        let (tool, arguments, is_command) = match words {
            [command, tool, arguments @ ..] if command == "call" => (tool, arguments, false),
            [tool, arguments @ ..] if grammar.find_subcommand(tool).is_none() => (tool, arguments, true),
            _ => return None,
        };
        if self.names().any(|name| name == tool) || words.iter().any(|word| word == "--") {
            return None;
        }
        let mut servers: Vec<&String> = self.tools.keys().collect();
        servers.sort_unstable();
        let server = servers.into_iter().find(|server| self.tools[*server].iter().any(|known| known.name == *tool))?;
        let meant: Vec<String> =
            ["call", server, tool].into_iter().chain(arguments.iter().map(String::as_str)).map(shell_word).collect();
        let message = if is_command {
            format!("there is no command {tool:?}; it is a tool of {server}")
        } else {
            format!("there is no server {tool:?}; it is a tool of {server}")
        };
        Some(Error::Usage { message, hint: Some(format!("did you mean `{}`?", meant.join(" "))) })
    }

    /// The context of a line with these options: the shell's options are the defaults.
    fn line(&self, mut global: GlobalArgs, words: &[String]) -> Context {
        let own = words.iter().take_while(|word| *word != "--");
        let has_output = own.clone().any(|word| word.starts_with("-o") || word.starts_with("--output"));
        let is_plain = !has_output && !global.quiet && !global.verbose;
        if !has_output {
            global.output = self.context.global.output;
        }
        if !global.quiet && !global.verbose {
            (global.quiet, global.verbose) = (self.context.global.quiet, self.context.global.verbose);
        }
        let printer = if is_plain {
            Arc::clone(&self.context.printer)
        } else {
            Arc::new(Printer::new(global.output, global.verbosity()).with_log(global.log).in_lines())
        };
        self.context.line(global, printer, self.session.signals.for_line(), Arc::clone(&self.shared))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.session.host.config().servers.iter().filter(|entry| entry.enabled).map(|entry| entry.name.as_str())
    }
}

/// Whether `word`, one of `words`, makes a command read stdin.
fn reads_stdin(word: &str, words: &[String]) -> bool {
    const OPTIONS: [&str; 3] = ["--answers", "--args", "--each"];
    let is_behind = |at: usize| at > 0 && OPTIONS.contains(&words[at - 1].as_str());
    let is_dash = word == "-" && words.iter().position(|known| known == word).is_some_and(is_behind);
    let is_option = OPTIONS.iter().any(|option| word.strip_prefix(option) == Some("=-"));
    is_dash || is_option || (word.ends_with("=@-") && !word.ends_with("=@@-"))
}

/// The word of a line that names a server.
pub(crate) fn server_in(words: &[String]) -> Option<String> {
    match Selected::new(words.get(1..)?.to_vec(), Vec::new()).server? {
        ServerWord::Named(name) => Some(name),
        ServerWord::Target(_) => None,
    }
}
