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

/// The message without the numbers that the system gives its errors: ` (os error 2)`.
pub(crate) fn without_numbers(message: &str) -> String {
    let mut rest = message;
    let mut text = String::with_capacity(message.len());
    while let Some((before, after)) = rest.split_once(" (os error ") {
        let end = after.find(')').filter(|end| after[..*end].bytes().all(|byte| byte.is_ascii_digit()));
        text.push_str(before);
        match end {
            Some(end) => rest = &after[end + 1..],
            None => {
                text.push_str(" (os error ");
                rest = after;
            }
        }
    }
    text + rest
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

    #[test]
    fn numbers_of_the_system_are_left_out() {
        assert_eq!(without_numbers("a: No such file (os error 2); b (os error 13)"), "a: No such file; b");
        assert_eq!(without_numbers("a (os error x) b"), "a (os error x) b");
    }
}
