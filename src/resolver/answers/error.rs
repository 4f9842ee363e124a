use std::path::PathBuf;

use crate::config::FilePlace;

/// Why an answers file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersError {
    /// It cannot be read.
    #[error("the answers file {} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: String,
    },
    /// Its content is wrong.
    #[error("the answers file {name}{}: {reason}",
        place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default())]
    Wrong {
        /// The file's name.
        name: String,
        /// The position in it.
        place: Option<FilePlace>,
        /// What is wrong there.
        reason: String,
    },
    /// An `--answer` is neither `KEY=VALUE` nor `KEY:=JSON`.
    #[error("--answer {text:?}: {reason}")]
    Typed {
        /// The option's text.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}
