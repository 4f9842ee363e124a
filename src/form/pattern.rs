use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

use fancy_regex::{Regex, RegexBuilder};

use super::ecma;

/// The number of steps after which a backtracking match is given up.
const BACKTRACK_LIMIT: usize = 200_000;
/// The size limit of a compiled pattern, in bytes.
const SIZE_LIMIT: usize = 1 << 20;
/// The limit of instructions in a compiled pattern.
const PROGRAM_LIMIT: usize = 100_000;
/// How many compiled patterns are kept between forms: a server's questions are often alike.
const KEPT: usize = 16;
/// The largest pattern that is compiled at all, as counted by [`size`].
const LARGEST: u64 = 30_000;
/// The memory limit for matching a pattern, in bytes.
const DFA_LIMIT: usize = 1 << 17;
/// What a search that goes back and forth counts, beside the length of the text.
const BACK_AND_FORTH: u64 = 2_000;
/// The most steps of one search, as [`steps`] counts.
const LONGEST_SEARCH: u64 = 20_000;

/// `pattern`: an ECMA-262 regular expression, which may match anywhere in the text.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    /// `None` if it cannot be checked here.
    regex: Option<Arc<Regex>>,
}

impl Pattern {
    /// Compiles the pattern `source`. If that is not possible, it matches everything.
    pub fn new(source: &str) -> Self {
        Self { source: source.to_owned(), regex: compile(source) }
    }

    /// The pattern `source`, not compiled; it matches everything.
    pub(super) fn unchecked(source: &str) -> Self {
        Self { source: source.to_owned(), regex: None }
    }

    /// The pattern as the server sent it, not yet safe for a terminal.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether text can be checked against it.
    pub fn is_checked(&self) -> bool {
        self.regex.is_some()
    }

    /// About how many steps it takes to search `text`.
    pub(super) fn steps(&self, text: &str) -> u64 {
        if self.regex.is_some() { steps(&self.source, text.len()) } else { 0 }
    }

    /// Whether `text` matches. If that cannot be checked, or not within the limits, it counts as a match, and the
    /// server decides.
    pub fn fits(&self, text: &str) -> bool {
        let Some(regex) = &self.regex else { return true };
        if self.steps(text) > LONGEST_SEARCH {
            return true;
        }
        // Some patterns have made the engine panic; a server's pattern must not end the program.
        catch_unwind(AssertUnwindSafe(|| regex.is_match(text).unwrap_or(true))).unwrap_or(true)
    }
}

/// Patterns are equal if their sources are.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.source).finish()
    }
}

/// The approximate number of states of the pattern `source`, with its repetitions expanded.
pub(crate) fn size(source: &str) -> u64 {
    let mut open: Vec<u64> = Vec::new();
    let (mut total, mut last) = (0u64, 0u64);
    let mut characters = source.char_indices();
    let mut in_class = false;
    while let Some((at, c)) = characters.next() {
        let atom = match c {
            ']' if in_class => {
                in_class = false;
                continue;
            }
            _ if in_class => {
                let escape = (c == '\\').then(|| characters.next()).flatten();
                // A property means a long list of ranges.
                let more = if escape.is_some_and(|(_, c)| matches!(c, 'p' | 'P')) { 300 } else { 1 };
                last += more;
                total = total.saturating_add(more);
                continue;
            }
            '[' => {
                in_class = true;
                1
            }
            '(' => {
                open.push(total);
                total = 0;
                continue;
            }
            ')' => {
                last = total + 1;
                total = open.pop().unwrap_or(0).saturating_add(last);
                continue;
            }
            '{' => {
                let count = source[at + 1..].split('}').next().unwrap_or_default().split(',');
                let times = count.filter_map(|number| number.trim().parse::<u64>().ok()).max().unwrap_or(1).max(1);
                let whole = last.saturating_mul(times);
                total = total.saturating_sub(last).saturating_add(whole);
                last = whole;
                continue;
            }
            '\\' => match characters.next() {
                Some((_, 'p' | 'P')) => 300,
                _ => 1,
            },
            _ => 1,
        };
        last = atom;
        total = total.saturating_add(atom);
    }
    open.into_iter().fold(total, u64::saturating_add)
}

