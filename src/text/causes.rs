use std::{error::Error, fmt::Write as _};

/// An error with its causes, each mentioned once: `the program "x" could not be started: No such file or directory`.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// The message without the system's error numbers: ` (os error 2)`.
pub(crate) fn without_numbers(message: &str) -> String {
    const START: &str = " (os error ";
    let mut parts = message.split(START);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = part.split_once(')').filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some((_, after)) = number {
            text.push_str(after);
        } else {
            text.push_str(START);
            text.push_str(part);
        }
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

    #[test]
    fn numbers_of_the_system_are_left_out() {
        assert_eq!(without_numbers("a: No such file (os error 2); b (os error 13)"), "a: No such file; b");
        assert_eq!(without_numbers("a (os error x) b"), "a (os error x) b");
    }
}
