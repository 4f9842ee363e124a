use std::collections::HashMap;

use serde_json::Value;

use crate::{error::Error, form::type_of, text::cut};

/// A line, and the name under which its result is kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Assignment<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) command: &'a str,
}

impl<'a> Assignment<'a> {
    /// `$name = command`, or only a command.
    pub(crate) fn split(line: &'a str) -> Self {
        let line = line.trim();
        let assigned = || {
            let (name, command) = line.strip_prefix('$')?.split_once('=')?;
            let name = name.trim();
            let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.is_empty();
            is_name.then(|| Self { name: Some(name), command: command.trim() })
        };
        assigned().unwrap_or(Self { name: None, command: line })
    }
}

/// What is kept of a result: its structured content, or the JSON in its text, or its text, or all of it.
pub(crate) fn value_of(result: &Value) -> Value {
    if let Some(structured) = result.get("structuredContent") {
        return structured.clone();
    }
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    if texts.is_empty() {
        return result.clone();
    }
    let text = texts.join("\n");
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// Stands for a dollar sign that is only that, from [`words_of`] to [`expand`]: a character that no text has.
const DOLLAR: char = '\u{fdd0}';

/// The words of a line, as a shell would part them. `\$` is a dollar sign, and begins no name.
///
/// # Errors
/// When a quotation mark is not closed.
pub(crate) fn words_of(line: &str) -> Result<Vec<String>, Error> {
    let mut marked = String::new();
    let mut in_single = false;
    let mut in_double = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if !in_single && characters.peek() == Some(&'$') => {
                characters.next();
                marked.push(DOLLAR);
                continue;
            }
            '\\' if !in_single => {
                marked.push(c);
                marked.extend(characters.next());
                continue;
            }
            '\'' if !in_double => in_single = !in_single,
            '"' if !in_single => in_double = !in_double,
            _ => {}
        }
        marked.push(c);
    }
    shell_words::split(&marked)
        .map_err(|_| Error::usage("a quotation mark is not closed: close it, or write \\\" for the character"))
}

/// `word` with `${name}` and `${name.path}` replaced; `$${` is `${`.
///
/// # Errors
/// If there is no such value, or `$name` is written where `${name}` was meant.
pub(crate) fn expand(word: &str, values: &HashMap<String, Value>) -> Result<String, Error> {
    let mut text = String::new();
    let mut rest = word;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            text.push_str(&rest[..at]);
            text.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        without_bare_names(&rest[..at], values)?;
        let Some(end) = rest[at..].find('}') else {
            return Err(Error::usage(format!("{:?} has no }} at its end", cut(&rest[at..], 40))));
        };
        text.push_str(&rest[..at]);
        let value = kept(&rest[at + 2..at + end], values)?;
        text.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        rest = &rest[at + end + 1..];
    }
    without_bare_names(rest, values)?;
    text.push_str(rest);
    Ok(text.replace(DOLLAR, "$"))
}

/// Holds that no `$name` in `text` is the name of a value: it would be sent as it stands.
fn without_bare_names(text: &str, values: &HashMap<String, Value>) -> Result<(), Error> {
    for after in text.split('$').skip(1) {
        let name = &after[..after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len())];
        if values.contains_key(name) {
            let message = format!("${name} is not replaced by its value");
            let hint = format!("write ${{{name}}} for the value, or \\${name} for these characters");
            return Err(Error::Usage { message, hint: Some(hint) });
        }
    }
    Ok(())
}

/// The value that a line shows by its name alone: `$name`, `${name}` or `${name.path}`.
///
/// # Errors
/// When there is no such value.
pub(crate) fn shown(line: &str, values: &HashMap<String, Value>) -> Result<Option<Value>, Error> {
    let path = line.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).or_else(|| line.strip_prefix('$'));
    let is_path = |path: &&str| !path.is_empty() && !path.contains(['$', '{', '}', '=', ' ']);
    path.filter(is_path).map(|path| kept(path, values)).transpose()
}

/// The value at `name.path` of the result kept as `name`: in its essential content, or, as with --select, in the whole
/// result (`content[0].text`).
fn kept(path: &str, values: &HashMap<String, Value>) -> Result<Value, Error> {
    let (name, path) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
    let Some(result) = values.get(name) else {
        let mut known: Vec<&str> = values.keys().map(String::as_str).collect();
        known.sort_unstable();
        let hint = match known.as_slice() {
            [] => format!("`${name} = call …` keeps a result; write \\${{{name}}} for these characters"),
            known => format!("kept so far: {}; write \\${{{name}}} for these characters", known.join(", ")),
        };
        return Err(Error::Usage { message: format!("${name} has no value"), hint: Some(hint) });
    };
    let data = value_of(result);
    let found = at_path(&data, name, path);
    found.or_else(|error| at_path(result, name, path).map_err(|_| error)).cloned()
}

