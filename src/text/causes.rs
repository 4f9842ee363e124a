use std::{error::Error, fmt::Write as _};

/// An error with its causes, each told once: `the program "x" could not be started: No such file or directory`.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Link(&'static str, #[source] Option<Box<Link>>);

    #[test]
    fn causes_follow_their_error() {
        let error = Link("a", Some(Box::new(Link("b", Some(Box::new(Link("c", None)))))));
        assert_eq!(with_causes(&error), "a: b: c");
        assert_eq!(with_causes(&io::Error::other("alone")), "alone");
    }
}
