use std::{iter::Peekable, str::Chars};

use super::ArgumentError;

/// What a word's value is read from, if not from the word itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// The file of this name.
    File(&'a str),
    /// Standard input.
    Stdin,
}

impl<'a> Source<'a> {
    /// The source that is named after an `@`.
    pub(super) fn named(name: &'a str) -> Self {
        if name == "-" { Self::Stdin } else { Self::File(name) }
    }

    pub(super) fn name(self) -> &'a str {
        match self {
            Self::File(name) => name,
            Self::Stdin => "stdin",
        }
    }
}

/// One word of the command line, taken apart.
#[derive(Debug, PartialEq)]
pub(super) struct Word<'a> {
    /// The part before `=` or `:=`, as written.
    pub(super) key: &'a str,
    /// Whether the value is JSON whatever the schema says (`:=`).
    pub(super) json: bool,
    pub(super) value: Written<'a>,
}

/// The value of a word, as written.
#[derive(Debug, PartialEq)]
pub(super) enum Written<'a> {
    Here(&'a str),
    From(Source<'a>),
}

/// The value of a word, read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WordValue {
    Text(String),
    /// What is in a file.
    Bytes(Vec<u8>),
}

impl WordValue {
    /// The text, if it is text.
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        }
    }
}

impl<'a> Word<'a> {
    /// `key=text`, `key:=json`, `key=@file`, `key:=@file`, `key=@-`; `key=@@x` is the text `@x`. Split at the first `=`
    /// without `\\` before it; `\\:` before it belongs to the name.
    pub(super) fn split(word: &'a str) -> Result<Self, ArgumentError> {
        let no_argument = || ArgumentError::NoArgument(word.to_owned());
        let at = word.match_indices('=').map(|(at, _)| at).find(|at| !word[..*at].ends_with('\\'));
        let (left, right) = at.map(|at| (&word[..at], &word[at + 1..])).ok_or_else(no_argument)?;
        let (key, json) = match left.strip_suffix(':') {
            Some(key) if !key.ends_with('\\') => (key, true),
            _ => (left, false),
        };
        if key.is_empty() {
            return Err(no_argument());
        }
        let value = match right.strip_prefix('@') {
            Some(text) if text.starts_with('@') && !json => Written::Here(text),
            Some(name) => Written::From(Source::named(name)),
            None => Written::Here(right),
        };
        Ok(Self { key, json, value })
    }
}

/// The steps of the path `a.b` or `a[0].b`; `\.` is a dot, `\\` a backslash; `\:` and `\=` stand for themselves at the
/// end of a name. Brackets around anything but a number belong to the name.
pub(super) fn steps(key: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let mut characters = key.chars().peekable();
    let mut before = '.';
    while let Some(c) = characters.next() {
        let previous = std::mem::replace(&mut before, c);
        let literal = match c {
            '[' if previous != '.' => match index(characters.clone()) {
                Some(index) => {
                    characters.nth(index.len());
                    before = ']';
                    steps.push(index);
                    continue;
                }
                None => c,
            },
            '.' => {
                steps.push(String::new());
                continue;
            }
            '\\' => characters.next_if(|next| matches!(next, '.' | '\\' | ':' | '=')).unwrap_or('\\'),
            c => c,
        };
        if let Some(step) = steps.last_mut() {
            step.push(literal);
        }
    }
    steps
}

/// The number in the leading brackets, if the end, a dot, or more brackets follow.
fn index(characters: Peekable<Chars<'_>>) -> Option<String> {
    let rest: String = characters.collect();
    let (index, behind) = rest.split_once(']')?;
    let is_number = !index.is_empty() && index.chars().all(|c| c.is_ascii_digit());
    (is_number && (behind.is_empty() || behind.starts_with(['.', '[']))).then(|| index.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_the_first_equals_sign() {
        let split = |word| Word::split(word).expect("a word");
        assert_eq!(split("q=a=b"), Word { key: "q", json: false, value: Written::Here("a=b") });
        assert_eq!(split("q:=[1]"), Word { key: "q", json: true, value: Written::Here("[1]") });
        assert_eq!(split("q=:=1"), Word { key: "q", json: false, value: Written::Here(":=1") });
        assert_eq!(split("q="), Word { key: "q", json: false, value: Written::Here("") });
        assert_eq!(split("q=@a b"), Word { key: "q", json: false, value: Written::From(Source::File("a b")) });
        assert_eq!(split("q:=@-"), Word { key: "q", json: true, value: Written::From(Source::Stdin) });
        assert_eq!(split("q=@@me"), Word { key: "q", json: false, value: Written::Here("@me") });
        assert_eq!(split(r"q\:=1"), Word { key: r"q\:", json: false, value: Written::Here("1") });
        assert_eq!(split(r"q\::=1"), Word { key: r"q\:", json: true, value: Written::Here("1") });
        assert_eq!(split(r"a\=b=1"), Word { key: r"a\=b", json: false, value: Written::Here("1") });
        for word in ["q", "=x", ":=1", ""] {
            assert!(Word::split(word).is_err(), "{word}");
        }
    }

    #[test]
    fn dots_are_steps_unless_escaped() {
        assert_eq!(steps("a.b.c"), ["a", "b", "c"]);
        assert_eq!(steps(r"a\.b.c\\"), ["a.b", r"c\"]);
        assert_eq!(steps(r"a\b"), [r"a\b"]);
        assert_eq!(steps("items[0].name"), ["items", "0", "name"]);
        assert_eq!(steps("a[1][20]"), ["a", "1", "20"]);
        for name in ["a[]", "a[x]", "[0]", "a[0]b", "a[0", "a.[0]"] {
            assert_eq!(steps(name).concat(), name.replace('.', ""), "{name}");
        }
        assert_eq!(steps(r"a\:.b\=c"), ["a:", "b=c"]);
    }
}
