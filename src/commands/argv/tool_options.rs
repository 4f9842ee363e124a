//! `toolnexus call SERVER TOOL --query rust --deep`: options after TOOL that are not ours are the tool's arguments.

use std::ffi::{OsStr, OsString};

use clap::Command;

use super::{Shape, option};

/// Marks a word that clap must not parse as an option. No word of a command line can begin with this character.
pub(crate) const MARK: char = '\u{1}';

/// `words` of a `call`, with the program's name and `call` first: a word after TOOL that looks like an option but is
/// not one of ours is marked as the tool's, and `--help` there shows the tool's page.
pub(crate) fn mark_tool_options(words: Vec<OsString>, grammar: &Command) -> Vec<OsString> {
    let Some(call) = grammar.find_subcommand("call").filter(|_| words.get(1).is_some_and(|word| word == "call")) else {
        return words;
    };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    // A COMMAND after `--` takes SERVER's place.
    let names = if end < words.len() { 1 } else { 2 };
    let mut marked = words[..2].to_vec();
    let mut page = vec![words[0].clone(), "tools".into()];
    let (mut positionals, mut at, mut wants_page) = (0, 2, false);
    while at < end {
        let word = &words[at];
        let text = word.to_str().unwrap_or_default();
        let shape = Shape::of(word, grammar);
        let is_option = text.starts_with('-') && text.len() > 1;
        let is_ours = is_option && is_known(call, grammar, text);
        if positionals >= names && matches!(text, "--help" | "-h") {
            wants_page = true;
        } else if is_ours {
            let count = if matches!(shape, Shape::TakesNext) { 2 } else { 1 };
            let option = &words[at..(at + count).min(end)];
            marked.extend_from_slice(option);
            if grammar.find_subcommand("tools").is_some_and(|tools| is_known(tools, grammar, text)) {
                page.extend_from_slice(option);
            }
            at += count;
            continue;
        } else if positionals >= names && is_option && is_the_tools(text) {
            marked.push(with_mark(word));
        } else {
            if !is_option {
                positionals += 1;
                if positionals <= names {
                    page.push(word.clone());
                }
            }
            marked.push(word.clone());
        }
        at += 1;
    }
    let chosen = if wants_page { &mut page } else { &mut marked };
    chosen.extend_from_slice(&words[end..]);
    std::mem::take(chosen)
}

/// The option in `word`, without its mark, if it belongs to the tool.
pub(crate) fn tool_option(word: &str) -> Option<&str> {
    word.strip_prefix(MARK)?.strip_prefix("--")
}

/// `word` without its mark, if it has one.
pub(crate) fn unmarked(word: &str) -> &str {
    word.strip_prefix(MARK).unwrap_or(word)
}

fn with_mark(word: &OsStr) -> OsString {
    let mut marked = OsString::from(MARK.to_string());
    marked.push(word);
    marked
}

/// Whether a word that is not one of our options may belong to the tool: `--name`, or a number below 0.
fn is_the_tools(text: &str) -> bool {
    match text.strip_prefix("--") {
        Some(name) => name.starts_with(|c: char| c.is_alphanumeric()),
        None => text[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.'),
    }
}

/// Whether the option `text` belongs to `command`, or to every command.
fn is_known(command: &Command, grammar: &Command, text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    if let Some(long) = name.strip_prefix("--") {
        let own = [command, grammar].into_iter().flat_map(Command::get_arguments);
        return own.into_iter().any(|arg| arg.get_long() == Some(long));
    }
    let first = text[1..].chars().next();
    first.is_some_and(|letter| {
        [command, grammar].into_iter().flat_map(Command::get_arguments).any(|arg| arg.get_short() == Some(letter))
    }) && option(grammar, |arg| arg.get_short() == first).is_some()
}
