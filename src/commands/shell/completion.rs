use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr;

use crate::commands::{
    listing::choices::choices,
    shell::line::{Shell, server_in},
};
use crate::{terminal::gate, text::safe_line};

/// How many candidates are shown.
const SHOWN: usize = 100;

impl Shell<'_> {
    /// What Tab adds to the text before the cursor. If several candidates match, they are printed.
    pub(crate) async fn complete(&mut self, before: &str) -> String {
        let start = before.rfind(' ').map_or(0, |at| at + 1);
        let (done, partial) = before.split_at(start);
        let done_words: Vec<&str> = done.split_whitespace().collect();
        // `$name =` comes before the command.
        let skip = if done_words.first().is_some_and(|word| word.starts_with('$')) {
            done_words.iter().position(|word| word.ends_with('=')).map_or(0, |at| at + 1)
        } else {
            0
        };
        let words: Vec<String> = done_words[skip..].iter().map(|word| (*word).to_owned()).collect();
        let mut found: Vec<String> = self.candidates(&words, partial).await;
        found.retain(|candidate| candidate.starts_with(partial) && safe_line(candidate) == *candidate);
        found.dedup();
        let common = common_start(&found);
        if found.len() > 1 && common.len() <= partial.len() {
            let more = found.len().saturating_sub(SHOWN);
            let more = (more > 0).then(|| format!("… {more} more"));
            let shown = found.iter().take(SHOWN).map(String::as_str).chain(more.as_deref());
            gate().print(&in_lines(shown, gate().columns()));
        }
        match found.as_slice() {
            [] => before.to_owned(),
            [only] if only.ends_with('=') => format!("{done}{only}"),
            [only] => format!("{done}{only} "),
            _ => format!("{done}{common}"),
        }
    }

    async fn candidates(&mut self, words: &[String], partial: &str) -> Vec<String> {
        match words.len() {
            1.. if partial.starts_with('-') => options(&self.context.grammar(), &words[0]),
            0 => {
                let grammar = self.context.grammar();
                let names = grammar.get_subcommands().filter(|command| !command.is_hide_set());
                let names = names.map(|command| command.get_name().to_owned());
                names.chain(["help".to_owned(), "exit".to_owned()]).collect()
            }
            1 => self.names().map(str::to_owned).collect(),
            _ => {
                let Some(server) = server_in(words).filter(|server| self.names().any(|name| name == server)) else {
                    return Vec::new();
                };
                match (words[0].as_str(), words.get(2)) {
                    ("call" | "tools", None) => self.tool_names(&server).await,
                    ("call", Some(tool)) => self.arguments(&server, tool, partial).await,
                    ("prompt", None) => self.listed(&server, "prompts/list", "prompts", "name").await,
                    ("prompt", Some(prompt)) => self.prompt_arguments(&server, prompt, partial).await,
                    ("read", None) => self.listed(&server, "resources/list", "resources", "uri").await,
                    _ => Vec::new(),
                }
            }
        }
    }

    async fn tool_names(&mut self, server: &str) -> Vec<String> {
        match self.list(server).await {
            Ok(tools) => drop(self.tools.insert(server.to_owned(), tools)),
            Err(error) => self.context.printer.error(&error.report()),
        }
        self.tools.get(server).into_iter().flatten().map(|tool| tool.name.clone()).collect()
    }

    /// `name=` for each property, and after it the values of a choice.
    async fn arguments(&mut self, server: &str, tool: &str, partial: &str) -> Vec<String> {
        self.tool_names(server).await;
        let tools = self.tools.get(server).into_iter().flatten();
        let Some(tool) = tools.into_iter().find(|known| known.name == tool) else { return Vec::new() };
        let properties = tool.raw.pointer("/inputSchema/properties").and_then(Value::as_object);
        let Some((key, _)) = partial.split_once('=') else {
            return properties.into_iter().flat_map(Map::keys).map(|key| format!("{key}=")).collect();
        };
        let Some(schema) = properties.and_then(|properties| properties.get(key)) else { return Vec::new() };
        let values = choices(tool.raw.get("inputSchema").unwrap_or(&Value::Null), schema);
        let written = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        values.iter().map(|value| format!("{key}={}", shell_words::quote(&written(value)))).collect()
    }

    async fn listed(&mut self, server: &str, method: &str, list: &str, key: &str) -> Vec<String> {
        let line = self.session.for_line();
        let Ok(client) = line.connect(server).await else { return Vec::new() };
        let entries = client.list(method, list, &line.signals.stop).await.unwrap_or_default();
        entries.iter().filter_map(|entry| Some(entry.get(key)?.as_str()?.to_owned())).collect()
    }

    /// The arguments of a prompt, and after each the server's own completions (*utilities/completion*).
    async fn prompt_arguments(&mut self, server: &str, prompt: &str, partial: &str) -> Vec<String> {
        let line = self.session.for_line();
        let Ok(client) = line.connect(server).await else { return Vec::new() };
        let Some((key, value)) = partial.split_once('=') else {
            let prompts = client.list("prompts/list", "prompts", &line.signals.stop).await.unwrap_or_default();
            let prompt = prompts.into_iter().find(|entry| entry.get("name").is_some_and(|name| name == prompt));
            let arguments = prompt.and_then(|prompt| prompt.get("arguments")?.as_array().cloned()).unwrap_or_default();
            return arguments
                .iter()
                .filter_map(|argument| Some(format!("{}=", argument.get("name")?.as_str()?)))
                .collect();
        };
        let params = json!({"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": key, "value": value}});
        let params = params.as_object().cloned();
        let Ok(result) = client.request("completion/complete", params, &line.signals.stop).await else {
            return Vec::new();
        };
        let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
        let values = result.pointer("/completion/values").and_then(Value::as_array).cloned().unwrap_or_default();
        values.iter().filter_map(Value::as_str).map(|value| format!("{key}={}", shell_words::quote(value))).collect()
    }
}

