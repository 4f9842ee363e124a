use clap::ValueEnum;

/// The levels of RFC 5424, the least severe first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum LogLevel {
    /// For debugging.
    Debug,
    /// What happens.
    #[default]
    Info,
    /// Normal, and worth a look.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something went wrong.
    Error,
    /// Something important is broken.
    Critical,
    /// Somebody must act now.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LogLevel {
    /// The word of the protocol.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether a message of the level `word` is less severe than this. A message with an unknown level never is.
    pub fn hides(self, word: &str) -> bool {
        Self::from_str(word, true).is_ok_and(|level| level < self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quieter_messages_are_hidden() {
        assert!(LogLevel::Warning.hides("info") && LogLevel::Warning.hides("Notice"));
        assert!(!LogLevel::Warning.hides("warning") && !LogLevel::Warning.hides("loud"));
        assert_eq!(LogLevel::Emergency.name(), "emergency");
    }
}
