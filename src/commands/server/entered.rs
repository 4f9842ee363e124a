use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::commands::context::Context;
use crate::{
    config::{self, Config, ConfigInput, Environment, ServerEntry},
    error::Error,
    form::Form,
    terminal::{Filled, Terminal},
    text::safe_line,
};

/// Reads the configuration again, with a person's values for the `inputs` of those of its servers for which `is_meant`
/// is true. If there are no inputs, or there is nobody to ask, it stays as it is: a server that lacks a value reports
/// that itself.
///
/// # Errors
/// If the person cancels, or the file cannot be read again.
pub(crate) async fn entered(
    config: Config,
    is_meant: impl Fn(&ServerEntry) -> bool,
    context: &Context,
) -> anyhow::Result<Config> {
    let wanted = wanted(&config, is_meant);
    if wanted.is_empty() {
        return Ok(config);
    }
    let Some(terminal) = Terminal::open(false) else { return Ok(config) };
    let (form, title) = question(&wanted);
    let signals = context.signals()?;
    let filled = terminal.fill_for_us(&form, &title, signals.stop.clone()).await;
    if let Some(error) = signals.error() {
        return Err(error.into());
    }
    let values = match filled {
        Filled::Accept(values) => values,
        Filled::Impossible(_) => return Ok(config),
        Filled::Decline | Filled::Cancel | Filled::Withdrawn => return Err(Error::Interrupted.into()),
    };
    let mut environment = Environment::current();
    for (key, (input, _)) in keys(&wanted).into_iter().zip(wanted) {
        let value = values.get(&key).and_then(Value::as_str).unwrap_or_default();
        environment.inputs.insert((input.file, input.id), value.to_owned());
    }
    Ok(config::discover(context.global.config.as_deref(), &environment)?)
}

/// Reads the configuration again, with `${input:ID}` left as it is: for display, not for use.
///
/// # Errors
/// If the file cannot be read again.
pub(crate) fn as_written(config: Config, context: &Context) -> anyhow::Result<Config> {
    let wanted = wanted(&config, |_| true);
    if wanted.is_empty() {
        return Ok(config);
    }
    let mut environment = Environment::current();
    for (input, _) in wanted {
        let shown = format!("${{input:{}}}", input.id);
        environment.inputs.insert((input.file, input.id), shown);
    }
    Ok(config::discover(context.global.config.as_deref(), &environment)?)
}

/// The inputs, each once, with the servers that need them.
fn wanted(config: &Config, is_meant: impl Fn(&ServerEntry) -> bool) -> Vec<(ConfigInput, Vec<String>)> {
    let mut wanted: Vec<(ConfigInput, Vec<String>)> = Vec::new();
    let known: HashMap<_, _> = config.inputs.iter().map(|input| ((&input.file, input.id.as_str()), input)).collect();
    for entry in config.servers.iter().filter(|entry| entry.enabled && is_meant(entry)) {
        let file = entry.file.clone().unwrap_or_default();
        for id in &entry.asks {
            let same = wanted.iter_mut().find(|(input, _)| input.file == file && input.id == *id);
            if let Some((_, servers)) = same {
                servers.push(entry.name.to_string());
                continue;
            }
            let input = known.get(&(&file, id.as_str())).map(|input| (*input).clone());
            let input = input.unwrap_or_else(|| ConfigInput::unknown(file.clone(), id.clone()));
            wanted.push((input, vec![entry.name.to_string()]));
        }
    }
    wanted
}

/// The keys of the fields: two files may have an input with the same id.
fn keys(wanted: &[(ConfigInput, Vec<String>)]) -> Vec<String> {
    let key = |(index, (input, _)): (usize, &(ConfigInput, Vec<String>))| {
        let before = wanted[..index].iter().filter(|(other, _)| other.id == input.id).count();
        if before == 0 { input.id.clone() } else { format!("{} ({})", input.id, before + 1) }
    };
    wanted.iter().enumerate().map(key).collect()
}

/// A form with a field for each.
fn question(wanted: &[(ConfigInput, Vec<String>)]) -> (Form, String) {
    let mut properties = Map::new();
    let mut all: Vec<&str> = wanted.iter().flat_map(|(_, servers)| servers.iter().map(String::as_str)).collect();
    all.sort_unstable();
    all.dedup();
    for (key, (input, servers)) in keys(wanted).into_iter().zip(wanted) {
        let mut field = json!({"type": "string", "title": input.id, "minLength": 1});
        let about = input.description.clone().unwrap_or_default();
        let about = if all.len() > 1 { format!("{about}\nfor {}", servers.join(", ")) } else { about };
        field["description"] = json!(about.trim());
        if let Some(default) = &input.default {
            field["default"] = json!(default);
        }
        if !input.options.is_empty() {
            field["enum"] = json!(input.options);
        } else if input.is_password {
            field["format"] = json!("password");
        }
        properties.insert(key, field);
    }
    let required: Vec<&String> = properties.keys().collect();
    let form = Form::from_schema(&json!({"type": "object", "properties": properties, "required": required}));
    let title = match all.as_slice() {
        [one] => format!("{one} needs"),
        _ => "servers need".to_owned(),
    };
    (form, safe_line(&title).into_owned())
}
