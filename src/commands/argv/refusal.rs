//! Messages for a command line that cannot be parsed.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::commands::argv::{command_meant, commands_with, option_meant};
use crate::{
    config::{self, Environment},
    error::Error,
    output::Printer,
};

/// Prints what clap returned instead of a command: help and the version are output, everything else is a usage error.
pub(crate) fn help_or_usage(error: &clap::Error, grammar: &clap::Command, printer: &Printer) -> anyhow::Result<()> {
    let text = error.render().to_string();
    if !error.use_stderr() {
        return Ok(printer.stdout(&text)?);
    }
    if matches!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand) {
        let hint = Some("--help shows the commands".to_owned());
        return Err(Error::Usage { message: "COMMAND is missing".to_owned(), hint }.into());
    }
    let word = words(error, ContextKind::InvalidSubcommand).into_iter().next();
    if let Some(message) = word.and_then(|word| left_out(&word, HAS_HTTP)) {
        let hint = Some("a build with the feature `http` has it".to_owned());
        return Err(Error::Usage { message, hint }.into());
    }
    // `error: MESSAGE`, its continuation lines, and after an empty line `tip: …`, `Usage: …`, `For more information …`.
    let message = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let tips = || text.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    let similar = suggested(error).or_else(|| tips().next().map(tip));
    let hint = meant(error, grammar)
        .or_else(|| owners(error, grammar))
        .or(similar)
        .or_else(|| usage_line(error, &text))
        .unwrap_or_else(|| match error.kind() {
            ErrorKind::InvalidSubcommand => "`toolnexus help` lists the commands".to_owned(),
            _ => "--help shows the options".to_owned(),
        });
    let message = plain(error).unwrap_or_else(|| message.trim_start_matches("error: ").to_owned());
    Err(Error::Usage { message, hint: Some(hint) }.into())
}

/// Whether this build speaks HTTP.
const HAS_HTTP: bool = cfg!(feature = "http");

/// What is said of a command that only another build has.
fn left_out(word: &str, has_http: bool) -> Option<String> {
    let is_left_out = !has_http && matches!(word, "login" | "logout");
    is_left_out.then(|| {
        format!("this build connects only to local programs and has no sign-in, so there is no command {word:?}")
    })
}

/// The words of context that clap gives for `kind`.
fn words(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    }
}

/// A plainer message than clap's, if there is one.
fn plain(error: &clap::Error) -> Option<String> {
    let names = |kind| {
        let names = words(error, kind);
        (!names.is_empty()).then(|| names.join(", ").replace(['<', '>'], ""))
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            Some(format!("there is no command {:?}", names(ContextKind::InvalidSubcommand)?))
        }
        ErrorKind::MissingRequiredArgument => {
            let names = names(ContextKind::InvalidArg)?;
            Some(format!("{names} {} missing", if names.contains(", ") { "are" } else { "is" }))
        }
        ErrorKind::UnknownArgument => {
            let name = names(ContextKind::InvalidArg)?;
            Some(if name.starts_with('-') {
                format!("{name} is not an option here")
            } else {
                format!("{name:?} is one word too many")
            })
        }
        _ => None,
    }
}

/// The command or option with a similar name.
fn suggested(error: &clap::Error) -> Option<String> {
    let found = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg].map(|kind| words(error, kind)).concat();
    (!found.is_empty()).then(|| format!("did you mean {}?", found.join(" or ")))
}

/// One of clap's tips. Its advice about `--` does not apply here, where a server's command follows `--`.
fn tip(tip: &str) -> String {
    if tip.starts_with("to pass ") && tip.contains(" as a value, use '-- ") {
        "write arguments of the tool as key=value".to_owned()
    } else {
        tip.to_owned()
    }
}

/// What was probably meant by a word or an option of other programs.
fn meant(error: &clap::Error, grammar: &clap::Command) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = word(ContextKind::InvalidSubcommand)?;
            match command_meant(name) {
                Some(meant) => Some(format!("did you mean `toolnexus {meant}`?")),
                None => server_meant(name),
            }
        }
        ErrorKind::UnknownArgument => {
            let name = word(ContextKind::InvalidArg)?.strip_prefix("--")?;
            option_meant(grammar, "", name)
                .filter(|meant| meant == "-o json")
                .map(|meant| format!("{meant} prints JSON"))
        }
        _ => None,
    }
}

/// What to write if there is a server's name instead of a command.
fn server_meant(name: &str) -> Option<String> {
    let config = config::discover(None, &Environment::current()).ok()?;
    config.entry(name)?;
    let name = crate::output::shell_word(name);
    Some(format!("it is a server: `toolnexus call {name} TOOL` calls a tool, `toolnexus tools {name}` lists them"))
}

/// The usage of a command that got too few words.
fn usage_line(error: &clap::Error, text: &str) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let lines = text.lines().skip_while(|line| !line.trim_start().starts_with("Usage:"));
    let lines = lines
        .take_while(|line| !line.trim().is_empty())
        .map(|line| line.trim().trim_start_matches("Usage:").trim().replace("[OPTIONS] ", "").replace(['<', '>'], ""));
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join(", or "))
}

/// Which commands have the option that this one lacks.
fn owners(error: &clap::Error, grammar: &clap::Command) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let owners = commands_with(grammar, option);
    let (last, others) = owners.split_last().filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let names = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
    Some(format!("{option} is an option of {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_another_build_is_not_taken_for_a_slip() {
        let told = left_out("login", false).expect("a message");
        assert!(told.contains("has no sign-in") && told.contains("\"login\""), "{told}");
        assert!(left_out("logout", false).is_some());
        assert_eq!([left_out("login", true), left_out("logs", false)], [None, None]);
    }
}
