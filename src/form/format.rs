use std::sync::LazyLock;

use jsonschema::{EmailOptions, Validator};
use serde_json::{Value, json};

/// A text's `format`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// An e-mail address.
    Email,
    /// An absolute URI.
    Uri,
    /// A day, `YYYY-MM-DD`.
    Date,
    /// An RFC 3339 time.
    DateTime,
    /// One that is noted and not checked.
    Other(String),
}

impl Format {
    /// The format named `name`.
    pub fn from_name(name: &str) -> Self {
        match name {
            "email" => Self::Email,
            "uri" | "url" => Self::Uri,
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            other => Self::Other(other.to_owned()),
        }
    }

    /// What a person is asked for: `e-mail address`; `None` for a format that is not checked.
    pub fn wanted(&self) -> Option<&'static str> {
        match self {
            Self::Email => Some("e-mail address"),
            Self::Uri => Some("link with its scheme, like https://a.example/"),
            Self::Date => Some("date, YYYY-MM-DD"),
            Self::DateTime => Some("date and time, like 2026-01-31T09:30:00Z"),
            Self::Other(_) => None,
        }
    }

    /// Whether `text` has the format, as the validators that servers use see it.
    pub fn fits(&self, text: &str) -> bool {
        let validator = match self {
            Self::Email => &FORMATS[0],
            Self::Uri => &FORMATS[1],
            Self::Date => &FORMATS[2],
            Self::DateTime => &FORMATS[3],
            Self::Other(_) => return true,
        };
        validator.as_ref().is_none_or(|validator| validator.is_valid(&Value::from(text)))
    }

    /// Why `text`, already quoted for the reader, does not fit.
    pub(super) fn refusal(&self, text: &str) -> String {
        match self {
            Self::Email => format!("{text} is not an e-mail address"),
            Self::Uri => format!("{text} is not a link with a scheme, like https://a.example/"),
            Self::Date => format!("{text} is not a date like 2026-01-31"),
            Self::DateTime => format!("{text} is not a date and time like 2026-01-31T09:30:00Z"),
            Self::Other(name) => format!("{text} is not a valid {name}"),
        }
    }
}

/// Email, URI, date, time: compiled once.
static FORMATS: LazyLock<[Option<Validator>; 4]> = LazyLock::new(|| {
    let options = jsonschema::options()
        .should_validate_formats(true)
        .with_email_options(EmailOptions::default().without_display_text());
    ["email", "uri", "date", "date-time"].map(|name| options.build(&json!({"format": name})).ok())
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_checked_as_their_documents_say() {
        for (name, text, fits) in [
            ("email", "ada@example.com", true),
            ("email", "nobody", false),
            ("email", "Ada <ada@example.com>", false),
            ("email", "a b@example.com", false),
            ("email", "ada@", false),
            ("uri", "https://a.example/x?y#z", true),
            ("uri", "mailto:a@b.example", true),
            ("uri", "a.example/x", false),
            ("uri", "https://a.example/a b", false),
            ("date", "2024-02-29", true),
            ("date", "2023-02-29", false),
            ("date", "2024-2-9", false),
            ("date", "29.02.2024", false),
            ("date-time", "2024-02-29T23:59:59.5+01:00", true),
            ("date-time", "2024-02-29T23:59:59", false),
            ("date-time", "2024-02-29", false),
            ("color", "whatever", true),
        ] {
            assert_eq!(Format::from_name(name).fits(text), fits, "{name} {text}");
        }
    }
}
