//! `toolnexus servers`: the configured servers.

use std::path::PathBuf;

use clap::Args;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::{
    config_files::discovered,
    context::Context,
    options::ServerArgs,
    server::{
        command_host::CommandHost,
        entered::{as_written, entered},
        kept,
        over_http::SignIns,
        questions::Questions,
        select::{all_servers, place},
    },
};
use crate::{
    client::SignInOptions,
    config::{self, Config, Environment, ServerEntry},
    error::Error,
    keeper::KeptServer,
    output::{Printer, table},
    text::{NAME, cut, safe_line},
};

/// What `servers` takes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  toolnexus servers
  toolnexus servers forms --check
  toolnexus servers --check       connect to all of them and show their protocol revisions
  toolnexus servers --discover    those of other clients, which `toolnexus import` copies")]
pub struct ServersArgs {
    /// The servers to list [default: all]
    #[arg(value_name = "SERVER")]
    pub names: Vec<String>,
    /// List the servers that other clients on this machine have, and in which files
    #[arg(long, conflicts_with = "check")]
    pub discover: bool,
    /// Connect to each server and show which protocol revision it speaks
    #[arg(long)]
    pub check: bool,
    /// With --check: start all servers of a configuration file that was found, without asking
    #[arg(long, requires = "check")]
    pub trust: bool,
    /// With --check: write all messages to this file (`-` is stderr), as JSON lines without secrets
    #[arg(long, value_name = "FILE", requires = "check")]
    pub trace: Option<PathBuf>,
}

/// Lists the configured servers.
///
/// # Errors
/// If there is no usable configuration file; with `--check`, the first failed server's [`Error`].
pub async fn run(args: &ServersArgs, context: &Context) -> anyhow::Result<()> {
    let (global, printer) = (&context.global, &context.printer);
    if args.discover {
        return discovered::run(&args.names, context);
    }
    if args.check {
        return check(args, context).await;
    }
    let config = config::discover(global.config.as_deref(), &Environment::current())?;
    let config = named(args, as_written(config, context)?)?;
    let kept = of_names(args, kept::look(printer).await?);
    let states = config.servers.iter().map(|entry| {
        let problem = entry.server.as_ref().err().map(ToString::to_string);
        match problem {
            _ if !entry.enabled => ("disabled".to_owned(), json!({"enabled": false})),
            Some(problem) => (problem.clone(), json!({"enabled": true, "problem": problem})),
            None => (String::new(), json!({"enabled": true})),
        }
    });
    print(printer, &config, states.collect(), &kept)
}

