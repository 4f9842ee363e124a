use crate::form::FieldError;

/// Why the words are no arguments for the tool: a usage error, found before the call. Names and values in the messages
/// are not made safe for a terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// A word without `=`, or without a name before it.
    #[error("read the argument {0:?}: write key=text, key:=json or key=@file")]
    NoArgument(String),
    /// A value that the argument does not take.
    #[error("take {0}")]
    Refused(FieldError),
    /// A file, or stdin, that could not be read.
    #[error("read {from} for {key}: {reason}")]
    Unreadable {
        /// The argument, or `--args`.
        key: String,
        /// The file's name, or `stdin`.
        from: String,
        /// Why.
        reason: String,
    },
    /// `--args` is not a JSON object.
    #[error("read --args: {0}")]
    Whole(String),
    /// Values that stand in a union, which fits with none of their readings.
    #[error("fit the arguments to the tool: {}; say what is meant with {keys}", list(faults))]
    Ambiguous {
        /// What to write instead: `a:=JSON b:=JSON`.
        keys: String,
        /// The rules that are broken as the values are read first.
        faults: Vec<FieldError>,
    },
    /// The arguments as a whole break the tool's schema.
    #[error("fit the arguments to the tool: {}", list(.0))]
    Unfit(Vec<FieldError>),
}

fn list(errors: &[FieldError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
