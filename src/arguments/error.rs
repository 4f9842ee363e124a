use crate::form::FieldError;

/// Why the words are not arguments for the tool: a usage error, found before the call. Names and values in the messages
/// are not yet safe for a terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// A word without `=`, or without a name before it.
    #[error("{0:?} is not an argument: write key=text, key:=json or key=@file")]
    NoArgument(String),
    /// An option that is not an argument of the tool.
    #[error("--{name} is not an argument of this tool{}", near.as_ref().map(|near| format!("; did you mean --{near}?")).unwrap_or_default())]
    NoOption {
        /// Its name, without the dashes.
        name: String,
        /// The argument that was probably meant.
        near: Option<String>,
    },
    /// An option of the tool without a value.
    #[error("--{0} needs a value")]
    NoValue(String),
    /// A value that the argument does not accept.
    #[error("argument {0}")]
    Refused(FieldError),
    /// A file, or stdin, that could not be read.
    #[error("{key}: {from} cannot be read: {reason}")]
    Unreadable {
        /// The argument, or `--args`.
        key: String,
        /// The file's name, or `stdin`.
        from: String,
        /// Why.
        reason: String,
    },
    /// `--args` is not a JSON object.
    #[error("--args: {0}")]
    Whole(String),
    /// Values in a union that fits none of their readings.
    #[error("the arguments do not fit the tool: {}; write {keys} to say what you mean", list(faults))]
    Ambiguous {
        /// What to write instead: `a:=JSON b:=JSON`.
        keys: String,
        /// The rules that the first reading of the values breaks.
        faults: Vec<FieldError>,
    },
    /// The arguments as a whole break the tool's schema.
    #[error("the arguments do not fit the tool: {}", list(.0))]
    Unfit(Vec<FieldError>),
}

fn list(errors: &[FieldError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
