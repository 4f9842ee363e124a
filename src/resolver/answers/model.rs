use serde_json::{Map, Value};

use super::When;
use crate::config::FilePlace;

/// An answers file, parsed and checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswersFile {
    /// The file's name in messages.
    pub name: String,
    /// The plain object, if the file is one: content for every form that it can fill, by field.
    pub plain: Option<Map<String, Value>>,
    /// What happens to a question that nothing here answers, if the file says so.
    pub otherwise: Option<Otherwise>,
    /// The entries, in the file's order.
    pub entries: Vec<AnswersEntry>,
}

/// What happens to a question that nobody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The person at the terminal is asked; without one, as for [`Otherwise::Fail`].
    Prompt,
    /// The server is told decline.
    Decline,
    /// The server is told cancel.
    Cancel,
    /// The server is told cancel, and the program fails.
    Fail,
}

impl Otherwise {
    /// Each of them with its word.
    pub const WORDS: [(&'static str, Self); 4] =
        [("prompt", Self::Prompt), ("decline", Self::Decline), ("cancel", Self::Cancel), ("fail", Self::Fail)];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
            Self::Fail => "fail",
        }
    }
}

/// One entry of an answers file.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswersEntry {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its position.
    pub place: FilePlace,
    /// Which questions it answers.
    pub when: When,
    /// How.
    pub action: Action,
    /// The values, by the names of the form's fields.
    pub content: Map<String, Value>,
    /// The fields whose default is not sent.
    pub omit: Vec<String>,
    /// Whether to start the browser for a link.
    pub open: bool,
    /// Whether it may answer more than one question.
    pub repeat: bool,
    /// Whether it may fill fields that look like secrets.
    pub secret: bool,
}

impl AnswersEntry {
    /// Whether it may answer a question of this kind at all: a link is accepted only by an entry that names links.
    pub fn may_answer(&self, is_link: bool) -> bool {
        !is_link || self.action != Action::Accept || self.when.names_links()
    }
}

/// How an entry answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Yes.
    Accept,
    /// An explicit no.
    Decline,
    /// Closed without an answer.
    Cancel,
}

impl Action {
    /// Each of them with its word.
    pub const WORDS: [(&'static str, Self); 3] =
        [("accept", Self::Accept), ("decline", Self::Decline), ("cancel", Self::Cancel)];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}
