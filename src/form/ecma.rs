use std::{fmt::Write as _, iter::Peekable, str::Chars};

/// The longest pattern that is read, in bytes.
const LONGEST: usize = 16 << 10;

const DIGIT: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str = r"\t\n\x0B\x0C\r\x20\x{a0}\x{feff}\x{2028}\x{2029}\p{Zs}";
/// ECMA's `\b`, whose word characters are ASCII.
const BOUNDARY: &str = "(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))";
const NO_BOUNDARY: &str = "(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))";

/// Translates an ECMA-262 pattern to the syntax of `fancy_regex`, or returns `None` if there is no equivalent. What
/// only looks like a mistake (a lone `{`, an escape without meaning) is read as browsers read it; Python's `\A`, `\Z`
/// and `(?P<name>` are read as Python reads them.
pub(super) fn translate(source: &str) -> Option<String> {
    if source.len() > LONGEST {
        return None;
    }
    let mut translator = Translator { rest: source.chars().peekable(), out: String::with_capacity(source.len() + 16) };
    while let Some(c) = translator.rest.next() {
        translator.outside(c)?;
    }
    Some(translator.out)
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
}

/// What one escape stands for.
enum Escape {
    One(char),
    /// The inside of a character class.
    Some(&'static str),
    /// The complement of that class.
    Others(&'static str),
    /// `\p{…}` or `\P{…}`, complete.
    Property(String),
}

impl Translator<'_> {
    fn outside(&mut self, c: char) -> Option<()> {
        match c {
            '\\' => return self.escape_outside(),
            '[' => return self.class(),
            '.' => self.out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
            '{' => match self.quantifier() {
                Some(quantifier) => self.out.push_str(&quantifier),
                None => self.literal('{'),
            },
            '^' | '$' | '|' | '(' | ')' | '*' | '+' | '?' => {
                self.out.push(c);
                if c == '(' {
                    self.group_head();
                }
            }
            c => self.literal(c),
        }
        Some(())
    }

    /// Copies `?:`, `?<name>` and the like, whose letters are not literals.
    fn group_head(&mut self) {
        if self.rest.next_if_eq(&'?').is_none() {
            return;
        }
        self.out.push('?');
        let closes = |c: char| matches!(c, ':' | '=' | '!' | '>' | ')');
        while let Some(c) = self.rest.next_if(|c| !closes(*c) && (c.is_alphanumeric() || "<_-P".contains(*c))) {
            self.out.push(c);
        }
        if let Some(c) = self.rest.next_if(|c| closes(*c)) {
            self.out.push(c);
        }
    }

    /// `{n}`, `{n,}` or `{n,m}`, if that follows the brace.
    fn quantifier(&mut self) -> Option<String> {
        let mut ahead = self.rest.clone();
        let mut text = String::from("{");
        for c in ahead.by_ref() {
            text.push(c);
            if !(c.is_ascii_digit() || c == ',') {
                break;
            }
        }
        let (low, high) = text
            .strip_prefix('{')?
            .strip_suffix('}')
            .map(|inner| inner.split_once(',').map_or((inner, ""), |(low, high)| (low, high)))?;
        if low.is_empty() || high.contains(',') {
            return None;
        }
        self.rest = ahead;
        Some(text)
    }

    fn escape_outside(&mut self) -> Option<()> {
        match *self.rest.peek()? {
            'b' => self.out.push_str(BOUNDARY),
            'B' => self.out.push_str(NO_BOUNDARY),
            'A' => self.out.push_str(r"\A"),
            'Z' | 'z' => self.out.push_str(r"\z"),
            'k' => self.out.push_str(r"\k"),
            '1'..='9' => {
                // In its own group, so that a following digit does not become part of the number.
                self.out.push_str("(?:\\");
                while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
                    self.out.push(digit);
                }
                self.out.push(')');
                return Some(());
            }
            _ => {
                match self.escape()? {
                    Escape::One(c) => self.literal(c),
                    Escape::Some(class) => drop(write!(self.out, "[{class}]")),
                    Escape::Others(class) => drop(write!(self.out, "[^{class}]")),
                    Escape::Property(text) => self.out.push_str(&text),
                }
                return Some(());
            }
        }
        if self.rest.next() == Some('k') {
            self.out.push(self.rest.next_if_eq(&'<')?);
            while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                self.out.push(c);
            }
            self.out.push(self.rest.next_if_eq(&'>')?);
        }
        Some(())
    }

    /// A character class, after its opening bracket.
    fn class(&mut self) -> Option<()> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            self.out.push_str(if negated { r"[\x{0}-\x{10ffff}]" } else { "(?!)" });
            return Some(());
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        loop {
            let low = match self.rest.next()? {
                ']' => break,
                '\\' => self.escape()?,
                c => Escape::One(c),
            };
            let Escape::One(low) = low else {
                self.class_part(&low);
                continue;
            };
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']');
            if !is_range {
                self.literal(low);
                continue;
            }
            self.rest = ahead;
            let high = match self.rest.next()? {
                '\\' => self.escape()?,
                c => Escape::One(c),
            };
            self.literal(low);
            match high {
                Escape::One(high) if low <= high => {
                    self.out.push('-');
                    self.literal(high);
                }
                Escape::One(_) => return None,
                // `[a-\d]` is `a`, a hyphen and the digits.
                part => {
                    self.literal('-');
                    self.class_part(&part);
                }
            }
        }
        self.out.push(']');
        Some(())
    }

    fn class_part(&mut self, part: &Escape) {
        match part {
            Escape::One(c) => self.literal(*c),
            Escape::Some(class) => self.out.push_str(class),
            Escape::Others(class) => drop(write!(self.out, "[^{class}]")),
            Escape::Property(text) => self.out.push_str(text),
        }
    }

    /// An escape that means the same inside and outside a class, after its backslash.
    fn escape(&mut self) -> Option<Escape> {
        Some(match self.rest.next()? {
            'd' => Escape::Some(DIGIT),
            'D' => Escape::Others(DIGIT),
            'w' => Escape::Some(WORD),
            'W' => Escape::Others(WORD),
            's' => Escape::Some(SPACE),
            'S' => Escape::Others(SPACE),
            'b' => Escape::One('\u{8}'),
            't' => Escape::One('\t'),
            'n' => Escape::One('\n'),
            'v' => Escape::One('\u{b}'),
            'f' => Escape::One('\u{c}'),
            'r' => Escape::One('\r'),
            '0' => Escape::One('\0'),
            'c' => {
                let letter = self.rest.next_if(char::is_ascii_alphabetic)?;
                Escape::One(char::from(u8::try_from(letter).ok()? % 32))
            }
            'x' => Escape::One(self.hex(2).and_then(char::from_u32).unwrap_or('x')),
            'u' => Escape::One(self.unicode()?),
            c @ ('p' | 'P') if self.rest.peek() == Some(&'{') => {
                let mut text = format!("\\{c}");
                for c in self.rest.by_ref() {
                    text.push(c);
                    if c == '}' {
                        break;
                    }
                }
                Escape::Property(text)
            }
            c => Escape::One(c),
        })
    }

    /// `{1F600}`, `0041` or a surrogate pair, after `\u`. A lone surrogate has no equivalent.
    fn unicode(&mut self) -> Option<char> {
        if self.rest.next_if_eq(&'{').is_some() {
            let mut digits = String::new();
            while let Some(digit) = self.rest.next_if(char::is_ascii_hexdigit) {
                digits.push(digit);
            }
            self.rest.next_if_eq(&'}')?;
            return char::from_u32(u32::from_str_radix(&digits, 16).ok()?);
        }
        let Some(high) = self.hex(4) else { return Some('u') };
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high);
        }
        self.rest.next_if_eq(&'\\')?;
        self.rest.next_if_eq(&'u')?;
        let low = self.hex(4).filter(|low| (0xdc00..0xe000).contains(low))?;
        char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
    }

    /// The next `count` hexadecimal digits, all or none.
    fn hex(&mut self, count: usize) -> Option<u32> {
        let mut ahead = self.rest.clone();
        let mut number = 0;
        for _ in 0..count {
            number = number * 16 + ahead.next()?.to_digit(16)?;
        }
        self.rest = ahead;
        Some(number)
    }

    /// One character that stands for itself.
    fn literal(&mut self, c: char) {
        if c.is_alphanumeric() || c == '_' || (!c.is_ascii() && !c.is_control()) {
            self.out.push(c);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(self.out, "\\x{{{:x}}}", u32::from(c));
        }
    }
}
