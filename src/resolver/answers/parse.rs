use std::path::Path;

use serde_json::{Map, Value};

use super::{Action, AnswersEntry, AnswersError, AnswersFile, Glob, Otherwise, UrlPattern, When};
use crate::{
    config::{Content, Document, Member, Node, near_misses},
    files,
};

const ENTRY_KEYS: [&str; 7] = ["when", "action", "content", "omit", "open", "repeat", "secret"];
const WHEN_KEYS: [&str; 7] = ["server", "call", "tool", "mode", "message", "url", "fields"];
const FILE_KEYS: [&str; 4] = ["version", "otherwise", "answers", "$schema"];

impl AnswersFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or its content is wrong.
    pub fn load(path: &Path) -> Result<Self, AnswersError> {
        let unreadable = |reason: String| AnswersError::Unreadable { path: path.to_owned(), reason };
        let bytes = files::read(path).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads the text of an answers file; `name` is the file's name in messages.
    ///
    /// # Errors
    /// [`AnswersError::Wrong`], with its position.
    ///
    /// ```
    /// use toolnexus::resolver::answers::AnswersFile;
    /// let file = AnswersFile::parse(r#"[{"when": {"tool": "greet"}, "content": {"name": "Ada"}}]"#, "a.json").unwrap();
    /// assert_eq!(file.entries.len(), 1);
    /// let error = AnswersFile::parse(r#"[{"contents": {}}]"#, "a.json").unwrap_err().to_string();
    /// assert_eq!(error, "the answers file a.json:1:3: entry 1: unknown key \"contents\": did you mean `content`?");
    /// ```
    pub fn parse(text: &str, name: &str) -> Result<Self, AnswersError> {
        let wrong =
            |place, reason: &str| AnswersError::Wrong { name: name.to_owned(), place, reason: reason.to_owned() };
        let document = Document::parse(text).map_err(|error| wrong(Some(error.place), &error.reason))?;
        let Some(root) = &document.root else { return Err(wrong(None, "the file is empty")) };
        AnswersReader { document: &document, name }.file(root)
    }
}

struct AnswersReader<'a> {
    document: &'a Document,
    name: &'a str,
}