async fn check(args: &ServersArgs, context: &Context) -> anyhow::Result<()> {
    let (global, printer) = (&context.global, &context.printer);
    let config = if args.names.is_empty() {
        all_servers(context, args.trust).await?.0
    } else {
        // Naming a server is consent to start it.
        let config = config::discover(global.config.as_deref(), &Environment::current())?;
        let is_named = |entry: &ServerEntry| args.names.iter().any(|name| name == entry.name.as_str());
        named(args, entered(config, is_named, context).await?)?
    };
    let options = ServerArgs { trace: args.trace.clone(), ..ServerArgs::default() };
    // A check does not ask anybody to sign in: it reports what each server requires.
    let mut questions = Questions::for_listing();
    questions.sign_in = SignInOptions::default();
    let session = CommandHost::new(config.clone(), &options, &questions, None, context)?;
    let checked = join_all(config.servers.iter().map(|entry| reach(&session, entry))).await;
    let mut failed = None;
    let states = checked.into_iter().map(|checked| match checked {
        Ok(state) => state,
        Err(error) => {
            let report = printer.masked(&error.report());
            let message = report.message.clone();
            let value = json!({"enabled": true, "error": report.to_json()["error"].take()});
            failed.get_or_insert(error);
            (message, value)
        }
    });
    let kept = of_names(args, kept::look(printer).await?);
    let shown = print(printer, &config, states.collect(), &kept);
    session.close().await;
    shown?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Those of the kept servers that were named.
fn of_names(args: &ServersArgs, mut kept: Vec<KeptServer>) -> Vec<KeptServer> {
    kept.retain(|found| args.names.is_empty() || args.names.contains(&found.standing.server));
    kept
}

/// The configuration with only the servers that were named.
fn named(args: &ServersArgs, mut config: Config) -> Result<Config, Error> {
    for name in &args.names {
        if config.entry(name).is_none() {
            config.server(name)?;
        }
    }
    if !args.names.is_empty() {
        config.servers.retain(|entry| args.names.iter().any(|name| name == entry.name.as_str()));
    }
    Ok(config)
}

async fn reach(session: &CommandHost, entry: &ServerEntry) -> Result<(String, Value), Error> {
    if !entry.enabled {
        return Ok(("disabled".to_owned(), json!({"enabled": false})));
    }
    let info = session.connect(entry.name.as_str()).await?.info();
    let who =
        [info.name(), info.version()].into_iter().flatten().map(|text| cut(text, NAME)).collect::<Vec<_>>().join(" ");
    let value = json!({
        "enabled": true, "protocol": info.revision.as_str(), "era": info.era().as_str(), "serverInfo": info.server,
        "capabilities": info.capabilities,
    });
    Ok((format!("{}, {}  {who}", info.revision, info.era().as_str()), value))
}

/// Which of two files an entry is from, and what it hides.
fn of_which_file(config: &Config, entry: &ServerEntry) -> Option<String> {
    let below = config.below.as_ref()?;
    let file = entry.file.as_ref()?;
    match &entry.hides {
        Some(hidden) => Some(format!("from {}, hides the one in {}", file.display(), hidden.display())),
        None if file == below => Some("your own".to_owned()),
        None => Some(format!("from {}", file.display())),
    }
}

fn print(printer: &Printer, config: &Config, states: Vec<(String, Value)>, kept: &[KeptServer]) -> anyhow::Result<()> {
    let sign_ins = SignIns::read();
    let mut rows = Vec::new();
    let mut servers = Map::new();
    for (entry, (mut state, value)) in config.servers.iter().zip(states) {
        let (kind, endpoint) = place(entry, &config.mask);
        let of_entry = |found: &&KeptServer| entry.server.as_ref().is_ok_and(|server| found.is_of(server));
        let own = kept.iter().find(of_entry);
        let parts = [
            Some(std::mem::take(&mut state)).filter(|state| !state.is_empty()),
            own.map(|own| kept::words(&own.standing)),
            of_which_file(config, entry),
        ];
        state = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let signed_in = sign_ins.of(entry);
        if let Some((words, _)) = &signed_in {
            let words = format!("signed in: {words}");
            state = if state.is_empty() { words } else { format!("{state}; {words}") };
        }
        rows.push([entry.name.as_str(), kind, &endpoint, &state].map(|text| safe_line(text).into_owned()).into());
        let mut object = json!({"kind": kind, "endpoint": endpoint, "file": entry.file, "line": entry.line});
        if let Some(hidden) = &entry.hides {
            object["hides"] = json!(hidden);
        }
        if !entry.asks.is_empty() {
            object["asks"] = json!(entry.asks);
        }
        if let (Value::Object(object), Value::Object(rest)) = (&mut object, value) {
            object.extend(rest);
            if let Some(own) = own {
                object.insert("kept".to_owned(), json!(own.standing));
            }
        }
        if let Some((_, known)) = signed_in {
            object["signedIn"] = known;
        }
        servers.insert(entry.name.to_string(), object);
    }
    let is_listed = |found: &KeptServer| {
        config.servers.iter().any(|entry| entry.server.as_ref().is_ok_and(|server| found.is_of(server)))
    };
    let others: Vec<&KeptServer> = kept.iter().filter(|found| !is_listed(found)).collect();
    for found in &others {
        let is_named = config.servers.iter().any(|entry| entry.name.as_str() == found.standing.server);
        let old = if is_named { ", as it was configured before or elsewhere" } else { "" };
        let state = format!("{}{old}", kept::words(&found.standing));
        let row =
            [&found.standing.server, "kept", &found.standing.place, &state].map(|text| safe_line(text).into_owned());
        rows.push(row.into());
    }
    let others: Vec<_> = others.into_iter().map(|found| &found.standing).collect();
    let path = config.path.as_ref().map(|path| path.display().to_string());
    printer.data("servers", &json!({"config": path, "servers": servers, "kept": others}), || table(&rows, ""))?;
    Ok(())
}
