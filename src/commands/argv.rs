//! Prepares the words of a command line for clap.
//!
//! Options may come before the subcommand, too: `toolnexus -o json --answers a.json call forms greet`.

use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgMatches, Command, ValueEnum as _};

use crate::output::OutputMode;

pub(crate) mod refusal;
pub(crate) mod slips;
mod tool_options;

#[cfg(test)]
pub(crate) use tool_options::MARK;
pub(crate) use tool_options::{mark_tool_options, tool_option, unmarked};

/// The words of a command line, the program's name first, in the order that `grammar` understands.
pub(crate) fn read_words(words: Vec<OsString>, grammar: &mut Command) -> Result<ArgMatches, clap::Error> {
    let words = mark_tool_options(subcommand_first(help_as_option(words), grammar), grammar);
    grammar.try_get_matches_from_mut(words)
}

/// `words`, the program's name first, with the options before the subcommand moved after it, where the subcommand
/// accepts its own options and refuses others by name. Options of `grammar` itself (`--help`, `--version`) and unknown
/// ones stay where they are.
pub(crate) fn subcommand_first(words: Vec<OsString>, grammar: &Command) -> Vec<OsString> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match Shape::of(word, grammar) {
            Shape::Alone => at += 1,
            Shape::TakesNext => at += 2,
            Shape::Subcommand if at > 1 => {
                let mut ordered = vec![words[0].clone(), words[at].clone()];
                ordered.extend_from_slice(&words[1..at]);
                ordered.extend_from_slice(&words[at + 1..]);
                return ordered;
            }
            Shape::Subcommand | Shape::Other => break,
        }
    }
    words
}

/// `help COMMAND` as `COMMAND --help`, and `help` alone as `--help`.
fn help_as_option(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.truncate(2);
        words.push("--help".into());
    }
    words
}

/// What to write instead, if COMMAND is a word that other programs use.
pub(crate) fn command_meant(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "list" | "ls" | "tool" | "list-tools" | "tools/list" | "describe" | "inspect" => "tools",
        "run" | "exec" | "execute" | "invoke" | "call-tool" | "tools/call" => "call",
        "server" | "config" | "status" | "list-servers" => "servers",
        "discover" | "find" => "servers --discover",
        "install" | "add-server" => "add",
        "rm" | "delete" | "uninstall" | "remove-server" => "remove",
        "auth" | "signin" | "sign-in" => "login",
        "repl" | "interactive" | "connect" => "shell",
        "check" | "diagnose" | "health" => "doctor",
        "version" => "--version",
        "stop" => "down",
        "start" => "up",
        _ => return None,
    })
}

/// What to write instead, if an option is not ours, but similar to one of ours, or the name that other programs use for
/// it.
pub(crate) fn option_meant(grammar: &Command, command: &str, name: &str) -> Option<String> {
    if matches!(name, "json" | "format" | "raw") {
        return Some("-o json".to_owned());
    }
    let own = grammar.find_subcommand(command).into_iter().chain(std::iter::once(grammar));
    let names: Vec<&str> = own.flat_map(Command::get_arguments).filter_map(Arg::get_long).collect();
    crate::form::nearest(name, names.into_iter()).map(|near| format!("--{near}"))
}

/// The kind of a word before the subcommand.
enum Shape {
    /// A complete option.
    Alone,
    /// An option whose value is the next word.
    TakesNext,
    Subcommand,
    Other,
}

impl Shape {
    fn of(word: &OsStr, grammar: &Command) -> Self {
        let Some(word) = word.to_str() else { return Self::Other };
        if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            return match option(grammar, |arg| arg.get_long() == Some(name)) {
                Some(arg) if value.is_none() && arg.get_action().takes_values() && !arg.is_require_equals_set() => {
                    Self::TakesNext
                }
                Some(_) => Self::Alone,
                None => Self::Other,
            };
        }
        if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            for (index, letter) in letters.char_indices() {
                match option(grammar, |arg| arg.get_short() == Some(letter)) {
                    Some(arg) if arg.get_action().takes_values() => {
                        let is_last = index + letter.len_utf8() == letters.len();
                        return if is_last { Self::TakesNext } else { Self::Alone };
                    }
                    Some(_) => {}
                    None => return Self::Other,
                }
            }
            return Self::Alone;
        }
        if grammar.find_subcommand(word).is_some() { Self::Subcommand } else { Self::Other }
    }
}

/// The option, of the program or of one of its subcommands, for which `is_it` is true.
fn option(grammar: &Command, is_it: impl Fn(&Arg) -> bool) -> Option<&Arg> {
    let commands = std::iter::once(grammar).chain(grammar.get_subcommands());
    commands.flat_map(Command::get_arguments).find(|arg| is_it(arg))
}

/// The subcommands that have the option `word`.
pub(crate) fn commands_with(grammar: &Command, word: &str) -> Vec<String> {
    let is_it = |arg: &Arg| {
        let long = word.strip_prefix("--").is_some_and(|long| arg.get_long() == Some(long));
        long || word.strip_prefix('-').is_some_and(|short| arg.get_short().is_some_and(|it| it.to_string() == short))
    };
    let takes = |command: &&Command| command.get_arguments().any(is_it);
    grammar.get_subcommands().filter(takes).map(|command| command.get_name().to_owned()).collect()
}

/// The output mode that `words` ask for; needed for errors in the words themselves, when clap cannot parse them.
pub(crate) fn guess_output(words: &[OsString]) -> OutputMode {
    let words: Vec<&str> = words.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let after = |index: usize| words.get(index + 1).copied();
    let found = words.iter().enumerate().find_map(|(index, word)| {
        if let Some(value) = word.strip_prefix("--output") {
            return value.strip_prefix('=').or_else(|| after(index).filter(|_| value.is_empty()));
        }
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        // It may be combined with switches: `-qojson`.
        let value = letters.trim_start_matches(['q', 'v', 'h', 'V']).strip_prefix('o')?;
        if value.is_empty() { after(index) } else { Some(value.trim_start_matches('=')) }
    });
    found.and_then(|value| OutputMode::from_str(value, false).ok()).unwrap_or_default()
}
