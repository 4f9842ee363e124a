//! `toolnexus doctor`: checks servers step by step, and says what is wrong.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    context::Context,
    doctor::{
        examine::{Finding, examine},
        surroundings::{same_as, surroundings},
    },
    listing::everywhere::{Picked, each},
    options::ServerArgs,
    server::{
        command_host::{CommandHost, Ear},
        kept,
        questions::Questions,
        select::{Selected, place},
    },
};
use crate::{
    client::{Notice, NoticeKind},
    config::{Config, FoundBy, ServerEntry},
    error::Error,
    keeper::KeptServer,
    output::Printer,
    text::{cut, safe_line, safe_name},
};

mod examine;
pub(crate) mod surroundings;

/// The longest line about something from a server, in characters.
const LONGEST: usize = 2_000;

/// What `doctor` takes.
#[derive(Args, Debug)]
#[command(
    override_usage = "toolnexus doctor [OPTIONS] [SERVER]\n       toolnexus doctor [OPTIONS] -- COMMAND...",
    after_help = "Without SERVER, all configured servers are checked. The exit code is that of the first server that cannot be used; with
--strict, it is 6 if anything looks wrong.

Examples:
  toolnexus doctor
  toolnexus doctor forms
  toolnexus doctor forms --strict -o json     in CI"
)]
pub struct DoctorArgs {
    /// The server
    #[arg(value_name = "SERVER", hide = true)]
    pub words: Vec<String>,
    /// A server to start instead of SERVER: everything after `--`
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub command: Vec<String>,
    /// Fail if anything looks wrong
    #[arg(long)]
    pub strict: bool,
    /// Start all servers of a configuration file that was found, without asking
    #[arg(long)]
    pub trust: bool,
    /// Options for the server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Our own warnings about servers, by server name, in order.
type ServerWords = Arc<Mutex<HashMap<String, Vec<String>>>>;

/// Checks the servers.
///
/// # Errors
/// [`Error`] of the first server that cannot be used; [`Error::Unwell`] under `--strict`.
pub async fn run(args: DoctorArgs, context: &Context) -> anyhow::Result<()> {
    let printer = &context.printer;
    let Selected { server, rest } = Selected::new(args.words, args.command);
    if let Some(word) = rest.first() {
        return Err(Error::usage(format!("{word:?} is one word too many")).into());
    }
    let Picked { mut config, names } = Picked::new(server, context, &args.server, args.trust).await?;
    let about = about_config(&config);
    let warnings = std::mem::take(&mut config.warnings);
    let said = ServerWords::default();
    let questions = Questions::for_listing();
    let level = CommandHost::log_level(printer);
    let session = CommandHost::with_ear(config.clone(), &args.server, &questions, (None, level), context, ear(&said))?;
    let mut text = format!("{}\n", about.0);
    let mut findings: Vec<String> = warnings.iter().map(|warning| format!("configuration: {warning}")).collect();
    for warning in &warnings {
        _ = writeln!(text, "! {}", safe_line(&printer.masked_text(warning)));
    }
    let mut failed = None;
    let mut servers = Map::new();
    if printer.mode().is_text() {
        printer.data("doctor", &Value::Null, || text)?;
    }
    let kept = kept::look(printer).await?;
    let look = async |name: &str| Ok(look(&session, &config, &kept, name).await);
    let taken = each(&names, look, |name, seen| {
        let mut seen = seen?;
        let heard = said.lock().unwrap_or_else(PoisonError::into_inner).remove(name).unwrap_or_default();
        seen.findings.extend(heard.into_iter().map(Finding::warning));
        findings.extend(seen.findings.iter().map(|finding| format!("{name}: {}", finding.message)));
        if printer.mode().is_text() {
            printer.data("doctor", &Value::Null, || seen.text(name, printer))?;
        }
        servers.insert(name.to_owned(), seen.value());
        if let Some(error) = seen.failed {
            failed.get_or_insert(error);
        }
        Ok(())
    })
    .await;
    let stopped = session.signals.error();
    session.close().await;
    taken?;
    let is_well = failed.is_none() && findings.is_empty();
    if !printer.mode().is_text() {
        let value = json!({"well": is_well, "config": about.1, "warnings": warnings, "servers": servers});
        printer.data("doctor", &printer.masked_value(value), String::new)?;
    }
    match failed.or(stopped) {
        Some(error) => Err(error.into()),
        None if args.strict && !is_well => Err(Error::Unwell(findings.len()).into()),
        None => Ok(()),
    }
}

/// The configuration, for people and for programs.
fn about_config(config: &Config) -> (String, Value) {
    let Some(path) = &config.path else { return ("configuration: the command line".to_owned(), Value::Null) };
    let how = match config.found_by {
        FoundBy::Name => "named",
        FoundBy::Project => "found in this folder or above it",
        FoundBy::User => "your own",
    };
    let path = path.display().to_string();
    (format!("configuration: {path} ({how})"), json!({"path": path, "foundBy": how}))
}

fn ear(said: &ServerWords) -> Ear {
    let said = Arc::clone(said);
    Arc::new(move |notice: &Notice| {
        let NoticeKind::Warning(words) = &notice.kind else { return false };
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let of_server = said.entry(notice.server.to_string()).or_default();
        if of_server.len() < 50 {
            of_server.push(words.clone());
        }
        true
    })
}

/// The findings about one server.
#[derive(Default)]
struct Seen {
    steps: Vec<DoctorStep>,
    findings: Vec<Finding>,
    failed: Option<Error>,
}

struct DoctorStep {
    name: &'static str,
    is_well: bool,
    about: String,
    milliseconds: Option<u64>,
    value: Value,
}

impl Seen {
    fn step(&mut self, name: &'static str, about: impl Into<String>, began: Option<Instant>, value: Value) {
        let milliseconds = began.and_then(|began| began.elapsed().as_millis().try_into().ok());
        self.steps.push(DoctorStep { name, is_well: true, about: about.into(), milliseconds, value });
    }

