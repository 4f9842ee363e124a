use std::ffi::OsString;

use clap::CommandFactory;

use super::Cli;
use crate::{
    commands::argv::{MARK, guess_output, mark_tool_options, subcommand_first, tool_option, unmarked},
    output::OutputMode,
};

#[test]
fn the_grammar_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn the_mode_is_found_in_words_that_do_not_parse() {
    let guess = |words: &[&str]| guess_output(&words.iter().map(OsString::from).collect::<Vec<_>>());
    assert_eq!(guess(&["call", "-o", "json", "--nonsense"]), OutputMode::Json);
    assert_eq!(guess(&["--output=events", "cal"]), OutputMode::Events);
    assert_eq!(guess(&["call", "-ojson"]), OutputMode::Json);
    assert_eq!(guess(&["call", "-qojson", "--nonsense"]), OutputMode::Json);
    assert_eq!(guess(&["-vo", "json", "cal"]), OutputMode::Json);
    assert_eq!(guess(&["call", "--", "x", "-o", "json"]), OutputMode::Text);
}

fn ordered(words: &str) -> String {
    let words = std::iter::once("toolnexus").chain(words.split(' ')).map(OsString::from).collect();
    let ordered = subcommand_first(words, &Cli::command());
    ordered[1..].iter().map(|word| word.to_str().expect("UTF-8")).collect::<Vec<_>>().join(" ")
}

#[test]
fn options_move_behind_the_subcommand() {
    assert_eq!(ordered("--protocol 2025-11-25 call py book"), "call --protocol 2025-11-25 py book");
    assert_eq!(ordered("-o json --quiet tools x"), "tools -o json --quiet x");
    assert_eq!(ordered("-qojson --answer=a=call call s t"), "call -qojson --answer=a=call s t");
    assert_eq!(ordered("-vo json --answers call call s t -- x"), "call -vo json --answers call s t -- x");
}

#[test]
fn everything_else_stays() {
    for words in ["call -q s t", "--nonsense call s t", "-- call", "--config", "-V", "cal --answers x"] {
        assert_eq!(ordered(words), words);
    }
}

fn marked(words: &str) -> String {
    let words = std::iter::once("toolnexus").chain(words.split(' ')).map(OsString::from).collect();
    let marked = mark_tool_options(words, &Cli::command());
    marked[1..].iter().map(|word| word.to_str().expect("UTF-8").replace(MARK, "*")).collect::<Vec<_>>().join(" ")
}

#[test]
fn options_behind_the_tool_are_the_tools_unless_they_are_ours() {
    for (words, expected) in [
        ("call s t --query rust --limit=10 --deep", "call s t *--query rust *--limit=10 *--deep"),
        ("call s t -o json --query -5 -q", "call s t -o json *--query *-5 -q"),
        ("call -o json s --query t", "call -o json s --query t"),
        ("call t --query rust -- npx -y x --query", "call t *--query rust -- npx -y x --query"),
        ("call s t --answer a=b c=d --args {}", "call s t --answer a=b c=d --args {}"),
        ("tools s --query", "tools s --query"),
    ] {
        assert_eq!(marked(words), expected);
    }
}

#[test]
fn help_behind_the_tool_is_its_page() {
    assert_eq!(marked("call -o json s t a=b --query x --help"), "tools -o json s t");
    assert_eq!(marked("call t -h --answers f -- npx x"), "tools t -- npx x");
    assert_eq!(marked("call s --help"), "call s --help");
}

#[test]
fn marks_come_off() {
    assert_eq!(tool_option("\u{1}--query=x"), Some("query=x"));
    assert_eq!((tool_option("--query"), tool_option("\u{1}-5"), unmarked("\u{1}-5")), (None, None, "-5"));
}
