use std::mem::take;

use clap::Command;

/// The layout of a command's help: what it does, examples, and then everything else.
const LAYOUT: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// `command` and its subcommands, with the examples moved from the end of their help to the beginning.
pub(super) fn examples_first(mut command: Command) -> Command {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, others): (Vec<&str>, Vec<&str>) =
        after.split("\n\n").filter(|part| !part.is_empty()).partition(|part| part.starts_with("Examples:"));
    if !examples.is_empty() {
        let others = others.into_iter().map(on_one_line).collect::<Vec<_>>().join("\n\n");
        command = command.before_help(examples.join("\n\n")).after_help(others).help_template(LAYOUT);
    }
    for inner in command.get_subcommands_mut() {
        *inner = examples_first(take(inner));
    }
    command
}

/// Removes the line breaks of a paragraph, because clap wraps it to the width of the terminal; indented lines stay as
/// they are.
fn on_one_line(part: &str) -> String {
    if part.lines().any(|line| line.starts_with(' ')) { part.to_owned() } else { part.replace('\n', " ") }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn each(command: &mut Command, look: &mut impl FnMut(&mut Command)) {
        look(command);
        for inner in command.get_subcommands_mut().filter(|inner| !inner.is_hide_set()) {
            each(inner, look);
        }
    }

    #[test]
    fn every_help_begins_with_examples_that_name_the_command() {
        let mut grammar = examples_first(Cli::command());
        grammar.build();
        each(&mut grammar, &mut |command| {
            let (name, help) = (command.get_name().to_owned(), command.render_help().to_string());
            let (before, after) = help.split_once("\nUsage: ").unwrap_or_else(|| panic!("{name} has no usage: {help}"));
            assert!(before.contains("\n\nExamples:\n  toolnexus "), "{name}: {help}");
            assert!(before.matches("toolnexus").count() >= 1 && !after.contains("Examples:"), "{name}: {help}");
        });
    }

    #[test]
    fn the_text_around_the_examples_stays() {
        let command =
            Command::new("x").about("Does x").after_help("One\ntwo.\n\nExamples:\n  x a\n  x b\n\nCodes:\n   0  fine");
        let help = examples_first(command).render_help().to_string();
        assert!(help.starts_with("Does x\n\nExamples:\n  x a\n  x b\n\nUsage: x\n"), "{help}");
        assert!(help.ends_with("One two.\n\nCodes:\n   0  fine\n"), "{help}");
    }
}
