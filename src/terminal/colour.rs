use std::{
    env,
    sync::atomic::{AtomicU8, Ordering},
};

use clap::ValueEnum;

/// When text is coloured: `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[repr(u8)]
pub enum Colour {
    /// At terminals, unless `NO_COLOR` is set; elsewhere if `CLICOLOR_FORCE` is
    #[default]
    Auto = 0,
    /// Always
    Always = 1,
    /// Never
    Never = 2,
}

/// The choice on the command line. A run has one terminal, and all output to it is treated alike.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// Sets the choice of the command line.
pub fn choose_colour(colour: Colour) {
    CHOSEN.store(colour as u8, Ordering::Relaxed);
}

/// Whether text is coloured, for a stream that may be a terminal.
pub fn is_coloured(is_terminal: bool) -> bool {
    let chosen = match CHOSEN.load(Ordering::Relaxed) {
        1 => Colour::Always,
        2 => Colour::Never,
        _ => Colour::Auto,
    };
    decide(chosen, |name| env::var_os(name).map(|value| value.to_string_lossy().into_owned()), is_terminal)
}

/// The choice, then `NO_COLOR` (<https://no-color.org>), then `CLICOLOR_FORCE` (<https://bixense.com/clicolors>), then
/// the stream.
fn decide(chosen: Colour, variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    match chosen {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if is_set("NO_COLOR") => false,
        Colour::Auto if is_set("CLICOLOR_FORCE") && variable("CLICOLOR_FORCE").as_deref() != Some("0") => true,
        Colour::Auto => is_terminal && variable("TERM").is_some_and(|term| !term.is_empty() && term != "dumb"),
    }
}

/// Colours the first word of one of our own lines according to its kind; everything else is unchanged.
pub fn painted(text: &str, is_terminal: bool) -> String {
    if !is_coloured(is_terminal) {
        return text.to_owned();
    }
    let kinds =
        [("error:", "\u{1b}[1;31m"), ("warning:", "\u{1b}[33m"), ("note:", "\u{1b}[36m"), ("hint:", "\u{1b}[36m")];
    let paint = |line: &str| {
        let kind = kinds.iter().find(|(word, _)| line.starts_with(word));
        kind.map_or_else(|| line.to_owned(), |(word, ink)| format!("{ink}{word}\u{1b}[0m{}", &line[word.len()..]))
    };
    text.split_inclusive('\n').map(paint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_comes_before_the_environment() {
        let decided = |colour: Colour, set: &[(&str, &str)], is_terminal: bool| {
            let variable = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            decide(colour, variable, is_terminal)
        };
        let term = ("TERM", "xterm");
        assert!(decided(Colour::Auto, &[term], true) && !decided(Colour::Auto, &[term], false));
        assert!(!decided(Colour::Auto, &[("TERM", "dumb")], true) && !decided(Colour::Auto, &[], true));
        assert!(
            !decided(Colour::Auto, &[term, ("NO_COLOR", "1")], true)
                && decided(Colour::Auto, &[term, ("NO_COLOR", "")], true)
        );
        assert!(
            decided(Colour::Auto, &[("CLICOLOR_FORCE", "1")], false)
                && !decided(Colour::Auto, &[("CLICOLOR_FORCE", "0")], false)
        );
        assert!(!decided(Colour::Auto, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true));
        assert!(
            decided(Colour::Always, &[("NO_COLOR", "1")], false)
                && !decided(Colour::Never, &[term, ("CLICOLOR_FORCE", "1")], true)
        );
    }
}