/// The options of a command, including those of every command.
fn options(grammar: &clap::Command, command: &str) -> Vec<String> {
    let arguments =
        grammar.find_subcommand(command).into_iter().chain([grammar]).flat_map(clap::Command::get_arguments);
    let shown = arguments.filter(|argument| !argument.is_hide_set()).filter_map(clap::Arg::get_long);
    shown.map(|name| format!("--{name}")).collect()
}

/// `words` in columns, in lines of at most this width. A longer word gets its own line.
fn in_lines<'a>(words: impl Iterator<Item = &'a str>, columns: usize) -> String {
    let mut text = String::new();
    let mut at = 0;
    for word in words {
        let width = word.width();
        if at > 0 && at + 2 + width > columns {
            text.push('\n');
            at = 0;
        }
        if at > 0 {
            text.push_str("  ");
            at += 2;
        }
        text.push_str(word);
        at += width;
    }
    text.push('\n');
    text
}

/// The common beginning of all `texts`.
fn common_start(texts: &[String]) -> String {
    let Some((first, others)) = texts.split_first() else { return String::new() };
    let mut end = first.len();
    for other in others {
        let same = first.char_indices().zip(other.chars()).find(|((_, one), other)| one != other);
        end = end.min(same.map_or(first.len().min(other.len()), |((at, _), _)| at));
    }
    while !first.is_char_boundary(end) {
        end -= 1;
    }
    first[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{common_start, in_lines};

    #[test]
    fn candidates_are_never_broken() {
        assert_eq!(in_lines(["ab", "cd", "ef"].into_iter(), 6), "ab  cd\nef\n");
        assert_eq!(in_lines(["a-long-word", "b"].into_iter(), 6), "a-long-word\nb\n");
    }

    #[test]
    fn what_is_common() {
        let of = |texts: &[&str]| common_start(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&["greet", "grow"]), "gr");
        assert_eq!(of(&["a", "ab"]), "a");
        assert_eq!(of(&["é", "è"]), "");
        assert_eq!(of(&[]), "");
    }
}