impl AnswersReader<'_> {
    fn wrong(&self, at: usize, reason: impl Into<String>) -> AnswersError {
        AnswersError::Wrong { name: self.name.to_owned(), place: Some(self.document.place(at)), reason: reason.into() }
    }

    fn expected(&self, within: &str, node: &Node, what: &str) -> AnswersError {
        self.wrong(node.at, format!("{within}: expected {what}, not {}", node.describe()))
    }

    fn file(&self, root: &Node) -> Result<AnswersFile, AnswersError> {
        let mut file = AnswersFile { name: self.name.to_owned(), ..AnswersFile::default() };
        match &root.content {
            Content::List(nodes) => file.entries = self.entries(nodes)?,
            Content::Object(_) if is_versioned(root) => self.versioned(root, &mut file)?,
            Content::Object(members) => {
                if let Some(answers) = root.member("answers").filter(|answers| holds_entries(&answers.value)) {
                    return Err(self.wrong(answers.at, "`answers` needs `\"version\": 1` next to it"));
                }
                if members.iter().any(|member| member.key == "when") && looks_like_entry(root) {
                    return Err(self.wrong(root.at, "this is a single entry; put it in a list: [{…}]"));
                }
                file.plain = Some(self.object("the file", root)?);
            }
            _ => {
                let what = "an object of answers, or a list of entries";
                return Err(self.expected("the file", root, what));
            }
        }
        Ok(file)
    }

    fn versioned(&self, root: &Node, file: &mut AnswersFile) -> Result<(), AnswersError> {
        self.check_keys("the file", root, &FILE_KEYS)?;
        if let Some(version) = root.member("version").filter(|member| member.value.to_value() != 1) {
            return Err(self.expected("version", &version.value, "1, the only version"));
        }
        if let Some(otherwise) = root.member("otherwise") {
            file.otherwise = Some(self.word("otherwise", &otherwise.value, &Otherwise::WORDS)?);
        }
        if let Some(answers) = root.member("answers") {
            let nodes = answers.value.elements();
            file.entries =
                self.entries(nodes.ok_or_else(|| self.expected("answers", &answers.value, "a list of entries"))?)?;
        }
        Ok(())
    }

    fn entries(&self, nodes: &[Node]) -> Result<Vec<AnswersEntry>, AnswersError> {
        nodes.iter().enumerate().map(|(index, node)| self.entry(index + 1, node)).collect()
    }

    fn entry(&self, number: usize, node: &Node) -> Result<AnswersEntry, AnswersError> {
        let within = |key: &str| format!("entry {number}: {key}");
        let entry = format!("entry {number}");
        if node.members().is_none() {
            return Err(self.expected(&entry, node, "an object such as {\"content\": {…}}"));
        }
        self.check_keys(&entry, node, &ENTRY_KEYS)?;
        let content =
            node.member("content").map(|member| self.object(&within("content"), &member.value)).transpose()?;
        let action = node.member("action").map(|member| self.word(&within("action"), &member.value, &Action::WORDS));
        let action = match (action.transpose()?, &content) {
            (Some(action), _) => action,
            (None, Some(_)) => Action::Accept,
            (None, None) => return Err(self.wrong(node.at, format!("{entry}: needs `content` or `action`"))),
        };
        let when = node.member("when").map(|member| self.when(&within("when"), &member.value)).transpose()?;
        let when = when.unwrap_or_default();
        let flag = |key: &str| node.member(key).map_or(Ok(false), |member| self.flag(&within(key), &member.value));
        let omit = node.member("omit").map(|member| self.names(&within("omit"), &member.value)).transpose()?;
        for key in ["content", "omit"] {
            let Some(member) = node.member(key) else { continue };
            if action != Action::Accept {
                return Err(self.wrong(member.at, format!("{}: is not allowed with {}", within(key), action.as_str())));
            }
            if when.names_links() {
                return Err(self.wrong(member.at, format!("{}: a link does not take any", within(key))));
            }
        }
        let open = flag("open")?;
        if let Some(member) = node.member("open").filter(|_| open && !(when.names_links() && action == Action::Accept))
        {
            let reason = "is only for accepted links: `when` must have `mode: \"url\"` or a `url`";
            return Err(self.wrong(member.at, format!("{}: {reason}", within("open"))));
        }
        Ok(AnswersEntry {
            number,
            place: self.document.place(node.at),
            when,
            action,
            content: content.unwrap_or_default(),
            omit: omit.unwrap_or_default(),
            open,
            repeat: flag("repeat")?,
            secret: flag("secret")?,
        })
    }

    fn when(&self, within: &str, node: &Node) -> Result<When, AnswersError> {
        if node.members().is_none() {
            return Err(self.expected(within, node, "an object such as {\"tool\": \"greet\"}"));
        }
        self.check_keys(within, node, &WHEN_KEYS)?;
        let text = |key: &str| {
            let Some(member) = node.member(key) else { return Ok(None) };
            let text = member.value.text();
            text.map(Some).ok_or_else(|| self.expected(&format!("{within}.{key}"), &member.value, "a string"))
        };
        let glob = |key: &str| Ok(text(key)?.map(Glob::new));
        let modes = [("url", true), ("form", false)];
        let mode = |member: &Member| self.word(&format!("{within}.mode"), &member.value, &modes);
        let url = match (text("url")?, node.member("url")) {
            (Some(text), Some(member)) => {
                let reason = |reason| self.wrong(member.value.at, format!("{within}.url: {reason}"));
                Some(UrlPattern::parse(text).map_err(reason)?)
            }
            _ => None,
        };
        let fields = node.member("fields").map(|member| self.names(&format!("{within}.fields"), &member.value));
        let when = When {
            server: glob("server")?,
            call: glob("call")?,
            tool: glob("tool")?,
            is_link: node.member("mode").map(mode).transpose()?,
            message: glob("message")?,
            url,
            fields: fields.transpose()?.unwrap_or_default(),
        };
        let is_form = when.is_link == Some(false) || !when.fields.is_empty();
        if is_form && when.names_links() {
            return Err(self.wrong(
                node.at,
                format!("{within}: names both a link and a form, but a question is only one of them"),
            ));
        }
        Ok(when)
    }

    /// Checks that every key of `node` is one of `known`, and appears only once.
    fn check_keys(&self, within: &str, node: &Node, known: &[&str]) -> Result<(), AnswersError> {
        self.check_repeated(within, node)?;
        let Some(odd) = node.members().unwrap_or_default().iter().find(|member| !known.contains(&member.key.as_str()))
        else {
            return Ok(());
        };
        let meant = near_misses(&odd.key, known.iter().copied()).first().map_or_else(
            || {
                format!(
                    "expected one of {}",
                    known.iter().filter(|key| **key != "$schema").copied().collect::<Vec<_>>().join(", ")
                )
            },
            |near| format!("did you mean `{near}`?"),
        );
        Err(self.wrong(odd.at, format!("{within}: unknown key {:?}: {meant}", odd.key)))
    }

    fn check_repeated(&self, within: &str, node: &Node) -> Result<(), AnswersError> {
        let repeated = node.repeated();
        let Some((first, second)) = repeated.first() else { return Ok(()) };
        let place = self.document.place(first.at);
        let reason = format!("the key {:?} is already at line {} column {}", second.key, place.line, place.column);
        Err(self.wrong(second.at, format!("{within}: {reason}")))
    }

    fn object(&self, within: &str, node: &Node) -> Result<Map<String, Value>, AnswersError> {
        self.check_repeated(within, node)?;
        match node.to_value() {
            Value::Object(object) => Ok(object),
            _ => Err(self.expected(within, node, "an object of values by field")),
        }
    }

    fn names(&self, within: &str, node: &Node) -> Result<Vec<String>, AnswersError> {
        let what = "a list of field names";
        let nodes = node.elements().ok_or_else(|| self.expected(within, node, what))?;
        let name = |node: &Node| node.text().map(str::to_owned).ok_or_else(|| self.expected(within, node, what));
        nodes.iter().map(name).collect()
    }

    fn flag(&self, within: &str, node: &Node) -> Result<bool, AnswersError> {
        match node.content {
            Content::Bool(flag) => Ok(flag),
            _ => Err(self.expected(within, node, "true or false")),
        }
    }

    fn word<T: Copy>(&self, within: &str, node: &Node, words: &[(&str, T)]) -> Result<T, AnswersError> {
        let found = node.text().and_then(|text| words.iter().find(|(word, _)| *word == text));
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let known: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            self.expected(within, node, &format!("one of {}", known.join(", ")))
        })
    }
}

