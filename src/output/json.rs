use std::{borrow::Cow, fmt::Write as _};

use crate::text::is_harmful;

/// JSON text indented for people, with its values unchanged: every digit and escape stays, at any depth.
pub fn pretty(json: &str) -> String {
    let mut pretty = String::with_capacity(json.len() + json.len() / 4);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut characters = json.chars().peekable();
    while let Some(c) = characters.next() {
        if in_string {
            pretty.push(c);
            match c {
                '\\' => pretty.extend(characters.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                pretty.push(c);
            }
            '{' | '[' => {
                pretty.push(c);
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(close) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    pretty.push(close);
                } else {
                    depth += 1;
                    new_line(&mut pretty, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut pretty, depth);
                pretty.push(c);
            }
            ',' => {
                pretty.push(c);
                new_line(&mut pretty, depth);
            }
            ':' => pretty.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => pretty.push(c),
        }
    }
    pretty
}

/// JSON text on one line: line ends, which can only be between values, become spaces.
pub fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) { Cow::Owned(json.replace(['\n', '\r'], " ")) } else { Cow::Borrowed(json) }
}

/// JSON text that is safe on a terminal and still the same JSON: characters that could move, hide or reorder text,
/// which can only be inside strings, are written as `\uXXXX`.
pub fn safe_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_harmful_in_json) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_harmful_in_json(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

fn is_harmful_in_json(c: char) -> bool {
    is_harmful(c) && c != '\r'
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    // Deeper indents are not readable, and would grow quadratically.
    text.extend(std::iter::repeat_n("  ", depth.min(40)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indented_text_is_the_same_json() {
        let json = r#" {"a":[1.0,{},[ ],"x\",{y"] , "b" :null}"#;
        assert_eq!(pretty(json), "{\n  \"a\": [\n    1.0,\n    {},\n    [],\n    \"x\\\",{y\"\n  ],\n  \"b\": null\n}");
    }

    #[test]
    fn depth_costs_no_more_than_length() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(pretty(&deep).len() < 20_000_000);
    }

    #[test]
    fn escaped_json_is_the_same_json() {
        let json = "\"a\u{9b}2J\u{202e}\u{e0001}\"";
        let safe = safe_json(json);
        assert_eq!(safe, "\"a\\u009b2J\\u202e\\udb40\\udc01\"");
        let parse = |text: &str| serde_json::from_str::<String>(text).expect("a string");
        assert_eq!(parse(&safe), parse(json));
    }
}
