//! `toolnexus logs`: what a kept server wrote to its log.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use serde_json::json;
use tokio::time::sleep;

use super::{
    context::Context,
    options::ServerArgs,
    server::{kept, select::Selected},
};
use crate::{
    error::Error,
    files::identity,
    keeper,
    output::{OutputMode, Printer},
    text::safe_line,
};

/// How often to look for more lines.
const LOOK: Duration = Duration::from_millis(200);

/// What `logs` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus logs [OPTIONS] SERVER\n       toolnexus logs [OPTIONS] -- COMMAND...",
    after_help = "Shows what a kept server writes to stderr, and what it logs while no command is connected. The last 1 to 2 MiB are kept.

Examples:
  toolnexus logs browser
  toolnexus logs browser --follow"
)]
pub struct LogsArgs {
    /// The server
    #[arg(value_name = "SERVER", hide = true)]
    pub words: Vec<String>,
    /// A server that is kept instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Keep showing new lines
    #[arg(short, long)]
    pub follow: bool,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Shows the log.
///
/// # Errors
/// [`Error`], if the server was never kept.
pub async fn run(args: LogsArgs, context: &Context) -> anyhow::Result<()> {
    let (global, printer) = (&context.global, &context.printer);
    let Selected { server, rest } = Selected::new(args.words, args.command);
    if let Some(word) = rest.first() {
        return Err(Error::usage(format!("{word:?} is one word too many")).into());
    }
    let Some(word) = server else {
        let hint = Some("toolnexus logs SERVER".to_owned());
        return Err(Error::Usage { message: "SERVER is missing".to_owned(), hint }.into());
    };
    let (config, name) = word.config(global, &args.server)?;
    let server = config.server(&name).map_err(Error::Config)?;
    let path = keeper::log_of(server, &args.server.roots, args.server.protocol).filter(|path| path.exists());
    let path = match path {
        Some(path) => path,
        None => of_another(&name, printer).await?,
    };
    let mut log = Following::open(&path);
    let lines = log.more(&path)?;
    show(printer, &name, &lines, args.follow)?;
    if !args.follow {
        return Ok(());
    }
    let signals = context.signals()?;
    loop {
        tokio::select! {
            () = sleep(LOOK) => show(printer, &name, &log.more(&path)?, true)?,
            () = printer.gone() => return Ok(()),
            () = signals.stop.cancelled() => return Err(signals.error().unwrap_or(Error::Interrupted).into()),
        }
    }
}

/// The log of a server with this name that is up with an earlier configuration.
async fn of_another(name: &str, printer: &Printer) -> anyhow::Result<PathBuf> {
    let found = kept::look(printer).await?;
    let found = found.iter().find(|found| found.standing.server == name);
    found.and_then(keeper::KeptServer::log).ok_or_else(|| {
        let hint = Some(format!("`toolnexus up {}` keeps it", shell_words::quote(name)));
        Error::Usage { message: format!("{name} has no log, because it was not kept"), hint }.into()
    })
}

fn show(printer: &Printer, server: &str, lines: &[String], is_stream: bool) -> anyhow::Result<()> {
    if lines.is_empty() && is_stream {
        return Ok(());
    }
    if printer.mode() == OutputMode::Events {
        for line in lines {
            printer.data("line", &json!({"server": server, "line": line}), String::new)?;
        }
    } else {
        let text = || lines.iter().map(|line| format!("{}\n", safe_line(line))).collect();
        printer.data("log", &json!({"server": server, "lines": lines}), text)?;
    }
    Ok(())
}

/// A log while it is followed; if the file is replaced, reading starts again.
struct Following {
    file: Option<File>,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
}

impl Following {
    fn open(path: &Path) -> Self {
        Self { file: File::open(path).ok(), rest: Vec::new() }
    }

    /// The new lines.
    fn more(&mut self, path: &Path) -> io::Result<Vec<String>> {
        let mut bytes = std::mem::take(&mut self.rest);
        if let Some(file) = &mut self.file {
            file.read_to_end(&mut bytes)?;
        }
        let number = |file: &File| file.metadata().map(|metadata| identity(&metadata)).ok();
        let now = File::open(path).ok();
        if now.as_ref().and_then(number) != self.file.as_ref().and_then(number) {
            self.file = now;
            if let Some(file) = &mut self.file {
                file.seek(SeekFrom::Start(0))?;
                file.read_to_end(&mut bytes)?;
            }
        }
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.rest = bytes.split_off(end);
        Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }
}