/// Whether an object is the format with a version, and not the answer to a form with a field of that name.
fn is_versioned(root: &Node) -> bool {
    root.member("version").is_some_and(|version| {
        matches!(version.value.content, Content::Number(_))
            || root.member("answers").is_some_and(|answers| holds_entries(&answers.value))
            || root.member("otherwise").is_some()
    })
}

fn holds_entries(node: &Node) -> bool {
    node.elements().is_some_and(|nodes| !nodes.is_empty() && nodes.iter().all(looks_like_entry))
}

fn looks_like_entry(node: &Node) -> bool {
    node.members().is_some_and(|members| {
        let is_known = |member: &Member| ENTRY_KEYS.contains(&member.key.as_str());
        members.iter().any(|member| matches!(member.key.as_str(), "when" | "content" | "action"))
            && members.iter().all(is_known)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_that_are_wrong_say_where_and_what() {
        for (text, expected) in [
            ("", "a.json: the file is empty"),
            ("{", "a.json:1:1: unterminated object"),
            ("5", "a.json:1:1: the file: expected an object of answers, or a list of entries, not 5"),
            ("[1]", "a.json:1:2: entry 1: expected an object such as"),
            ("[{}]", "a.json:1:2: entry 1: needs `content` or `action`"),
            (
                r#"[{"action": "accept"}, {"contents": {}}]"#,
                "a.json:1:25: entry 2: unknown key \"contents\": did you mean `content`?",
            ),
            (
                r#"[{"action": "accept", "x": 1}]"#,
                "a.json:1:23: entry 1: unknown key \"x\": expected one of when, action, content",
            ),
            (
                r#"[{"action": "agree"}]"#,
                "entry 1: action: expected one of \"accept\", \"decline\", \"cancel\", not \"agree\"",
            ),
            (r#"[{"content": []}]"#, "entry 1: content: expected an object of values by field, not a list"),
            (
                r#"[{"content": {"a": 1, "a": 2}}]"#,
                "a.json:1:23: entry 1: content: the key \"a\" is already at line 1 column 15",
            ),
            (r#"[{"action": "decline", "content": {}}]"#, "entry 1: content: is not allowed with decline"),
            (r#"[{"action": "accept", "omit": "a"}]"#, "entry 1: omit: expected a list of field names, not \"a\""),
            (r#"[{"action": "accept", "repeat": 1}]"#, "entry 1: repeat: expected true or false, not 1"),
            (r#"[{"action": "accept", "open": true}]"#, "entry 1: open: is only for accepted links"),
            (r#"[{"when": {"mode": "url"}, "content": {}}]"#, "entry 1: content: a link does not take any"),
            (
                r#"[{"when": {"mode": "link"}, "action": "accept"}]"#,
                "entry 1: when.mode: expected one of \"url\", \"form\", not \"link\"",
            ),
            (
                r#"[{"when": {"tools": "x"}, "action": "accept"}]"#,
                "entry 1: when: unknown key \"tools\": did you mean `tool`?",
            ),
            (r#"[{"when": {"tool": 5}, "action": "accept"}]"#, "entry 1: when.tool: expected a string, not 5"),
            (
                r#"[{"when": {"url": "https://*/x"}, "action": "accept"}]"#,
                "a.json:1:19: entry 1: when.url: scheme and host must be exact",
            ),
            (
                r#"[{"when": {"url": "https://a.example/", "fields": ["x"]}, "action": "accept"}]"#,
                "entry 1: when: names both a link and a form",
            ),
            (r#"{"version": 2, "answers": []}"#, "version: expected 1, the only version, not 2"),
            (
                r#"{"version": 1, "answer": []}"#,
                "a.json:1:16: the file: unknown key \"answer\": did you mean `answers`?",
            ),
            (
                r#"{"version": 1, "otherwise": "ask"}"#,
                "otherwise: expected one of \"prompt\", \"decline\", \"cancel\", \"fail\", not \"ask\"",
            ),
            (r#"{"version": 1, "answers": {}}"#, "answers: expected a list of entries, not an object"),
            (r#"{"answers": [{"action": "accept"}]}"#, "`answers` needs `\"version\": 1` next to it"),
            (r#"{"when": {"tool": "x"}, "content": {}}"#, "this is a single entry; put it in a list"),
        ] {
            let error = AnswersFile::parse(text, "a.json").expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let text = "\u{feff}// mine\r\n{\"version\": 1, \"answers\": [{\"action\": \"accept\",},], /* end */}";
        assert_eq!(AnswersFile::parse(text, "a.json").expect("read").entries.len(), 1);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = AnswersFile::parse(&text, "a.json");
        }
    }
}