/// The approximate number of steps for searching the pattern `source` in a text of `length` bytes.
pub(super) fn steps(source: &str, length: usize) -> u64 {
    let length = length as u64;
    1 + back_and_forth(source) + length / 16 + length.saturating_mul(size(source)) / 2_000
}

/// What each search for the pattern `source` costs however short the text is, where it goes back and forth; else nothing.
pub(super) fn back_and_forth(source: &str) -> u64 {
    let goes_back = ["(?=", "(?!", "(?<", "\\k"].iter().any(|part| source.contains(part))
        || source.as_bytes().windows(2).any(|two| two[0] == b'\\' && matches!(two[1], b'1'..=b'9'));
    if goes_back { BACK_AND_FORTH } else { 0 }
}

fn compile(source: &str) -> Option<Arc<Regex>> {
    static COMPILED: Mutex<VecDeque<(String, Option<Arc<Regex>>)>> = Mutex::new(VecDeque::new());
    if size(source) > LARGEST {
        return None;
    }
    // After a panic elsewhere the list is still valid.
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, regex)) = compiled.iter().find(|(known, _)| known == source) {
        return regex.clone();
    }
    let build = || {
        let translated = ecma::translate(source)?;
        let mut builder = RegexBuilder::new(&translated);
        builder.backtrack_limit(BACKTRACK_LIMIT).max_prog_size(PROGRAM_LIMIT);
        builder.delegate_size_limit(SIZE_LIMIT).delegate_dfa_size_limit(DFA_LIMIT);
        builder.build().ok().map(Arc::new)
    };
    let regex = catch_unwind(build).unwrap_or_default();
    compiled.truncate(KEPT - 1);
    compiled.push_front((source.to_owned(), regex.clone()));
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_search_as_ecma_does() {
        for (source, text, fits) in [
            ("b", "abc", true),
            ("^b", "abc", false),
            ("^a$", "a\n", false),
            (r"^\d+$", "123", true),
            (r"^\d+$", "٣", false),
            (r"^\w+$", "é", false),
            (r"^\/a\/$", "/a/", true),
            (r"^\u0041$", "A", true),
            (r"^\u{1F600}$", "😀", true),
            (r"^\x41$", "A", true),
            (r"^[^]$", "\n", true),
            (r"^[]$", "a", false),
            (r"^.$", "\n", false),
            (r"^(?<year>\d{4})-\k<year>$", "2024-2024", true),
            (r"^(?=.*[A-Z])(?!.*x).{3,}$", "abC", true),
            (r"^(?=.*[A-Z])(?!.*x).{3,}$", "xbC", false),
            (r"(?<=\$)\d+", "$5", true),
            (r"^(a)\1{2}$", "aaa", true),
            (r"^(a)\1+$", "a", false),
            (r"^[\w.+-]+@[a-z-]+\.com$", "a.b+c@x-y.com", true),
            (r"^[a[]$", "[", true),
            (r"^[a&&b]+$", "a&b", true),
            (r"^a{,3}$", "a{,3}", true),
            (r"^{}$", "{}", true),
            (r"^\p{L}+$", "é", true),
            (r"^\p{Script=Greek}+$", "λ", true),
            (r"^\cA$", "\u{1}", true),
            (r"^\-\#\ $", "-# ", true),
            (r"^[\b]$", "\u{8}", true),
            (r"^\s$", "\u{feff}", true),
            (r"^\0$", "\0", true),
        ] {
            let pattern = Pattern::new(source);
            assert!(pattern.is_checked(), "{source} compiles");
            assert_eq!(pattern.fits(text), fits, "{source} on {text:?}");
        }
    }

    #[test]
    fn what_cannot_be_checked_fits() {
        for source in ["(", "[a", r"[\uD800-\uDBFF]", "[b-a]", &"(a{1000}){1000}".repeat(3)] {
            let pattern = Pattern::new(source);
            assert!(!pattern.is_checked() && pattern.fits("x"), "{source}");
        }
    }

    #[test]
    fn a_pattern_never_hangs() {
        let start = std::time::Instant::now();
        for source in [r"^(a+)+$", r"^(?=(a+)+$)(a|aa)+$", r"^(\w+\s?)*\1$", r"(?:(?=a)a|a?)*b\b(?!c)"] {
            Pattern::new(source).fits(&format!("{}!", "a".repeat(5_000)));
        }
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