    fn fail(&mut self, name: &'static str, error: Error, began: Option<Instant>) {
        self.step(name, "", began, Value::Null);
        if let Some(step) = self.steps.last_mut() {
            step.is_well = false;
        }
        self.failed = Some(error);
    }

    fn text(&self, name: &str, printer: &Printer) -> String {
        let shown = |words: &str| cut(&safe_line(&printer.masked_text(words)), LONGEST).into_owned();
        let mut text = format!("\n{}\n", safe_line(name));
        for step in &self.steps {
            let mark = if step.is_well { "ok" } else { "FAILED" };
            let time = step.milliseconds.map(|time| format!(" ({time} ms)")).unwrap_or_default();
            let about = if step.about.is_empty() { String::new() } else { format!(": {}", shown(&step.about)) };
            _ = writeln!(text, "  {mark:<6}  {}{about}{time}", step.name);
        }
        // What is wrong with an entry can be both, and is read once.
        let error = self.failed.as_ref().map(|error| error.report().message);
        for finding in self.findings.iter().filter(|finding| Some(&finding.message) != error.as_ref()) {
            _ = writeln!(text, "  !       {}", shown(&finding.message));
        }
        if let Some(error) = &self.failed {
            text.extend(printer.masked(&error.report()).to_text(None).lines().flat_map(|line| ["  ", line, "\n"]));
        }
        text
    }

    fn value(&self) -> Value {
        let steps = self.steps.iter().map(|step| {
            json!({"step": step.name, "ok": step.is_well, "about": step.about, "milliseconds": step.milliseconds,
                   "data": step.value})
        });
        let error = self.failed.as_ref().map(|error| error.report().to_json()["error"].take());
        json!({
            "well": self.failed.is_none() && self.findings.is_empty(),
            "steps": steps.collect::<Vec<_>>(),
            "findings": self.findings.iter().map(Finding::to_value).collect::<Vec<_>>(),
            "error": error,
        })
    }
}

/// Where an entry is, and which one it hides.
fn stands_in(entry: &ServerEntry) -> String {
    let Some(file) = &entry.file else { return String::new() };
    let hides = entry.hides.as_ref().map(|own| format!(", hides the one in {}", own.display())).unwrap_or_default();
    format!("  ({}:{}{hides})", file.display(), entry.line)
}

async fn look(session: &CommandHost, config: &Config, kept: &[KeptServer], name: &str) -> Seen {
    let mut seen = Seen::default();
    let Some(entry) = config.entry(name) else { return seen };
    seen.findings.extend(entry.warnings.iter().cloned().map(Finding::warning));
    let (kind, what) = place(entry, &config.mask);
    match &entry.server {
        Err(error) => {
            seen.fail("entry", Error::Config(error.clone()), None);
            return seen;
        }
        Ok(server) => {
            let value = json!({"kind": kind, "endpoint": what, "file": entry.file, "line": entry.line});
            seen.step("entry", format!("{kind}  {what}{}", stands_in(entry)), None, value);
            for around in surroundings(server) {
                match around {
                    Ok((name, about, value)) => seen.step(name, about, None, value),
                    Err(wrong) => seen.findings.push(Finding::warning(wrong)),
                }
            }
            if let Some(found) = kept.iter().find(|found| found.is_of(server)) {
                seen.step("kept", kept::words(&found.standing), None, json!(found.standing));
            }
            let same = same_as(config, entry);
            if !same.is_empty() {
                seen.findings.push(Finding::warning(format!("it is the same server as {}", same.join(", "))));
            }
        }
    }
    let began = Instant::now();
    let client = match session.connect(name).await {
        Ok(client) => client,
        Err(error) => {
            seen.fail("start", error, Some(began));
            return seen;
        }
    };
    let info = client.info();
    let who = [info.name(), info.version()].into_iter().flatten().map(safe_name).collect::<Vec<_>>().join(" ");
    let offers: Vec<_> = info.capabilities.keys().map(|key| safe_name(key)).collect();
    let offers = if offers.is_empty() {
        "names nothing that it offers".to_owned()
    } else {
        format!("offers {}", offers.join(", "))
    };
    let about = format!("{who}, {} ({}), {offers}", info.revision, info.era().as_str());
    let value = json!({
        "protocol": info.revision.as_str(), "era": info.era().as_str(), "serverInfo": info.server,
        "capabilities": info.capabilities,
    });
    if client.is_attached() {
        seen.step("kept", format!("{about}; --no-keep starts another one"), Some(began), value);
    } else {
        seen.step("start", about, Some(began), value);
    }
    for (kind, key) in [("tools", "tools"), ("resources", "resources"), ("prompts", "prompts")] {
        if !info.declares(kind) {
            continue;
        }
        let began = Instant::now();
        match session.list(name, &client, (kind, &format!("{kind}/list"), key)).await {
            Ok(entries) => {
                seen.step(kind, format!("{} listed", entries.len()), Some(began), json!({"count": entries.len()}));
                seen.findings.extend(examine(kind, &entries));
            }
            Err(error) => {
                seen.fail(kind, error, Some(began));
                return seen;
            }
        }
    }
    seen
}