fn at_path<'a>(mut value: &'a Value, name: &str, path: &str) -> Result<&'a Value, Error> {
    let mut seen = name.to_owned();
    for step in path.split(['.', '[']).map(|step| step.trim_end_matches(']')).filter(|step| !step.is_empty()) {
        let inner = match value {
            Value::Array(items) => step.parse::<usize>().ok().and_then(|at| items.get(at)),
            value => value.get(step),
        };
        let Some(inner) = inner else {
            let hint = match value {
                Value::Object(keys) => {
                    let keys: Vec<&str> = keys.keys().take(20).map(String::as_str).collect();
                    format!("its keys: {}", keys.join(", "))
                }
                Value::Array(items) => format!("it is a list of {}, counted from 0", items.len()),
                other => format!("it is {}: ${{{seen}}} is all of it", type_of(other)),
            };
            return Err(Error::Usage { message: format!("${seen} has no {step:?}"), hint: Some(hint) });
        };
        value = inner;
        seen = format!("{seen}.{step}");
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_comes_before_its_command() {
        let split = |line| Assignment::split(line);
        assert_eq!(split("$a = call x y"), Assignment { name: Some("a"), command: "call x y" });
        assert_eq!(split("$a=call x k=v"), Assignment { name: Some("a"), command: "call x k=v" });
        assert_eq!(split(" call x k=v "), Assignment { name: None, command: "call x k=v" });
        assert_eq!(split("$ = call"), Assignment { name: None, command: "$ = call" });
    }

    #[test]
    fn values_are_put_in_by_path() {
        let values = HashMap::from([("a".to_owned(), json!({"b": [{"c d": 1}, "x"], "t": "two words"}))]);
        let expand = |word: &str| expand(word, &values);
        assert_eq!(expand("k=${a.b.0.c d}").unwrap(), "k=1");
        assert_eq!(expand("${a.b[1]}${a.t}").unwrap(), "xtwo words");
        assert_eq!(expand("k:=${a.b}").unwrap(), r#"k:=[{"c d":1},"x"]"#);
        assert_eq!(expand("$${a} costs $5").unwrap(), "${a} costs $5");
        let result = json!({"content": [{"type": "text", "text": "3"}], "structuredContent": {"sum": 3}});
        let values = HashMap::from([("r".to_owned(), result)]);
        let told = |word: &str| super::expand(word, &values);
        assert_eq!(told("${r.sum} ${r.content[0].text} ${r}").unwrap(), "3 3 {\"sum\":3}");
        assert_eq!(told("${r.sum.x}").unwrap_err().hint().as_deref(), Some("it is a number: ${r.sum} is all of it"));
        for word in ["${a.z}", "${b}", "${a", "${a.b.9}", "${a.t.u}"] {
            assert!(expand(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_dollar_sign_can_be_only_that() {
        let values = HashMap::from([("a".to_owned(), json!(1)), ("ab".to_owned(), json!(2))]);
        let read = |line: &str| -> Result<Vec<String>, Error> {
            words_of(line)?.iter().map(|word| expand(word, &values)).collect()
        };
        assert_eq!(
            read(r#"x=\$a "\${a} ${a}" '${ab}' "it's \$a" $5 $abc $"#).unwrap().join("|"),
            "x=$a|${a} 1|2|it's $a|$5|$abc|$"
        );
        assert_eq!(read(r"'^a\$' a\\b \'${a}").unwrap().join("|"), r"^a\$|a\b|'1");
        for line in ["x=$a", "'cost: $ab'", "${a}$a", "$a.b"] {
            let error = read(line).unwrap_err();
            assert!(
                error.to_string().contains("is not replaced") && error.hint().unwrap().contains(r" or \$a"),
                "{line}"
            );
        }
        assert_eq!(read("${b}").unwrap_err().hint().unwrap(), r"kept so far: a, ab; write \${b} for these characters");
        assert!(read("'x").is_err());
    }

    #[test]
    fn what_is_kept_is_the_most_useful() {
        assert_eq!(value_of(&json!({"content": [], "structuredContent": {"a": 1}})), json!({"a": 1}));
        assert_eq!(value_of(&json!({"content": [{"type": "text", "text": "{\"a\": 1}"}]})), json!({"a": 1}));
        assert_eq!(value_of(&json!({"content": [{"type": "text", "text": "hi"}]})), json!("hi"));
    }
}
