//! Formats as the validators that servers use understand them.

use std::sync::LazyLock;

use jsonschema::{EmailOptions, Validator};
use serde_json::{Value, json};

use super::Format;

pub(super) fn has_format(format: &Format, text: &str) -> bool {
    let validator = match format {
        Format::Email => &FORMATS[0],
        Format::Uri => &FORMATS[1],
        Format::Date => &FORMATS[2],
        Format::DateTime => &FORMATS[3],
        Format::Other(_) => return true,
    };
    validator.as_ref().is_none_or(|validator| validator.is_valid(&Value::from(text)))
}

/// Email, URI, date, time: compiled once.
static FORMATS: LazyLock<[Option<Validator>; 4]> = LazyLock::new(|| {
    let options = jsonschema::options()
        .should_validate_formats(true)
        .with_email_options(EmailOptions::default().without_display_text());
    ["email", "uri", "date", "date-time"].map(|name| options.build(&json!({"format": name})).ok())
});
