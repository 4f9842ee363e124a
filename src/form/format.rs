#[cfg(not(feature = "schema"))]
mod by_hand;
#[cfg(feature = "schema")]
mod by_schema;

#[cfg(not(feature = "schema"))]
use by_hand::has_format;
#[cfg(feature = "schema")]
use by_schema::has_format;

/// The `format` of a text field.
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
    /// A format that is mentioned but not checked.
    Other(String),
}

impl Format {
    /// The format with this name.
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

    /// Whether `text` has the format, according to the validators that servers use.
    pub fn fits(&self, text: &str) -> bool {
        match self {
            Self::Other(_) => true,
            known => has_format(known, text),
        }
    }

    /// Why `text`, which is already quoted for the reader, does not fit.
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
            ("email", "@example.com", false),
            ("email", "ada@b@example.com", false),
            ("email", "ada.b+c@mail.example.com", true),
            ("email", ".ada@example.com", false),
            ("email", "a..b@example.com", false),
            ("email", "ada@-example.com", false),
            ("email", "ada@[127.0.0.1]", true),
            ("email", "ada@example..com", false),
            ("uri", "https://a.example/x?y#z", true),
            ("uri", "mailto:a@b.example", true),
            ("uri", "a.example/x", false),
            ("uri", "urn:isbn:0451450523", true),
            ("uri", "http://[::1]:8080/", true),
            ("uri", "http://[::1/", false),
            ("uri", "http://a.example:80a/", false),
            ("uri", "http://a.example/%zz", false),
            ("uri", "http://a.example/%41", true),
            ("uri", "http://a.example/#a#b", false),
            ("uri", "http://a.example/{a}", false),
            ("uri", "//a.example/", false),
            ("uri", "1a://x", false),
            ("uri", "http://ä.example/", false),
            ("uri", "", false),
            ("uri", "https://a.example/a b", false),
            ("date", "2024-02-29", true),
            ("date", "2023-02-29", false),
            ("date", "2024-2-9", false),
            ("date", "1900-02-29", false),
            ("date", "2000-02-29", true),
            ("date", "2024-04-31", false),
            ("date", "2024-13-01", false),
            ("date", "2024-00-10", false),
            ("date", "2024-01-00", false),
            ("date", "２024-01-01", false),
            ("date", "29.02.2024", false),
            ("date-time", "2024-02-29T23:59:59.5+01:00", true),
            ("date-time", "2024-02-29T23:59:59", false),
            ("date-time", "2024-02-29", false),
            ("date-time", "2024-02-29T23:59:59z", true),
            ("date-time", "2024-02-30T23:59:59Z", false),
            ("date-time", "2024-02-29T24:00:00Z", false),
            ("date-time", "2024-02-29T12:60:00Z", false),
            ("date-time", "2024-02-29T12:00:00+24:00", false),
            ("date-time", "2024-02-29T12:00:00.Z", false),
            ("date-time", "2024-02-29T12:00:00+0100", false),
            ("date-time", "1998-12-31T23:59:60Z", true),
            ("date-time", "1998-12-31T15:59:60.123-08:00", true),
            ("date-time", "1998-12-31T22:59:60Z", false),
            ("color", "whatever", true),
        ] {
            assert_eq!(Format::from_name(name).fits(text), fits, "{name} {text}");
        }
    }
}
