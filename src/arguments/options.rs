use serde_json::{Map, Value};

use super::ArgumentError;
use crate::form::{nearest, resolve};

/// A word of the command line after TOOL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolWord {
    /// `key=value`, or the value of the option before it.
    Plain(String),
    /// `--name` or `--name=value`, without the dashes.
    Option(String),
}

/// `words` with each option turned into `key=value`, with the schema's name for it. The next word is the value, unless
/// the option is a switch. Without a schema, an option is a switch if no value follows it.
///
/// # Errors
/// [`ArgumentError::NoOption`] for an option that is not an argument of the tool, [`ArgumentError::NoValue`] without a value.
pub fn spell_out(words: &[ToolWord], schema: Option<&Value>) -> Result<Vec<String>, ArgumentError> {
    let properties = schema.map(properties);
    let mut spelled = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let option = match word {
            ToolWord::Plain(word) => {
                spelled.push(word.clone());
                continue;
            }
            ToolWord::Option(option) => option,
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option.as_str(), None),
        };
        let (name, sign) = name.strip_suffix(':').map_or((name, "="), |name| (name, ":="));
        let Some(properties) = &properties else {
            let next = rest.next_if(|next| matches!(next, ToolWord::Plain(next) if !next.contains('=')));
            let value = value.or(next.map(plain)).unwrap_or("true");
            spelled.push(format!("{name}{sign}{value}"));
            continue;
        };
        if let Some(key) = named(properties, name) {
            let is_switch = schema.is_some_and(|schema| is_boolean(schema, &properties[key]));
            let given = match value {
                Some(value) => Some(value),
                None if is_switch => {
                    let says = |next: &&ToolWord| matches!(next, ToolWord::Plain(next) if matches!(next.as_str(), "true" | "false"));
                    Some(rest.next_if(says).map_or("true", plain))
                }
                None => rest.next_if(|next| matches!(next, ToolWord::Plain(_))).map(plain),
            };
            let value = given.ok_or_else(|| ArgumentError::NoValue(name.to_owned()))?;
            spelled.push(format!("{}{sign}{value}", key_of(key)));
            continue;
        }
        // A path begins with a property and continues as in `key=value`.
        let head = name.split(['.', '[']).next().unwrap_or_default();
        if let Some(key) = named(properties, head).filter(|_| head.len() < name.len()) {
            let given = value.or_else(|| rest.next_if(|next| matches!(next, ToolWord::Plain(_))).map(plain));
            let value = given.ok_or_else(|| ArgumentError::NoValue(name.to_owned()))?;
            spelled.push(format!("{}{}{sign}{value}", key_of(key), &name[head.len()..]));
            continue;
        }
        match name.strip_prefix("no-").and_then(|name| named(properties, name)) {
            Some(key) if value.is_none() && schema.is_some_and(|schema| is_boolean(schema, &properties[key])) => {
                spelled.push(format!("{}=false", key_of(key)));
            }
            _ => {
                let near = nearest(name, properties.keys().map(String::as_str)).map(str::to_owned);
                return Err(ArgumentError::NoOption { name: name.to_owned(), near });
            }
        }
    }
    Ok(spelled)
}

fn plain(word: &ToolWord) -> &str {
    match word {
        ToolWord::Plain(word) | ToolWord::Option(word) => word,
    }
}

/// A property's name as the left side of `key=value`, escaped so that it is not a path.
fn key_of(name: &str) -> String {
    if name.ends_with(':') { name.replace(':', "\\:") } else { name.to_owned() }
}

fn properties(schema: &Value) -> Map<String, Value> {
    let Value::Object(map) = schema else { return Map::new() };
    let resolved = resolve(schema, map).schema;
    let mut all = resolved.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let members = ["anyOf", "oneOf"].iter().filter_map(|key| resolved.get(key)?.as_array()).flatten();
    for member in members.filter_map(Value::as_object) {
        let inner = resolve(schema, member).schema;
        for (key, part) in inner.get("properties").and_then(Value::as_object).into_iter().flatten() {
            all.entry(key.clone()).or_insert_with(|| part.clone());
        }
    }
    all
}

/// The property that the option `name` means: the same name, or the only one that differs just in case, `-` and `_`.
fn named<'a>(properties: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    if let Some((key, _)) = properties.get_key_value(name) {
        return Some(key);
    }
    let folded = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    let mut same = properties.keys().filter(|key| folded(key) == folded(name));
    same.next().filter(|_| same.next().is_none()).map(String::as_str)
}

fn is_boolean(root: &Value, part: &Value) -> bool {
    let Value::Object(map) = part else { return false };
    resolve(root, map).schema.get("type").is_some_and(|name| name == "boolean")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(text: &str) -> Vec<ToolWord> {
        let word = |word: &str| match word.strip_prefix("--") {
            Some(option) => ToolWord::Option(option.to_owned()),
            None => ToolWord::Plain(word.to_owned()),
        };
        text.split(' ').map(word).collect()
    }

    fn spelled(text: &str) -> Result<String, ArgumentError> {
        let schema = json!({"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"},
            "deep": {"type": "boolean"}, "maxResults": {"type": "integer"}, "tags": {"type": "array"},
            "wide": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}});
        spell_out(&words(text), Some(&schema)).map(|words| words.join(" "))
    }

    #[test]
    fn options_become_arguments() {
        for (text, expected) in [
            ("--query rust --limit=10 --deep", "query=rust limit=10 deep=true"),
            ("--deep query=a --query a=b", "deep=true query=a query=a=b"),
            ("--deep false --no-deep", "deep=false deep=false"),
            ("--wide --max-results 3 --MAX_RESULTS=4", "wide=true maxResults=3 maxResults=4"),
            ("--tags a --tags b --tags:=[1]", "tags=a tags=b tags:=[1]"),
            ("--query= --limit -5", "query= limit=-5"),
            ("--tags.0 a --tags[1]=b --max-results.x:=1", "tags.0=a tags[1]=b maxResults.x:=1"),
        ] {
            assert_eq!(spelled(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_argument_is_refused_with_what_may_be_meant() {
        let no_option = |name: &str, near: &str| {
            Err(ArgumentError::NoOption { name: name.to_owned(), near: Some(near.to_owned()) })
        };
        assert_eq!(spelled("--limti 3"), no_option("limti", "limit"));
        assert_eq!(spelled("--query"), Err(ArgumentError::NoValue("query".to_owned())));
        assert_eq!(spelled("--query --deep"), Err(ArgumentError::NoValue("query".to_owned())));
    }

    #[test]
    fn without_a_schema_an_option_without_a_value_is_a_switch() {
        let spelled = spell_out(&words("--a b --c --d=e --f g=h"), None).map(|words| words.join(" "));
        assert_eq!(spelled.as_deref(), Ok("a=b c=true d=e f=true g=h"));
    }
}
