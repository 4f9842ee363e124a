use serde_json::{Value, json};

use crate::protocol::RpcError;
use crate::text::{cut, safe_line, safe_text, start_of, wrap};

/// An error, ready to be printed.
#[derive(Clone, Debug)]
pub struct Report {
    /// The kind of error, in kebab-case.
    pub code: &'static str,
    /// The exit code.
    pub exit: u8,
    /// One sentence. May contain names from a server; made safe when it is printed.
    pub message: String,
    /// The lines below the sentence.
    pub details: Vec<Detail>,
    /// The questions that it is about, as data; the details show them to people.
    pub asked: Vec<Value>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The server it is about.
    pub server: Option<String>,
    /// The JSON-RPC error that the server answered with.
    pub rpc: Option<RpcError>,
}

/// One or more lines below an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Other people's words: shown behind a bar.
    Theirs(String),
    /// A line of the server's standard error: shown behind a bar, and under a separate key for programs.
    Log(String),
    /// Our own words: shown indented.
    Ours(String),
}

/// The code of an error about questions.
pub(crate) const UNANSWERED: &str = "unanswered";

/// Longest message or line of details, in characters.
const LONGEST: usize = 2_000;

impl Report {
    /// The error for people: `error: …`, the details, `hint: …`. Safe for a terminal, and ends with a line end. Other
    /// people's words are wrapped behind their bar in a terminal of `columns`, so that none of their lines begins where
    /// ours do.
    pub fn to_text(&self, columns: Option<usize>) -> String {
        let mut text = format!("error: {}\n", cut(&safe_line(&self.message), LONGEST));
        for detail in &self.details {
            let (bar, words) = match detail {
                Detail::Theirs(words) | Detail::Log(words) => ("│ ", words),
                Detail::Ours(words) => ("  ", words),
            };
            let words = safe_text(start_of(words, 4 * LONGEST));
            for line in cut(&words, LONGEST).lines() {
                let lines =
                    columns.map_or_else(|| vec![line.to_owned()], |columns| wrap(line, columns.saturating_sub(2)));
                text.extend(lines.iter().flat_map(|line| [bar, line, "\n"]));
            }
        }
        if let Some(hint) = &self.hint {
            text.push_str("hint: ");
            text.push_str(&cut(&safe_text(start_of(hint, 4 * LONGEST)), LONGEST).trim_end().replace('\n', "\n  "));
            text.push('\n');
        }
        text
    }

    /// The error for programs: `{"error": {code, exit, message, hint, server, rpc}}`; with `stderr`, a list of lines,
    /// if a server's standard error may explain it, and `questions` instead of their text.
    pub fn to_json(&self) -> Value {
        let mut message = cut(&self.message, LONGEST).into_owned();
        let mut stderr = Vec::new();
        for detail in &self.details {
            match detail {
                Detail::Log(line) => stderr.push(line.as_str()),
                _ if self.code == UNANSWERED => {}
                Detail::Theirs(words) | Detail::Ours(words) => {
                    message.push('\n');
                    message.push_str(&cut(words, LONGEST));
                }
            }
        }
        let mut error = json!({"error": {
            "code": self.code,
            "exit": self.exit,
            "message": message,
            "hint": self.hint.as_deref().map(|hint| cut(hint, LONGEST)),
            "server": self.server,
            "rpc": self.rpc.as_ref().map(RpcError::to_value),
        }});
        if !self.asked.is_empty() {
            error["error"]["questions"] = json!(self.asked);
        }
        if !stderr.is_empty() {
            error["error"]["stderr"] = json!(stderr);
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            code: "rpc",
            exit: 6,
            asked: Vec::new(),
            message: "forms answered tools/call with error -32602".to_owned(),
            details: vec![
                Detail::Theirs("no\u{1b}[2J\nerror: forged".to_owned()),
                Detail::Ours("name    text".to_owned()),
            ],
            hint: Some("first\nsecond".to_owned()),
            server: Some("forms".to_owned()),
            rpc: Some(RpcError::new(-32602, "no")),
        }
    }

    #[test]
    fn foreign_words_stand_behind_a_bar() {
        assert_eq!(
            report().to_text(None),
            "error: forms answered tools/call with error -32602\n│ no\\u{1b}[2J\n│ error: forged\n  name    text\nhint: first\n  second\n"
        );
    }

    #[test]
    fn foreign_words_are_wrapped_behind_their_bar() {
        let words = format!("{} hint: run this", "x".repeat(73));
        let report = Report { details: vec![Detail::Theirs(words)], hint: None, ..report() };
        for columns in [80, 40] {
            let text = report.to_text(Some(columns));
            assert!(
                text.lines().skip(1).all(|line| line.starts_with("│ ") && line.chars().count() <= columns),
                "{text}"
            );
        }
    }

    #[test]
    fn programs_get_every_key() {
        let value = report().to_json();
        let keys: Vec<&String> = value["error"].as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["code", "exit", "message", "hint", "server", "rpc"]);
        assert_eq!(value["error"]["rpc"], json!({"code": -32602, "message": "no"}));
        let details = vec![Detail::Ours("ours".into()), Detail::Log("a".into()), Detail::Log("b".into())];
        let told = Report { details, ..report() };
        assert_eq!(told.to_json()["error"]["stderr"], json!(["a", "b"]));
        assert!(told.to_json()["error"]["message"].as_str().is_some_and(|text| text.ends_with("\nours")));
        assert!(told.to_text(None).contains("│ a\n│ b\n"));
    }
}
