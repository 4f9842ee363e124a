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
        /// What the system said.
        reason: String,
    },
    /// It is not what it should be.
    #[error("the answers file {name}{}: {reason}",
        place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default())]
    Wrong {
        /// What the file is called.
        name: String,
        /// Where in it.
        place: Option<FilePlace>,
        /// What is wrong there.
        reason: String,
    },
    /// An `--answer` does not read as `KEY=VALUE` or `KEY:=JSON`.
    #[error("--answer {text:?}: {reason}")]
    Typed {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}
