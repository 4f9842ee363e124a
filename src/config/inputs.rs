use std::path::{Path, PathBuf};

use super::{Content, Node};

/// A value that a person is asked for before a server can be started: an element of `inputs`, as in VS Code
/// (<https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigInput {
    /// The file that contains it.
    pub file: PathBuf,
    /// Its id in `${input:…}`.
    pub id: String,
    /// Its description for the person.
    pub description: Option<String>,
    /// The default value.
    pub default: Option<String>,
    /// The values to choose from; empty if any text is allowed.
    pub options: Vec<String>,
    /// Whether it is hidden while it is typed.
    pub is_password: bool,
}

impl ConfigInput {
    /// An input that a server uses, but that the file does not describe.
    pub fn unknown(file: PathBuf, id: String) -> Self {
        Self { file, id, description: None, default: None, options: Vec::new(), is_password: false }
    }
}

/// The `inputs` of a file. Invalid ones are left out: whoever needs them gets an error.
pub(super) fn read(root: &Node, path: Option<&Path>) -> Vec<ConfigInput> {
    let list = root.member("inputs").or_else(|| root.member("mcp")?.value.member("inputs"));
    let nodes = list.and_then(|list| list.value.elements()).unwrap_or_default();
    let text = |node: &Node, key: &str| node.member(key).and_then(|member| member.value.text()).map(str::to_owned);
    let options = |node: &Node| {
        let options = node.member("options").and_then(|options| options.value.elements()).unwrap_or_default();
        // An option is a string, or an object with a string as its value.
        options.iter().filter_map(|option| option.text().map(str::to_owned).or_else(|| text(option, "value"))).collect()
    };
    let input = |node: &Node| {
        Some(ConfigInput {
            file: path.map(Path::to_owned).unwrap_or_default(),
            id: text(node, "id")?,
            description: text(node, "description"),
            default: text(node, "default"),
            options: options(node),
            is_password: node.member("password").is_some_and(|flag| flag.value.content == Content::Bool(true)),
        })
    };
    nodes.iter().filter_map(input).collect()
}

/// The ids of the inputs that an entry uses, each once.
pub(super) fn named_in(node: &Node) -> Vec<String> {
    let mut ids = Vec::new();
    add(node, &mut ids);
    ids
}

fn add(node: &Node, ids: &mut Vec<String>) {
    match &node.content {
        Content::Text(text) => {
            for part in text.split("${input:").skip(1) {
                let id = part.split('}').next().unwrap_or_default();
                if part.contains('}') && !id.is_empty() && !ids.iter().any(|known| known == id) {
                    ids.push(id.to_owned());
                }
            }
        }
        Content::List(nodes) => nodes.iter().for_each(|node| add(node, ids)),
        Content::Object(members) => members.iter().for_each(|member| add(&member.value, ids)),
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Environment, parse};

    #[test]
    fn inputs_are_read_and_stand_in_texts_once_they_are_entered() {
        let text = r#"{"inputs": [
            {"type": "promptString", "id": "key", "description": "Key", "password": true},
            {"type": "pickString", "id": "where", "options": ["eu", {"label": "US", "value": "us"}], "default": "eu"},
            7, {"type": "command"}],
            "servers": {"s": {"command": "x", "args": ["${input:where}", "${input:key}-${input:key}", "${input:"], "env": {"K": "${input:other}"}}}}"#;
        let path = std::path::Path::new("/p/mcp.json");
        let mut environment = Environment::default();
        let config = parse(&text.replace(", \"${input:\"", ""), Some(path), &environment).expect("a configuration");
        assert_eq!(config.servers[0].asks, ["where", "key", "other"]);
        assert_eq!((config.inputs.len(), config.inputs[0].is_password), (2, true));
        assert_eq!(
            (config.inputs[1].options.clone(), config.inputs[1].default.as_deref()),
            (vec!["eu".to_owned(), "us".to_owned()], Some("eu"))
        );
        let error = config.server("s").expect_err("nothing is entered").to_string();
        assert!(error.contains("`${input:where}` is asked for at a terminal"), "{error}");
        for (id, value) in [("where", "eu"), ("key", "sesame-open"), ("other", "o")] {
            environment.inputs.insert((path.to_owned(), id.to_owned()), value.to_owned());
        }
        let config = parse(&text.replace(", \"${input:\"", ""), Some(path), &environment).expect("a configuration");
        let shown = format!("{:?}", config.server("s"));
        assert!(shown.contains("sesame-open-sesame-open") && shown.contains("\"eu\""), "{shown}");
        assert_eq!(config.mask.apply("it is sesame-open"), "it is ${input:key}");
        // The answer to one file's input does not count for another file.
        let other = parse(&text.replace(", \"${input:\"", ""), Some(std::path::Path::new("/q/mcp.json")), &environment);
        assert!(other.expect("a configuration").server("s").is_err());
    }
}
