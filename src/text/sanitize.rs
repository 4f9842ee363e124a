use std::{borrow::Cow, fmt::Write as _};

/// Server text on one line: like [`safe_text`], but line ends and tabs are escaped too.
pub(crate) fn safe_line(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_harmful(c) || matches!(c, '\n' | '\t'))
}

/// Server text with its line ends, made safe for a terminal: C0 and C1 controls, escape sequences, bidirectional
/// overrides and zero-width characters are shown escaped. Newline and tab are kept; CR LF becomes a newline.
pub(crate) fn safe_text(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        return Cow::Owned(escape(&text.replace("\r\n", "\n"), is_harmful).into_owned());
    }
    escape(text, is_harmful)
}

/// Server text for a pipe or a file, which may still end up on a terminal: C0 and C1 controls are shown escaped.
/// Newline, tab and CR LF are kept, and so are characters that only matter for reading, such as joiners in Persian or
/// direction marks.
pub(crate) fn safe_piped(text: &str) -> Cow<'_, str> {
    if !text.contains("\r\n") {
        return escape(text, is_control);
    }
    let lines: Vec<Cow<'_, str>> = text.split("\r\n").map(|line| escape(line, is_control)).collect();
    Cow::Owned(lines.join("\r\n"))
}

fn escape(text: &str, harmful: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let joins_emoji =
            c == '\u{200d}' && before.is_some_and(is_emoji) && characters.peek().copied().is_some_and(is_emoji);
        match c {
            _ if !harmful(c) || joins_emoji => safe.push(c),
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            '\r' => safe.push_str("\\r"),
            // Writing to a string cannot fail.
            c => drop(write!(safe, "\\u{{{:x}}}", u32::from(c))),
        }
        before = Some(c);
    }
    Cow::Owned(safe)
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Whether `c` moves, hides or reorders the text around it.
pub(crate) fn is_harmful(c: char) -> bool {
    is_control(c)
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_not_sent() {
        assert_eq!(safe_text("no\u{1b}[2J\u{1b}]0;x\u{7}"), "no\\u{1b}[2J\\u{1b}]0;x\\u{7}");
        assert_eq!(safe_text("50%\r100%\u{8}\u{9b}2J"), "50%\\r100%\\u{8}\\u{9b}2J");
        assert_eq!(safe_text("a\r\nb\tc\n"), "a\nb\tc\n");
        assert_eq!(safe_line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn a_pipe_keeps_what_is_no_control() {
        assert_eq!(safe_piped("a\r\nb\rc\u{8}\u{1b}[31m\u{9b}m\t"), "a\r\nb\\rc\\u{8}\\u{1b}[31m\\u{9b}m\t");
        assert_eq!(safe_piped("\u{645}\u{6cc}\u{200c}\u{62e}\u{feff}"), "\u{645}\u{6cc}\u{200c}\u{62e}\u{feff}");
    }

    #[test]
    fn order_and_width_cannot_be_forged() {
        assert_eq!(safe_line("abc\u{202e}gnp.exe"), "abc\\u{202e}gnp.exe");
        assert_eq!(safe_line("pay\u{200b}pal\u{feff}"), "pay\\u{200b}pal\\u{feff}");
        assert_eq!(safe_line("👩\u{200d}👧 naïve 漢字"), "👩\u{200d}👧 naïve 漢字");
    }
}
