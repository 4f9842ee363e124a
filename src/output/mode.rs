use clap::ValueEnum;

/// What goes to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputMode {
    /// For people: the content blocks
    #[default]
    Text,
    /// For programs: the result as the server sent it
    Json,
    /// For programs: only the structured content, or the text
    Data,
    /// For programs: one JSON object per line for everything that happens
    Events,
}

/// How much goes to stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Only errors.
    Quiet,
    /// Warnings and progress, too.
    #[default]
    Normal,
    /// Everything, including servers' standard error.
    Verbose,
}

impl OutputMode {
    /// Whether the output is for people.
    pub fn is_text(self) -> bool {
        self == Self::Text
    }
}
