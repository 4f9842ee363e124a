//! `toolnexus servers --discover`: the servers of other clients.

use serde_json::{Value, json};

use crate::commands::{context::Context, server::select::place};
use crate::{
    config::{self, Config, ConfigError, Environment, ForeignFile, ForeignServer, known_files},
    output::table,
    text::safe_line,
};

/// The client that the file belongs to, for people.
pub(crate) fn of(file: &ForeignFile) -> String {
    file.client.map_or_else(|| file.path.display().to_string(), |client| client.title().to_owned())
}

/// Prints the servers that were found. Nothing is started, and no value of a variable or header is shown.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) fn run(names: &[String], context: &Context) -> anyhow::Result<()> {
    let environment = Environment::current();
    let ours = config::discover(context.global.config.as_deref(), &environment).ok();
    let mut text = String::new();
    let mut found = Vec::new();
    for file in known_files(None, &environment) {
        if let Some(fault) = &file.fault {
            context.printer.warning(&fault.to_string())?;
            continue;
        }
        let mut rows = Vec::new();
        let is_meant = |name: &String| names.is_empty() || names.contains(name);
        for server in file.servers.iter().filter(|server| is_meant(&server.name)) {
            let (row, value) = shown(&file, server, ours.as_ref(), &environment);
            rows.push(row);
            found.push(value);
        }
        for left in file.left.iter().filter(|left| is_meant(&left.name)) {
            let line = format!("line {}", left.line);
            let name = safe_line(&left.name).into_owned();
            rows.push(vec![name, "-".to_owned(), format!("cannot be used: {}", left.reason), line]);
        }
        if !rows.is_empty() {
            let head = format!("{}  {}", of(&file), file.path.display());
            text.push_str(&format!(
                "{}{}\n{}",
                if text.is_empty() { "" } else { "\n" },
                safe_line(&head),
                table(&rows, "  ")
            ));
        }
    }
    if text.is_empty() {
        text.push_str("no servers of other clients were found\n");
    } else {
        text.push_str("\n`toolnexus import CLIENT [NAME]...` copies them to your own file\n");
    }
    Ok(context.printer.data("discovered", &json!({"found": found}), || text)?)
}

fn shown(
    file: &ForeignFile,
    server: &ForeignServer,
    ours: Option<&Config>,
    environment: &Environment,
) -> (Vec<String>, Value) {
    let value = json!({"mcpServers": {&server.name: server.entry}});
    let in_its_place = |keeps_unset: bool| {
        let folder = server.folder.clone();
        let environment = Environment { folder, keeps_unset, ..environment.clone() };
        config::parse_value(&value, &environment).ok()
    };
    let read = in_its_place(true);
    let entry = read.as_ref().and_then(|config| Some((config, config.servers.first()?)));
    let (kind, endpoint) = entry.map_or(("invalid", String::new()), |(config, entry)| place(entry, &config.mask));
    let problem = in_its_place(false).and_then(|config| match &config.servers.first()?.server {
        Ok(_) => None,
        Err(ConfigError::Variable { reason, .. } | ConfigError::Wrong { reason, .. }) => {
            Some(reason.split_once("\": ").map_or(reason.as_str(), |(_, reason)| reason).to_owned())
        }
        Err(error) => Some(error.to_string()),
    });
    let asks = entry.is_some_and(|(_, entry)| !entry.asks.is_empty());
    let problem = problem.filter(|_| !asks);
    let enabled = entry.is_none_or(|(_, entry)| entry.enabled);
    let configured = ours.and_then(|ours| ours.entry(&server.name)).is_some();
    let mut state = vec![format!("line {}", server.line), server.reach.word().to_owned()];
    state.extend((!enabled).then(|| "disabled".to_owned()));
    state.extend(configured.then(|| "in your configuration".to_owned()));
    state.extend(asks.then(|| "asks for something".to_owned()));
    state.extend(problem.clone());
    let row = [server.name.as_str(), kind, &endpoint, &state.join(", ")].map(|text| safe_line(text).into_owned());
    let value = json!({
        "client": file.client.map(config::OtherClient::word), "file": file.path, "line": server.line, "scope": server.reach.word(),
        "name": server.name, "kind": kind, "endpoint": endpoint, "enabled": enabled, "configured": configured,
        "problem": problem, "notes": server.notes,
    });
    (row.into(), value)
}
