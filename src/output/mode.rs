use clap::ValueEnum;

/// What stdout gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputMode {
    /// For people: the content blocks
    #[default]
    Text,
    /// For programs: the result as the server sent it
    Json,
    /// For programs: the structured content alone, or the text
    Data,
    /// For programs: one JSON object a line for everything that happens
    Events,
}

/// How much stderr gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors alone.
    Quiet,
    /// Warnings and progress too.
    #[default]
    Normal,
    /// Everything, servers' standard error included.
    Verbose,
}

impl OutputMode {
    /// Whether people read it.
    pub fn is_text(self) -> bool {
        self == Self::Text
    }
}
